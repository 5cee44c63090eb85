#include "app/protocol/dialogue.hpp"

#include "app/protocol/resp.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace yodel {

using bufio::By;
using bufio::End;
using bufio::Reason;

struct Starttls {
    struct Step {
        std::string_view command = {};  // empty if the service speaks first
        std::string_view answer = {};   // begins the right answer; empty if there is no step
    };
    std::string_view name;
    std::string_view framing;  // frames the answers
    // Precedes each command and its answer. After the greeting, lines without the tag are not
    // answers. Empty if the protocol has no tags.
    std::string_view tag;
    std::array<Step, 3> steps;
    std::string_view delay_code = {};  // begins a line that announces a later answer
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

// Returns true if the answer begins with the whole word, ignoring case. No answer begins with
// an empty word.
bool begins_with(std::string_view answer, std::string_view word) {
    const std::size_t size = word.size();
    return size > 0 && answer.size() >= size &&
           ::strncasecmp(answer.data(), word.data(), size) == 0 &&
           (answer.size() == size ||
            std::isalnum(static_cast<unsigned char>(answer[size])) == 0);
}

}  // namespace

std::vector<std::pair<std::string, const Starttls*>> starttls_services() {
    std::vector<std::pair<std::string, const Starttls*>> rows;
    for (const Starttls& row : services) rows.emplace_back(row.name, &row);
    return rows;
}

const Framing* framing_of(const Starttls& service) { return find_framing(service.framing); }

Dialogue::Dialogue(const Starttls& service, std::vector<std::string>& notes)
    : service_(&service),
      framing_(*framing_of(service)),
      decoder_(framing_, max_received),
      notes_(notes) {
    for (const auto& [command, answer] : service.steps) {
        if (answer.empty()) break;
        const std::string name(command);
        const std::string frame = std::string(service.tag) + name + "\r\n";
        steps_.push_back({name.empty() ? "" : frame, name, "STARTTLS", answer});
    }
}

Dialogue::Dialogue(const Framing& framing, bool is_greeted,
                   const std::vector<std::string>& lines, std::vector<std::string>& notes)
    : framing_(framing), decoder_(framing, max_received, is_greeted), notes_(notes) {
    if (framing.takes_turns && !is_greeted) steps_.push_back({"", "--on-connect 1", ""});
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::string frame;
        encode(framing, lines[i], frame);
        const std::string name = "--on-connect " + std::to_string(i + 1);
        // Omits the arguments, which may contain passwords.
        const std::size_t end = lines[i].find(' ');
        steps_.push_back(
            {frame, name,
             name + ", " + lines[i].substr(0, end) + (end == std::string::npos ? "" : " ...")});
    }
}

// Begins one step after the other, or all together if they await no answers.
std::string Dialogue::advance(std::string_view& received) {
    std::string output;
    while (!failure_ && !is_done()) {
        if (awaits_answer_ && !take_answer(received)) break;
        while (!awaits_answer_ && begun_steps_ < steps_.size()) {
            output += steps_[begun_steps_++].frame;
            awaits_answer_ = step().frame.empty() || !framing_.can_echo() || service_;
            if (!awaits_answer_) notes_.push_back(step().note);
        }
    }
    // An attacker may have sent plaintext after the last answer, so that it is taken for bytes
    // that TLS protects (CVE-2011-0411).
    if (service_ && is_done() && !received.empty())
        refuse("sent more plaintext after it " + answered_text());
    return output;
}

End Dialogue::early_end() const {
    return {service_ ? Reason::tls : Reason::closed_early, By::peer, "",
            "closed the connection before it " + answered_text()};
}

std::string Dialogue::answered_text() const {
    return service_ && step().frame.empty() ? "greeted" : "answered " + step().name;
}

void Dialogue::refuse(std::string detail) {
    failure_ = {service_ ? Reason::tls : Reason::refused, By::peer, "", std::move(detail)};
}

// Returns false if more bytes are needed, or after a failure.
bool Dialogue::take_answer(std::string_view& received) {
    using Kind = Decoder::Decoded::Kind;
    const Decoder::Decoded next = decoder_.next(received);
    if (service_ && consumed_ + received.size() > max_received)
        refuse("sent more than 64 KiB before it " + answered_text());
    else if (next.kind == Kind::error && !service_)
        failure_ = {Reason::receive, By::us, "", next.error};
    if (failure_ || next.kind == Kind::incomplete) return false;
    const std::string_view answer = next.kind == Kind::error ? received : next.payload;
    received.remove_prefix(next.used);
    consumed_ += next.used;
    const bool is_greeting = next.kind == Kind::stray && !service_;
    std::string prefix = (is_greeting ? "greeting" : step().note) + ": ";  // of the first line
    std::string text(answer);
    if (framing_.name == "resp") text = resp_text(text + "\r\n").value_or(text);
    for (std::string_view rest = std::string_view(text).substr(0, max_noted); !rest.empty();) {
        const std::size_t end = rest.find_first_of("\r\n");
        notes_.push_back(std::exchange(prefix, "") + std::string(rest.substr(0, end)));
        rest.remove_prefix(std::min(rest.find_first_not_of("\r\n", end), rest.size()));
    }
    const std::string quoted(answer.substr(0, std::min(max_quoted, answer.find('\r'))));
    if (service_) {
        const bool answers_nothing = begun_steps_ > 1 && !answer.starts_with(service_->tag);
        if (answers_nothing || begins_with(answer, service_->delay_code)) return true;
        if (!begins_with(answer, step().right))
            refuse(answered_text() + " with: " + quoted + "; expected " +
                   std::string(step().right));
    } else if (is_greeting) {
        if (!step().frame.empty()) return true;
    } else if (!answer.empty() &&
               framing_.error_bytes.find(answer[0]) != framing_.error_bytes.npos) {
        refuse("refused " + step().name + ": " + quoted);
    }
    if (failure_) return false;
    awaits_answer_ = false;
    return true;
}

}  // namespace yodel
