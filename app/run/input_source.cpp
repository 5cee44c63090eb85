#include "app/run/input_source.hpp"

#include "app/run/sending_limits.hpp"

namespace yodel {

namespace {

Input::Options input_options(Session& session, bool escapes) {
    const Session::Options& options = session.options();
    Input::Options to{options.framing, options.max_frame, escapes};
    to.lines = options.framing->has_frames();
    if (!to.lines && !escapes)
        to.reserve = [&session](std::size_t size) { return session.reserve(size); };
    return to;
}

}  // namespace

InputSource::InputSource(ev::Loop& loop, Session& session, User& user, bool escapes,
                         ev::Duration greeting_wait)
    : loop_(loop),
      session_(session),
      greeting_wait_(greeting_wait),
      input_(loop, input_options(session, escapes), [&user] { user.source_changed(); }),
      greeting_timer_(loop, [&user] { user.source_changed(); }) {}

std::optional<Outgoing> InputSource::next() {
    const ev::Time greeted = session_.state_since() + greeting_wait_;
    if (loop_.now() < greeted) {
        greeting_timer_.start_at(greeted);
        return std::nullopt;
    }
    const std::size_t in_flight = session_.in_flight_bytes();
    lines_ = session_.options().coalesce && in_flight < default_window_bytes;
    if (lines_) {
        const std::string_view lines = input_.whole_lines(default_window_bytes - in_flight);
        if (!lines.empty()) return Outgoing{.payload = lines.substr(0, lines.size() - 1)};
        lines_ = false;
    }
    const std::optional<std::string_view> message = input_.next();
    if (!message) return std::nullopt;
    return Outgoing{.payload = *message,
                    .reserved = input_.in_reserved_space(),
                    .unterminated = input_.unterminated()};
}

void InputSource::sent(const Outgoing& message, QueuedIds queued) {
    if (!queued) return;
    if (lines_) return input_.remove_lines(message.payload.size() + 1);
    input_.remove_message();
}

}  // namespace yodel
