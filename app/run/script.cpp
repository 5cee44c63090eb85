#include "app/run/script.hpp"

#include "app/text/exit_status.hpp"

#include <utility>

namespace yodel {

Script::Script(ev::Loop& loop, Input::Options options, std::function<void()> changed)
    : changed_(std::move(changed)), input_(loop, std::move(options), [this] { read(); }) {
    input_.want(true);
}

void Script::read() {
    while (const auto message = input_.next()) {
        bytes_ += sizeof(std::string) + message->size();
        messages_.emplace_back(*message);
        input_.take_message();
    }
    if (bytes_ > max_bytes)
        input_.fail("more than " + std::to_string(max_bytes / 1024 / 1024) +
                        " MiB, all of which each connection would send",
                    reply_wrong_or_lost);
    changed_();
}

}  // namespace yodel
