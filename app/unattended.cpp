#include "app/unattended.hpp"

#include "app/units.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace yodel {

namespace {

// Bytes waiting for the peer, above which it is taken to take nothing; and for the reader of
// our output, above which no more replies are looked at.
constexpr std::size_t high_water = 256 * 1024;

constexpr ev::Duration progress_time = std::chrono::milliseconds(200);

// Of the terminal that standard error is; one that does not know has 80.
std::size_t columns() {
    winsize size{};
    ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

Unattended::Unattended(ev::Loop& loop, Options options)
    : options_(std::move(options)),
      progress_(::isatty(STDERR_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 0),
      due_(loop, [this] { send_due(); }),
      progress_due_(loop, [this] { show_progress(); }),
      session_(loop, options_.session, *this),
      reporter_(loop, options_.report, session_, high_water) {
    session_.connect();
}

void Unattended::leave() {
    leaving_ = true;
    session_.disconnect();
}

int Unattended::report() {
    clear_progress();
    return reporter_.finish({});
}

void Unattended::session_changed() {
    if (told_ != session_.state()) entered(told_ = session_.state());
    reporter_.flush();
    if (session_.state() == Session::State::closed) return;
    if (options_.interval == ev::Duration::zero()) send_due();
    finish_if_done();
}

// Another try would find nothing to send.
void Unattended::finish_if_done() {
    if (!all_sent() || session_.awaited() > 0) return;
    if (session_.state() == Session::State::waiting) return session_.disconnect();
    session_.finish();
}

void Unattended::entered(Session::State state) {
    if (state != Session::State::closed && progress_ && !progress_due_.pending())
        progress_due_.start(progress_time);
    if (state == Session::State::open) {
        reporter_.connected();
        if (options_.interval > ev::Duration::zero() && reporter_.tally().sent == 0)
            due_.start(ev::Duration::zero());
    }
    if (state == Session::State::waiting) clear_progress();
    if (state == Session::State::waiting) reporter_.retrying();
    if (state != Session::State::closed) return;
    due_.cancel();
    reporter_.ended({});
}

// The round trip counts from when the message was due, not from when the peer took it.
void Unattended::session_answered(const Message& message, const Reply& reply) {
    Reply whole = reply;
    if (whole.round_trip) *whole.round_trip += message.sent - message.flushed;
    reporter_.answered(message, whole);
}

void Unattended::session_lost(const Message& message) {
    if (!leaving_) reporter_.lost(message);
}

void Unattended::session_unasked(std::string_view payload) { reporter_.unasked(payload); }

void Unattended::send_due() {
    if (options_.interval == ev::Duration::zero()) {
        while (!all_sent() && session_.state() == Session::State::open &&
               session_.awaited() < options_.window && session_.pending() < high_water)
            send_one();
        return session_.flush();
    }
    send_one();
    session_.flush();
    if (!all_sent()) return due_.start_at(due_.deadline() + options_.interval);
    finish_if_done();
}

void Unattended::send_one() {
    const std::string message = made_up_message(reporter_.tally().sent + 1, options_.size);
    const bool taken = session_.pending() < high_water && session_.send(message) != 0;
    if (taken) return reporter_.sent(message);
    reporter_.missed(message);
}

bool Unattended::all_sent() const {
    return options_.count != 0 && reporter_.tally().sent >= options_.count;
}

void Unattended::show_progress() {
    const Tally& tally = reporter_.tally();
    std::string text = tally.counts();
    if (tally.round_trips.count() > 0)
        text += ", p50 " + milliseconds_text(tally.round_trips.percentile(50)) + " ms";
    clear_progress();
    text.resize(std::min(text.size(), columns() - 1));  // in the last one some go to a new row
    std::fputs(text.c_str(), stderr);
    progress_width_ = text.size();
    progress_due_.start(progress_time);
}

void Unattended::clear_progress() {
    if (progress_width_ == 0) return;
    std::fputs(("\r" + std::string(progress_width_, ' ') + "\r").c_str(), stderr);
    progress_width_ = 0;
}

std::string made_up_message(std::uint64_t number, std::size_t size) {
    static constexpr std::string_view filling = "abcdefghijklmnopqrstuvwxyz";
    std::string digits = std::to_string(number);
    if (digits.size() > size) digits.erase(0, digits.size() - size);
    while (digits.size() < size) digits += filling[digits.size() % filling.size()];
    return digits;
}

}  // namespace yodel
