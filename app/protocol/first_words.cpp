#include "app/protocol/first_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace yodel {

using bufio::IoResult;
using bufio::IoStatus;
using bufio::Reason;

namespace {

constexpr std::size_t max_reply = 64 * 1024;  // bytes
constexpr std::size_t max_shown = 4096;       // bytes of a reply in a note

class FirstWords final : public bufio::Transport {
public:
    FirstWords(std::unique_ptr<Transport> below, const Framing& framing, bool greeted,
               const std::vector<std::string>& lines, std::vector<std::string>& notes)
        : below_(std::move(below)),
          framing_(framing),
          lines_(lines),
          notes_(&notes),
          decoder_(framing, max_reply, greeted),
          greeted_(greeted || !framing.takes_turns) {}

    bool has_handshake() const override { return true; }
    IoResult handshake() override {
        if (!connected_) {
            const IoResult result = forward(below_->handshake());
            if (result.status != IoStatus::done) return result;
            connected_ = true;
        }
        for (;;) {
            IoResult result{IoStatus::done};
            if (!output_.empty())
                result = send();
            else if (awaits_reply_ || !greeted_)
                result = take_reply();
            else if (next_ == lines_.size())
                return result;
            else
                queue();
            if (result.status != IoStatus::done) return result;
        }
    }

    int descriptor() const override { return below_->descriptor(); }
    IoResult read(char* to, std::size_t size) override {
        if (input_.empty()) return forward(below_->read(to, size));
        const std::size_t count = input_.copy(to, size);
        input_.erase(0, count);
        return {IoStatus::done, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        return forward(below_->write(from, size));
    }
    IoResult close_output() override { return forward(below_->close_output()); }
    bool buffers_input() const override { return !input_.empty() || below_->buffers_input(); }
    std::size_t held() const override { return below_->held(); }
    bool buffers_output() const override { return below_->buffers_output(); }
    void ping() override { below_->ping(); }
    std::uint64_t answered_ping() const override { return below_->answered_ping(); }
    const bufio::TlsFacts* tls() const override { return below_->tls(); }

private:
    // Returns the result of the transport below as our own.
    IoResult forward(IoResult result) {
        if (result.status == IoStatus::failed || result.status == IoStatus::rejected)
            fail(below_->failure());
        return result;
    }

    // Queues the next line, or all of them if they do not wait for replies.
    void queue() {
        do {
            encode(framing_, lines_[next_], output_);
            ++next_;
            if (framing_.can_echo()) notes_->push_back(line_text());
        } while (framing_.can_echo() && next_ < lines_.size());
        awaits_reply_ = !framing_.can_echo();
    }

    IoResult send() {
        const IoResult result = forward(below_->write(output_.data(), output_.size()));
        output_.erase(0, result.count);
        return result;
    }

    IoResult receive() {
        std::array<char, 4096> bytes;
        const IoResult result = forward(below_->read(bytes.data(), bytes.size()));
        input_.append(bytes.data(), result.count);
        if (result.count > 0) return {IoStatus::done};
        if (result.status == IoStatus::rejected) return fail(below_->failure());
        if (result.status == IoStatus::end_of_input)
            return fail({Reason::closed_early, bufio::By::peer,
                         "closed the connection before it answered", option()});
        return result;
    }

    IoResult take_reply() {
        const Decoder::Decoded next = decoder_.next(input_);
        if (next.kind == Decoder::Decoded::Kind::incomplete) return receive();
        if (next.kind == Decoder::Decoded::Kind::error)
            return fail({Reason::receive, bufio::By::us, "", next.error});
        const std::string reply(next.payload.substr(0, max_shown));
        input_.erase(0, next.used);
        const bool answer = next.kind == Decoder::Decoded::Kind::message;
        add_lines(*notes_, (answer ? line_text() : "greeting") + ": ", reply);
        greeted_ = true;
        if (!answer) return {IoStatus::done};
        if (!reply.empty() && framing_.refusals.find(reply[0]) != framing_.refusals.npos)
            return fail({Reason::refused, bufio::By::peer, "refused",
                         option() + ": " +
                             std::string(reply.substr(
                                 0, std::min<std::size_t>(200, reply.find('\r'))))});
        awaits_reply_ = false;
        return {IoStatus::done};
    }

    std::string option() const {
        return "--on-connect " + std::to_string(std::max<std::size_t>(next_, 1));
    }
    // Leaves out the arguments, among which may be passwords.
    std::string line_text() const {
        const std::string& line = lines_[next_ - 1];
        const std::size_t end = line.find(' ');
        return option() + ", " + line.substr(0, end) + (end == line.npos ? "" : " ...");
    }

    std::unique_ptr<Transport> below_;
    const Framing& framing_;
    const std::vector<std::string>& lines_;
    std::vector<std::string>* notes_;
    Decoder decoder_;
    std::size_t next_ = 0;  // the line to send next
    std::string output_;    // frames not yet written
    std::string input_;     // bytes not yet decoded; after the handshake, not yet read
    bool greeted_;
    bool connected_ = false;     // the handshake below is done
    bool awaits_reply_ = false;  // to the last line
};

}  // namespace

void add_lines(std::vector<std::string>& notes, const std::string& first,
               std::string_view reply) {
    std::string prefix = first;
    while (!reply.empty()) {
        const std::size_t end = std::min(reply.find("\r\n"), reply.size());
        notes.push_back(std::exchange(prefix, "") + std::string(reply.substr(0, end)));
        reply.remove_prefix(std::min(end + 2, reply.size()));
    }
}

std::unique_ptr<bufio::Transport> say_first(std::unique_ptr<bufio::Transport> below,
                                            const Framing& framing, bool greeted,
                                            const std::vector<std::string>& lines,
                                            std::vector<std::string>& notes) {
    return std::make_unique<FirstWords>(std::move(below), framing, greeted, lines, notes);
}

}  // namespace yodel
