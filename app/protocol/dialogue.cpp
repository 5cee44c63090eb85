#include "app/protocol/dialogue.hpp"

#include "bufio/fd.hpp"

#include <fcntl.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>
#include <utility>

namespace yodel {

using bufio::By;
using bufio::IoResult;
using bufio::IoStatus;
using bufio::Reason;

struct Starttls {
    struct Step {
        std::string_view command = {};  // empty if the service speaks first
        std::string_view answer = {};   // beginning of the right answer; empty without a step
    };
    std::string_view name;
    std::string_view framing;  // frames the answers
    // Precedes each command and its answer. Lines without it are not the answer. Empty if the
    // protocol has no tags.
    std::string_view tag;
    std::array<Step, 3> steps;
    std::string_view delay = {};  // begins a line that announces a later answer
};

namespace {

constexpr Starttls services[] = {
    {"smtp", "smtp", "", {{{"", "220"}, {"EHLO localhost", "250"}, {"STARTTLS", "220"}}}},
    {"imap", "crlf", "a ", {{{"", "* OK"}, {"STARTTLS", "a OK"}}}},
    {"pop3", "crlf", "", {{{"", "+OK"}, {"STLS", "+OK"}}}},
    {"ftp", "smtp", "", {{{"", "220"}, {"AUTH TLS", "234"}}}, "120"},
};

constexpr std::size_t max_received = 64 * 1024;  // bytes of a reply, or of all plaintext
constexpr std::size_t max_noted = 4096;          // bytes of an answer in notes
constexpr std::size_t max_quoted = 200;          // bytes of an answer in an error text

// Returns true if the answer begins with the word, ignoring case. No answer begins with an
// empty word.
bool begins_with(std::string_view answer, std::string_view word) {
    const std::size_t size = word.size();
    return size > 0 && answer.size() >= size &&
           ::strncasecmp(answer.data(), word.data(), size) == 0 &&
           (answer.size() == size ||
            std::isalnum(static_cast<unsigned char>(answer[size])) == 0);
}

struct Step {
    std::string frame;            // to send; empty if the service speaks first
    std::string name;             // of the command or the option, for error texts
    std::string note;             // precedes the answer in the notes
    std::string_view right = {};  // with STARTTLS, the beginning of the right answer
};

// Holds a dialogue, and then acts as the transport below. A STARTTLS dialogue precedes that
// transport's handshake; the lines of --on-connect follow the handshake.
class Dialogue final : public bufio::Transport {
public:
    // `service` is null without STARTTLS.
    Dialogue(std::unique_ptr<Transport> below, const Starttls* service, const Framing& framing,
             bool greeted, std::vector<Step> steps, std::vector<std::string>& notes)
        : below_(std::move(below)),
          service_(service),
          framing_(framing),
          decoder_(framing, max_received, greeted),
          steps_(std::move(steps)),
          notes_(notes) {
        if (!service) return;
        // Duplicates the descriptor for the plaintext phase, because TLS owns the original.
        bufio::Fd copy(::fcntl(descriptor(), F_DUPFD_CLOEXEC, 0));
        if (!copy) fail(bufio::system_end(Reason::tls, "copying the socket:", errno));
        plaintext_ = bufio::make_plain_transport(std::move(copy));
    }

    bool has_handshake() const override { return true; }
    IoResult handshake() override {
        if (failure()) return {IoStatus::failed};
        if (service_ ? !plaintext_ : steps_begun_ == 0) {
            const IoResult result = forward(*below_, below_->handshake());
            if (service_ || result.status != IoStatus::done) return result;
        }
        const IoResult result = talk(service_ ? *plaintext_ : *below_);
        if (result.status != IoStatus::done || !service_) return result;
        // An attacker may have sent plaintext after the last answer, so that it is taken for
        // bytes that TLS protects (CVE-2011-0411).
        if (!input_.empty()) return refuse("sent more plaintext after it " + answered());
        plaintext_.reset();
        return handshake();
    }

