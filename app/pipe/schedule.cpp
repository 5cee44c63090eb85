#include "app/pipe/schedule.hpp"

namespace yodel {

std::optional<Schedule::Message> Schedule::next(ev::Time now) {
    if (over() || next_time() > now) return std::nullopt;
    const Message message{number_, next_time()};
    number_ = options_.share.message_after(number_);
    return message;
}

bool Schedule::over() const {
    if (options_.count != 0 && number_ >= options_.count) return true;
    return options_.length && options_.pace.offset(number_) >= *options_.length;
}

}  // namespace yodel
