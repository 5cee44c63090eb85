#include "app/protocol/recorder.hpp"

#include "app/protocol/message_object.hpp"

namespace yodel {

Recorder::Recorder(const std::string& path, const Framing& framing, std::uint64_t first,
                   ev::Time now)
    : file_(path, LogFile::Content::recording), start_(now), first_(first) {
    file_.add_line(recording_object(framing, first_, 1).str());
}

void Recorder::connected(const Session& session) {
    file_.add_line(connection_object(session).str());
}

void Recorder::add(const char* verdict, const Message* message, const Reply* reply,
                   ev::Time now) {
    if (message && !holds(*message)) return;
    file_.add_line(recorded_object(verdict, message, reply, start_, now).str());
}

bool Recorder::finish(const std::string& end) {
    file_.add_line(end);
    return file_.finish();
}

}  // namespace yodel
