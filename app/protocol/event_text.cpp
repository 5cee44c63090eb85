#include "app/protocol/event_text.hpp"

#include "app/protocol/comparison.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <string_view>

namespace yodel {

std::string remark(const Event& event) {
    const std::string number = std::to_string(event.message.id);
    switch (event.fate) {
    case Fate::unsent: return "message " + number + " was not sent";
    case Fate::lost: return "no reply to message " + number + std::string(event.reply.payload);
    case Fate::unanswered_as_recorded: return "no reply to message " + number + ", as recorded";
    case Fate::missing: return "a recorded unsolicited message did not arrive";
    case Fate::duplicate: return "a duplicate reply";
    case Fate::note: return std::string(event.reply.payload);
    default: break;
    }
    if (event.reply.right || !has_message(event.fate) || !has_reply(event.fate)) return "";
    return "reply " + number + " " + bad_text(event.reply);
}

std::string lines(std::chrono::system_clock::time_point at, const Event& event) {
    const std::string date = precise_date_text(at) + ' ';
    std::string text;
    const auto add = [&](const char* sign, std::string_view bytes) {
        text += date + sign + ui::printable(bytes) + '\n';
    };
    const bool received = has_reply(event.fate) && event.fate != Fate::missing;
    if (event.fate == Fate::sent) add("> ", event.message.payload);
    if (received && event.fate != Fate::note) add("< ", event.reply.payload);
    if (const std::string why = remark(event); !why.empty() || event.fate == Fate::note)
        add("- ", why);
    return text;
}

}  // namespace yodel
