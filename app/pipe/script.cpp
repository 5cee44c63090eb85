#include "app/pipe/script.hpp"

#include "app/text/escapes.hpp"

#include <optional>
#include <utility>

namespace yodel {

void Script::append(std::string_view bytes) {
    for (std::size_t end = bytes.find('\n'); !ended_ && end != bytes.npos;
         end = bytes.find('\n')) {
        rest_ += bytes.substr(0, end);
        bytes.remove_prefix(end + 1);
        add(std::exchange(rest_, {}));
    }
    if (ended_) return;
    rest_ += bytes;
    if (bytes_ + rest_.size() > most_bytes)
        refuse("the script is longer than " + std::to_string(most_bytes / 1024 / 1024) +
               " MiB, of which each connection would say all");
}

void Script::end() {
    if (!ended_ && !rest_.empty()) add(std::exchange(rest_, {}));
    ended_ = true;
}

void Script::add(std::string_view line) {
    std::optional<std::string> message(line);
    if (options_.escapes) message = unescaped(line);
    if (!message) return refuse(std::string(escapes_expected) + " (--escapes)");
    if (!sendable(*options_.framing, options_.max_frame, *message))
        return refuse("a message of " + std::to_string(message->size()) +
                      " bytes does not fit into " + options_.framing->holder());
    bytes_ += sizeof(std::string) + message->size();
    messages_.push_back(std::move(*message));
}

void Script::refuse(std::string trouble) {
    trouble_ = "standard input: " + std::move(trouble);
    ended_ = true;
    rest_.clear();
}

}  // namespace yodel
