#include "app/protocol/event.hpp"

#include <algorithm>

namespace yodel {

StoredEvent::StoredEvent(const Event& event)
    : event_(event),
      size_(event.message.payload.size() + event.reply.payload.size() +
            event.message.expected.value_or("").size()),
      bytes_(new char[size_]) {  // libc++ 14 has no std::make_unique_for_overwrite()
    char* end = bytes_.get();
    const auto store = [&end](std::string_view& view) {
        char* const begin = end;
        end = std::copy(view.begin(), view.end(), begin);
        view = {begin, view.size()};
    };
    store(event_.message.payload);
    store(event_.reply.payload);
    if (event_.message.expected) store(*event_.message.expected);
    event_.frames = {};
}

}  // namespace yodel
