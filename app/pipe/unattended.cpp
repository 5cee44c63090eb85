#include "app/pipe/unattended.hpp"

#include "app/text/diagnostics.hpp"
#include "app/text/units.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

namespace yodel {

namespace {

// Bytes waiting for the peer, above which it is taken to take nothing; and for the reader of
// our output, above which no more replies are looked at.
constexpr std::size_t high_water = 256 * 1024;

// With an interval: bytes that await their replies, each kept to be compared with its reply.
constexpr std::size_t most_in_flight = 8 * 1024 * 1024;

constexpr std::size_t usual_window = 64;  // messages

// Longer than where somebody waits for the first reply: a greeting may come well before it.
constexpr ev::Duration greeting_time = std::chrono::seconds(2);

constexpr ev::Duration progress_time = std::chrono::milliseconds(200);

// Returns the width of the terminal that standard error is, or 80 if it is unknown.
std::size_t columns() {
    winsize size{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col > 0 ? size.ws_col : 80;
}

Unattended::Options completed(Unattended::Options options) {
    options.session.closed_early = "the server closed before the end of the run";
    options.session.greeting_time = greeting_time;
    return options;
}

}  // namespace

Unattended::Unattended(ev::Loop& loop, Options options)
    : PipeMode(loop, {completed(options).session, options.report}, high_water),
      options_(std::move(options)),
      text_(options_.size),
      progress_(::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 0),
      due_(loop, [this] { send_due(); }),
      progress_due_(loop, [this] { show_progress(); }) {
    if (progress_) progress_due_.start(progress_time);
}

void Unattended::before_report() { clear_progress(); }

void Unattended::connected() {
    if (scheduled() && reporter().tally().sent == 0) due_.start(ev::Duration::zero());
}

void Unattended::disconnected() {
    clear_progress();
    if (session().state() == Session::State::closed) due_.cancel();
}

// The round trip counts from when the message was due, not from when the peer took it.
ev::Duration Unattended::overdue(ev::Time planned, ev::Time sent) const {
    return sent - planned;
}

void Unattended::send() {
    if (!scheduled()) {
        while (!all_sent() && session().state() == Session::State::open && has_space())
            send_one();
        session().flush();
    }
    finish_if_done();
}

bool Unattended::has_space() const {
    const bool lifted = !options_.window && window_lifted();
    return (lifted || session().in_flight() < options_.window.value_or(usual_window)) &&
           session().pending() < high_water;
}

bool Unattended::peer_takes() const {
    return session().pending() < high_water &&
           session().messages().in_flight_bytes() < most_in_flight;
}

void Unattended::send_due() {
    send_one();
    session().flush();
    if (!all_sent()) return due_.start_at(due_.deadline() + options_.interval);
    finish_if_done();
}

void Unattended::send_one() {
    const std::string_view message = text_.text(reporter().tally().sent + 1);
    Queued queued;
    if (peer_takes()) queued = session().send(message);
    if (queued) return reporter().sent(message, queued);
    reporter().missed(message, session().reserve_id());
}

bool Unattended::all_sent() const {
    return options_.count != 0 && reporter().tally().sent >= options_.count;
}

// Another try would find nothing to send.
void Unattended::finish_if_done() {
    if (!all_sent() || session().in_flight() > 0) return;
    if (session().state() == Session::State::waiting) return session().disconnect();
    session().finish();
}

void Unattended::show_progress() {
    const Tally& tally = reporter().tally();
    std::string text = tally.counts();
    if (tally.round_trips.count() > 0)
        text += ", p50 " + milliseconds_text(tally.round_trips.percentile(50)) + " ms";
    clear_progress();
    text.resize(std::min(text.size(), columns() - 1));  // in the last one some go to a new row
    diagnostics().show(text);
    progress_width_ = text.size();
    progress_due_.start(progress_time);
}

void Unattended::clear_progress() {
    if (progress_width_ == 0) return;
    diagnostics().show("\r" + std::string(progress_width_, ' ') + "\r");
    progress_width_ = 0;
}

}  // namespace yodel
