#include "app/protocol/recorder.hpp"

#include "app/protocol/message_object.hpp"
#include "app/text/json.hpp"

namespace yodel {

Recorder::Recorder(const std::string& path, const AnySession& session, ev::Time now)
    : file_(path, LogFile::Content::recording), start_(now), first_(session.last_id() + 1) {
    file_.add_line(recording_object(*session.options().framing, first_, 1).str());
}

void Recorder::connected(const AnySession& session) {
    JsonObject object;
    object.text("type", "connection").text("address", session.address().text());
    file_.add_line(object.text("framing", session.options().framing->name).str());
}

void Recorder::add(const char* verdict, const Message* message, const Reply* reply,
                   ev::Time now) {
    if (message && message->id < first_) return;
    file_.add_line(recorded_object(verdict, message, reply, start_, now).str());
}

bool Recorder::finish(std::string_view reason) {
    file_.add_line(JsonObject().text("type", "end").text("reason", reason).str());
    return file_.finish();
}

}  // namespace yodel
