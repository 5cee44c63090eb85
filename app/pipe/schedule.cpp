#include "app/pipe/schedule.hpp"

namespace yodel {

std::optional<Schedule::Message> Schedule::next(ev::Time now) {
    const std::optional<Message> message = due(now);
    if (message) pass();
    return message;
}

std::optional<Schedule::Message> Schedule::due(ev::Time now) const {
    if (over() || next_time() > now) return std::nullopt;
    return Message{number_, next_time()};
}

bool Schedule::over() const {
    if (options_.count != 0 && number_ >= options_.count) return true;
    return options_.length && options_.pace.offset(number_) >= *options_.length;
}

}  // namespace yodel