    int descriptor() const override { return below_->descriptor(); }
    IoResult read(char* to, std::size_t size) override {
        if (input_.empty()) return forward(*below_, below_->read(to, size));
        const std::size_t count = input_.copy(to, size);
        input_.erase(0, count);
        return {IoStatus::done, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        return forward(*below_, below_->write(from, size));
    }
    IoResult close_output() override { return forward(*below_, below_->close_output()); }
    bool buffers_input() const override { return !input_.empty() || below_->buffers_input(); }
    std::size_t held() const override { return below_->held(); }
    bool buffers_output() const override { return below_->buffers_output(); }
    void ping() override { below_->ping(); }
    std::uint64_t answered_ping() const override { return below_->answered_ping(); }
    const bufio::TlsFacts* tls() const override { return below_->tls(); }

private:
    const Step& step() const { return steps_[steps_begun_ - 1]; }
    std::string answered() const {
        return service_ && step().frame.empty() ? "greeted" : "answered " + step().name;
    }

    // Returns the result of another transport as our own.
    IoResult forward(const Transport& from, IoResult result) {
        if (result.status == IoStatus::failed || result.status == IoStatus::rejected)
            fail(from.failure());
        return result;
    }

    IoResult refuse(std::string detail, Reason without_starttls = Reason::closed_early) {
        return fail(
            {service_ ? Reason::tls : without_starttls, By::peer, "", std::move(detail)});
    }

    // Begins one step after the other, or all together if they await no answers.
    IoResult talk(Transport& peer) {
        for (;;) {
            IoResult result{IoStatus::done};
            if (awaits_answer_ && output_.empty()) result = take_answer(peer);
            while (!awaits_answer_ && steps_begun_ < steps_.size()) {
                output_ += steps_[steps_begun_++].frame;
                awaits_answer_ = step().frame.empty() || !framing_.can_echo() || service_;
                if (!awaits_answer_) notes_.push_back(step().note);
            }
            if (!output_.empty()) {
                result = forward(peer, peer.write(output_.data(), output_.size()));
                output_.erase(0, result.count);
            }
            const bool over = !awaits_answer_ && output_.empty();
            if (result.status != IoStatus::done || over) return result;
        }
    }

    IoResult receive(Transport& peer) {
        std::array<char, 4096> bytes;
        const IoResult result = forward(peer, peer.read(bytes.data(), bytes.size()));
        input_.append(bytes.data(), result.count);
        received_ += result.count;
        if (service_ && received_ > max_received)
            return refuse("sent more than 64 KiB before it " + answered());
        if (result.status == IoStatus::rejected) return {IoStatus::failed};
        if (result.count > 0) return {IoStatus::done};
        if (result.status != IoStatus::end_of_input) return result;
        return refuse("closed the connection before it " + answered());
    }

    IoResult take_answer(Transport& peer) {
        using Kind = Decoder::Decoded::Kind;
        const Decoder::Decoded next = decoder_.next(input_);
        if (next.kind == Kind::incomplete) return receive(peer);
        const bool broken = next.kind == Kind::error;
        if (broken && !service_) return fail({Reason::receive, By::us, "", next.error});
        const std::string answer(broken ? input_ : next.payload);
        input_.erase(0, next.used);
        const bool greeting = next.kind == Kind::stray && !service_;
        std::string prefix = (greeting ? "greeting" : step().note) + ": ";  // of the first line
        for (std::string_view rest(answer.data(), std::min(answer.size(), max_noted));
             !rest.empty();) {
            const std::size_t end = std::min(rest.find("\r\n"), rest.size());
            notes_.push_back(std::exchange(prefix, "") + std::string(rest.substr(0, end)));
            rest.remove_prefix(std::min(end + 2, rest.size()));
        }
        const std::string quoted = answer.substr(0, std::min(max_quoted, answer.find('\r')));
        if (service_) {
            const bool news = steps_begun_ > 1 && !answer.starts_with(service_->tag);
            if (news || begins_with(answer, service_->delay)) return {IoStatus::done};
            if (!begins_with(answer, step().right))
                return refuse(answered() + " with: " + quoted + "; expected " +
                              std::string(step().right));
        } else if (greeting) {
            if (!step().frame.empty()) return {IoStatus::done};
        } else if (!answer.empty() &&
                   framing_.refusals.find(answer[0]) != framing_.refusals.npos) {
            return refuse("refused " + step().name + ": " + quoted, Reason::refused);
        }
        awaits_answer_ = false;
        return {IoStatus::done};
    }

    std::unique_ptr<Transport> below_;
    std::unique_ptr<Transport> plaintext_;  // null without STARTTLS, and after its dialogue
    const Starttls* const service_;
    const Framing& framing_;
    Decoder decoder_;
    const std::vector<Step> steps_;
    std::vector<std::string>& notes_;
    std::size_t steps_begun_ = 0;
    std::string output_;  // frames not yet written
    std::string input_;   // bytes not yet decoded; after the handshake, not yet read
    std::size_t received_ = 0;
    bool awaits_answer_ = false;
};

}  // namespace

std::vector<std::pair<std::string, const Starttls*>> starttls_services() {
    std::vector<std::pair<std::string, const Starttls*>> rows;
    for (const Starttls& row : services) rows.emplace_back(row.name, &row);
    return rows;
}

const Framing* framing_of(const Starttls& service) { return find_framing(service.framing); }

std::unique_ptr<bufio::Transport> ask_for_tls(std::unique_ptr<bufio::Transport> tls,
                                              const Starttls& service,
                                              std::vector<std::string>& notes) {
    std::vector<Step> steps;
    for (const auto& [command, answer] : service.steps) {
        if (answer.empty()) break;
        const std::string name(command);
        const std::string frame = std::string(service.tag) + name + "\r\n";
        steps.push_back({name.empty() ? "" : frame, name, "STARTTLS", answer});
    }
    return std::make_unique<Dialogue>(std::move(tls), &service, *framing_of(service), false,
                                      std::move(steps), notes);
}

std::unique_ptr<bufio::Transport> say_first(std::unique_ptr<bufio::Transport> below,
                                            const Framing& framing, bool greeted,
                                            const std::vector<std::string>& lines,
                                            std::vector<std::string>& notes) {
    std::vector<Step> steps;
    if (framing.takes_turns && !greeted) steps.push_back({"", "--on-connect 1", ""});
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string frame;
        encode(framing, lines[i], frame);
        const std::string name = "--on-connect " + std::to_string(i + 1);
        // Omits the arguments, which may contain passwords.
        const std::size_t end = lines[i].find(' ');
        steps.push_back(
            {frame, name,
             name + ", " + lines[i].substr(0, end) + (end == std::string::npos ? "" : " ...")});
    }
    return std::make_unique<Dialogue>(std::move(below), nullptr, framing, greeted,
                                      std::move(steps), notes);
}

}  // namespace yodel
