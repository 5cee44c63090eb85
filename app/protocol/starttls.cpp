#include "app/protocol/starttls.hpp"

#include "app/protocol/first_words.hpp"
#include "app/protocol/framing.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <string_view>

namespace yodel {

using bufio::IoResult;
using bufio::IoStatus;
using bufio::Reason;

struct Starttls {
    struct Step {
        std::string_view command = {};  // empty: the service speaks first
        std::string_view answer = {};   // how the right answer begins; empty: no such step
    };
    std::string_view name;
    std::string_view framing;  // frames the answers
    // Precedes each command and its answer, while other lines are news. Empty: none.
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

// Returns true if the answer begins with this word, in any case.
bool begins_with(std::string_view answer, std::string_view word) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
               std::tolower(static_cast<unsigned char>(b));
    };
    const std::size_t size = word.size();
    return answer.size() >= size &&
           std::equal(word.begin(), word.end(), answer.begin(), same) &&
           (answer.size() == size ||
            std::isalnum(static_cast<unsigned char>(answer[size])) == 0);
}

constexpr std::size_t max_received = 64 * 1024;  // bytes in clear, in all answers
constexpr std::size_t max_noted = 4096;          // bytes of an answer in notes
constexpr std::size_t max_quoted = 200;          // bytes of an answer in an error text

class StarttlsTransport final : public bufio::Transport {
public:
    StarttlsTransport(const Starttls& service, std::unique_ptr<Transport> below,
                      std::vector<std::string>& notes)
        : service_(service),
          below_(std::move(below)),
          notes_(notes),
          decoder_(*find_framing(service.framing), max_received) {}

    bool has_handshake() const override { return true; }
    IoResult handshake() override {
        IoResult result{IoStatus::done};
        while (!accepted() && result.status == IoStatus::done)
            result = !clear_ ? begin() : output_.empty() ? take_answer() : send();
        if (result.status == IoStatus::end_of_input)
            return refuse("closed the connection before it ");
        if (result.status != IoStatus::done) return result;
        clear_.reset();
        return forward(*below_, below_->handshake());
    }

    int descriptor() const override { return below_->descriptor(); }
    bool buffers_input() const override { return below_->buffers_input(); }
    const bufio::TlsFacts* tls() const override { return below_->tls(); }
    IoResult read(char* to, std::size_t size) override {
        return forward(*below_, below_->read(to, size));
    }
    IoResult write(const char* from, std::size_t size) override {
        return forward(*below_, below_->write(from, size));
    }
    IoResult close_output() override { return forward(*below_, below_->close_output()); }

private:
    bool accepted() const {
        return step_ == service_.steps.size() || service_.steps[step_].answer.empty();
    }

    // Returns the result of another transport as our own.
    IoResult forward(const Transport& from, IoResult result) {
        if (result.status == IoStatus::failed) fail(from.failure());
        return result;
    }

    IoResult refuse(const std::string& what, const std::string& detail = {}) {
        const std::string_view command = service_.steps[step_].command;
        const std::string spoke =
            command.empty() ? "greeted" : "answered " + std::string(command);
        return fail({Reason::tls, bufio::By::peer, "", what + spoke + detail});
    }

    // Uses a copy of the descriptor in clear, because TLS owns the descriptor itself.
    IoResult begin() {
        bufio::Fd copy(::fcntl(descriptor(), F_DUPFD_CLOEXEC, 0));
        if (!copy) return fail(bufio::system_end(Reason::tls, "copying the socket:", errno));
        clear_ = bufio::make_plain_transport(std::move(copy));
        return {IoStatus::done};
    }

    IoResult send() {
        const IoResult result = clear_->write(output_.data(), output_.size());
        output_.erase(0, result.count);
        return forward(*clear_, result);
    }

    IoResult receive() {
        std::array<char, 4096> bytes;
        const IoResult result = clear_->read(bytes.data(), bytes.size());
        input_.append(bytes.data(), result.count);
        received_ += result.count;
        if (received_ > max_received) return refuse("sent more than 64 KiB before it ");
        return forward(*clear_, result);
    }

    IoResult take_answer() {
        const Decoder::Decoded next = decoder_.next(input_);
        if (next.kind == Decoder::Decoded::Kind::incomplete) return receive();
        const bool broken = next.kind == Decoder::Decoded::Kind::error;
        const std::string answer(broken ? input_ : next.payload);
        input_.erase(0, next.used);
        add_lines(notes_, "STARTTLS: ", answer.substr(0, max_noted));
        const bool delayed = !service_.delay.empty() && begins_with(answer, service_.delay);
        const bool news = step_ > 0 && !answer.starts_with(service_.tag);
        if (delayed || news) return {IoStatus::done};
        const std::string_view right = service_.steps[step_].answer;
        if (!begins_with(answer, right))
            return refuse(
                "", " with: " + answer.substr(0, std::min(max_quoted, answer.find('\r'))) +
                        "; expected " + std::string(right));
        return next_step();
    }

    // Bytes in clear behind the last answer may come from an attacker, who wants them to be
    // taken for bytes that TLS protects (CVE-2011-0411).
    IoResult next_step() {
        const std::size_t last = step_++;
        if (!accepted()) {
            const std::string_view command = service_.steps[step_].command;
            output_ = std::string(service_.tag).append(command).append("\r\n");
        } else if (!input_.empty()) {
            step_ = last;
            return refuse("sent more in clear after it ");
        }
        return {IoStatus::done};
    }

    const Starttls& service_;
    std::unique_ptr<Transport> below_;  // TLS
    std::vector<std::string>& notes_;
    std::unique_ptr<Transport> clear_;  // null before and after the conversation in clear
    Decoder decoder_;
    std::size_t step_ = 0;  // the answer that is awaited
    std::string output_;    // the rest of the command
    std::string input_;     // bytes in clear that are not yet decoded
    std::size_t received_ = 0;
};

}  // namespace

std::vector<std::pair<std::string, const Starttls*>> starttls_services() {
    std::vector<std::pair<std::string, const Starttls*>> rows;
    for (const Starttls& row : services) rows.emplace_back(row.name, &row);
    return rows;
}

const Framing* framing_of(const Starttls& service) { return find_framing(service.framing); }

std::unique_ptr<bufio::Transport> connect_starttls(const Starttls& service, bufio::Fd socket,
                                                   const bufio::TlsContext& tls,
                                                   const std::string& host,
                                                   std::vector<std::string>& notes) {
    return std::make_unique<StarttlsTransport>(service, tls.connect(std::move(socket), host),
                                               notes);
}

}  // namespace yodel
