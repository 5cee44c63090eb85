#include "app/run/sources.hpp"

#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t chunk = 64 * 1024;  // bytes read in one call

constexpr std::size_t check_letters = 2;

// Both check letters are sums modulo a prime that exceeds the number of places and their values
// (0 to 10). A change in one place changes both sums, and changes in two places change at least
// one.
constexpr unsigned modulus = 23;

}  // namespace

// --- Lines.

std::string message_refusal(std::string_view message, const Framing& framing,
                            std::size_t max_frame) {
    if (!is_sendable(framing, max_frame, message))
        return framing.misfit_text(message.size(), max_frame);
    if (count_pieces(framing, message) > 1)
        return "the message contains a delimiter of " + framing.label();
    return "";
}

LineSource::LineSource(ev::Loop& loop, const Options& options,
                       const std::function<void()>& changed)
    : loop_(loop),
      options_(options),
      lines_(*find_framing("line"), options_.max_frame),
      kept_(options_.keep ? std::make_shared<std::deque<std::string>>() : nullptr),
      watch_(loop, STDIN_FILENO, ev::none,
             [this, changed](ev::Events) {
                 read();
                 if (kept_) keep();
                 changed();
             }),
      greeting_timer_(loop, changed) {
    if (kept_) watch_.want(ev::readable);
}

void LineSource::read() {
    watch_.want(ev::none);
    const bool direct = !has_lines() && !options_.escapes;  // without a copy
    if (direct && options_.session->state() != Session::State::open) return;
    const std::size_t size = direct ? std::min(chunk, options_.max_frame) : chunk;
    char* const space = direct ? options_.session->reserve(size) : buffer_.reserve(size);
    const ssize_t count = ::read(STDIN_FILENO, space, size);
    const bool later = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (count < 0 && !later) fail(std::generic_category().message(errno), input_failed);
    if (count > 0 && direct) reserved_bytes_ = {space, static_cast<std::size_t>(count)};
    if (count > 0 && !direct) buffer_.commit(static_cast<std::size_t>(count));
    if (count == 0) ended_ = true;
}

std::optional<Outgoing> LineSource::next() {
    if (left_ == 0) return std::nullopt;
    if (options_.greeting_wait > ev::Duration::zero()) {
        const ev::Time greeted = options_.session->state_since() + options_.greeting_wait;
        if (loop_.now() < greeted) {
            greeting_timer_.start_at(greeted);
            return std::nullopt;
        }
    }
    if (!reserved_bytes_.empty()) return Outgoing{.payload = reserved_bytes_, .reserved = true};
    if (const std::string_view lines = whole_lines(); !lines.empty()) {
        lines_.restart();
        used_ = lines.size();
        return Outgoing{.payload = lines.substr(0, used_ - 1)};
    }
    const Decoder::Decoded line = decode_next();
    if (line.kind == Decoder::Decoded::Kind::error) refuse(line.error);
    if (line.kind != Decoder::Decoded::Kind::message) {
        if (!ended_) watch_.want(ev::readable);
        return std::nullopt;
    }
    used_ = line.used;
    const bool unterminated = used_ == line.payload.size();
    std::string_view payload = line.payload;
    // The framing adds a CR to the LF. The input may already contain it.
    if (options_.framing->delimiter == "\r\n" && !unterminated && payload.ends_with('\r'))
        payload.remove_suffix(1);
    if (options_.escapes) {
        std::optional<std::string> plain = unescaped(payload);
        if (!plain) refuse(std::string(escapes_expected) + " (--escapes)");
        if (!plain) return std::nullopt;
        unescaped_ = std::move(*plain);
        payload = unescaped_;
    }
    std::string fault =
        options_.single ? message_refusal(payload, *options_.framing, options_.max_frame) : "";
    if (!is_sendable(*options_.framing, options_.max_frame, payload))
        fault = options_.framing->misfit_text(payload.size(), options_.max_frame);
    if (fault.empty()) return Outgoing{.payload = payload, .unterminated = unterminated};
    refuse(fault);
    return std::nullopt;
}

// Returns the lines that may be sent together, including their newlines.
std::string_view LineSource::whole_lines() const {
    const Session* const session = options_.session;
    if (!session || !session->options().coalesce) return {};
    const std::size_t in_flight = session->in_flight_bytes();
    if (in_flight >= default_window_bytes) return {};
    const std::string_view bytes = buffer_.view().substr(0, default_window_bytes - in_flight);
    return bytes.substr(0, bytes.rfind('\n') + 1);
}

Decoder::Decoded LineSource::decode_next() {
    const std::string_view bytes = buffer_.view();
    const auto whole = [](std::string_view payload) {
        return Decoder::Decoded{.kind = Decoder::Decoded::Kind::message,
                                .payload = payload,
                                .used = payload.size()};
    };
    if (bytes.empty()) return {};
    if (!has_lines()) return whole(bytes.substr(0, chunk));
    Decoder::Decoded line = lines_.next(bytes);
    const bool last = line.kind == Decoder::Decoded::Kind::incomplete && ended_;
    return last ? whole(bytes) : line;
}

void LineSource::sent(const Outgoing& message, QueuedIds /*queued*/) {
    --left_;
    if (message.reserved) return void(reserved_bytes_ = {});
    const std::string_view bytes = buffer_.view().substr(0, used_);
    line_number_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n')) +
                    (message.unterminated ? 1 : 0);
    buffer_.consume(used_);
}

// A line of --messages that cannot be sent is a usage error, as in a file.
Trouble LineSource::trouble() const {
    if (!options_.single) return trouble_;
    if (trouble_.status == reply_bad_or_lost) return {usage_error, trouble_.text};
    const bool empty = trouble_.text.empty() && over() && line_number_ == 1;
    return empty ? Trouble{usage_error, "--messages: - is empty"} : trouble_;
}

// Ends the input because its next line cannot be sent.
void LineSource::refuse(const std::string& text) {
    fail(text, reply_bad_or_lost);
    if (has_lines())
        trouble_.text = "standard input, line " + std::to_string(line_number_) + ": " + text;
}

void LineSource::fail(const std::string& text, int status) {
    trouble_ = {status, "standard input: " + text};
    ended_ = true;
    watch_.want(ev::none);
    buffer_.consume(buffer_.size());
}

void LineSource::keep() {
    while (const auto message = next()) {
        kept_bytes_ += sizeof(std::string) + message->payload.size();
        kept_->emplace_back(message->payload);
        sent(*message, {});
    }
    if (kept_bytes_ > max_kept_bytes)
        fail("more than " + std::to_string(max_kept_bytes / 1024 / 1024) +
                 " MiB, which is too much to send on every connection",
             reply_bad_or_lost);
}

std::optional<Outgoing> KeptSource::next() {
    if (over() || (input_ && number_ == messages_->size())) return std::nullopt;
    const std::string& message = (*messages_)[number_ % messages_->size()];
    number_ = share_.message_after(number_);
    --left_;
    return Outgoing{.payload = message};
}

// --- Generated messages.

std::string_view Generator::text(std::uint64_t number) {
    char all[20];  // enough for the largest number
    const char* const end = std::to_chars(all, all + sizeof all, number).ptr;
    const std::size_t digits = std::min(static_cast<std::size_t>(end - all), text_.size());
    std::copy(end - digits, end, text_.begin());
    fill(digits, std::max(digits_, digits));
    digits_ = digits;
    if (digits_ + check_letters > text_.size()) {
        fill(digits_, text_.size());
        return text_;
    }
    // Places without a digit have the value 0.
    unsigned sum = 0;
    unsigned weighted = 0;
    for (unsigned place = 0; place < digits_; ++place) {
        const auto value = static_cast<unsigned>(text_[place] - '0') + 1;
        sum += value;
        weighted += value * (place + 1);
    }
    text_[text_.size() - 2] = static_cast<char>('a' + sum % modulus);
    text_[text_.size() - 1] = static_cast<char>('a' + weighted % modulus);
    return text_;
}

void Generator::fill(std::size_t begin, std::size_t end) {
    static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
    for (std::size_t i = begin; i < end; ++i) text_[i] = letters[i % letters.size()];
}

// --- Recorded messages.

// A late reply must arrive as an unsolicited message, because its message was lost before.
// Duplicate datagrams were made by the network.
Replay::Replay(ev::Loop& loop, std::shared_ptr<const Recording> recording, bool fast,
               Session& session, Owner& owner)
    : loop_(loop),
      recording_(std::move(recording)),
      fast_(fast),
      session_(session),
      owner_(owner),
      due_timer_(loop, [this] { owner_.source_changed(); }),
      overdue_timer_(loop, [this] {
          report_missing(loop_.now());
          if (waits()) overdue_timer_.start_at(outstanding_.begin()->second.deadline);
          owner_.source_changed();
      }) {
    for (std::size_t place = 0; place < recording_->events.size(); ++place) {
        const Event& event = *recording_->events[place];
        const bool duplicate =
            event.fate == Fate::duplicate && !recording_->framing->in_datagrams;
        if (duplicate || event.fate == Fate::late || event.fate == Fate::unsolicited ||
            event.fate == Fate::unrecorded)
            outstanding_[place].text = without_mask(event.reply.payload);
    }
}

// --- Sending.

std::optional<Outgoing> Replay::next() {
    for (; !stopped_ && next_ < recording_->events.size(); ++next_) {
        const Event& event = *recording_->events[next_];
        const bool sends = event.fate == Fate::sent;
        // The next message may depend on this reply.
        const bool waits_for_reply = !sends && fast_ && awaited_.contains(event.message.id);
        if (waits_for_reply || (sends && !is_due(event))) return std::nullopt;
        if (sends)
            return Outgoing{.payload = event.message.payload,
                            .planned =
                                fast_ ? ev::Time{} : *origin_ + event.at.time_since_epoch(),
                            .reply = event.message.expected};
        expect(event);
    }
    return std::nullopt;
}

bool Replay::is_due(const Event& message) {
    if ((fast_ || !origin_) && waits()) return false;
    if (!origin_) origin_ = loop_.now() - message.at.time_since_epoch();
    const ev::Time due = *origin_ + message.at.time_since_epoch();
    if (!fast_ && due > loop_.now()) due_timer_.start_at(due);
    return fast_ || due <= loop_.now();
}

// Expects the event if it is an unsolicited message that has not arrived early. Without
// recorded times, a late reply may take as long again.
void Replay::expect(const Event& event) {
    const auto expected = outstanding_.find(next_);
    if (expected == outstanding_.end()) return;
    const ev::Time now = loop_.now();
    const ev::Time due = fast_ || !origin_
                             ? now + event.reply.round_trip.value_or(ev::Duration::zero())
                             : std::max(*origin_ + event.at.time_since_epoch(), now);
    expected->second.deadline = due + session_.options().reply_timeout;
    if (!overdue_timer_.pending()) overdue_timer_.start_at(expected->second.deadline);
}

void Replay::sent(const Outgoing& message, QueuedIds queued) {
    if (message.reply) awaited_[recording_->events[next_]->message.id] = queued.first;
    ++next_;
}

// The oldest message usually leaves first.
void Replay::left_flight(const Message& message) {
    const auto found = std::find_if(awaited_.begin(), awaited_.end(), [&](const auto& each) {
        return each.second == message.id;
    });
    if (found != awaited_.end()) awaited_.erase(found);
}

bool Replay::over() const {
    return stopped_ ||
           (next_ == recording_->events.size() && session_.in_flight() == 0 && !waits());
}

void Replay::stop() {
    stopped_ = true;
    outstanding_.clear();
    closed();
}

void Replay::closed() {
    due_timer_.cancel();
    overdue_timer_.cancel();
    report_missing(ev::Time::max());
}

// --- Unsolicited messages.

std::string Replay::without_mask(std::string_view payload) const {
    const Expression* const mask = session_.options().pattern_or_null();
    return mask ? mask->masked(payload) : std::string(payload);
}

// Finds the first one with this payload. It may arrive earlier than recorded, by at most the
// reply timeout.
Replay::Outstanding::iterator Replay::find(std::string_view payload) {
    const std::vector<StoredEvent>& events = recording_->events;
    const std::string text = without_mask(payload);
    const auto message =
        std::find_if(events.begin() + static_cast<std::ptrdiff_t>(next_), events.end(),
                     [](const StoredEvent& each) { return each->fate == Fate::sent; });
    const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                    [&](const auto& each) { return each.second.text == text; });
    const bool early =
        found != outstanding_.end() && message != events.end() &&
        events[found->first]->at > (*message)->at + session_.options().reply_timeout;
    return early ? outstanding_.end() : found;
}

Fate Replay::judge_unsolicited(std::string_view payload) {
    const auto found = find(payload);
    if (found == outstanding_.end()) return stopped_ ? Fate::unsolicited : Fate::unrecorded;
    outstanding_.erase(found);
    return Fate::unsolicited_as_recorded;
}

void Replay::report_missing(ev::Time deadline) {
    while (waits() && outstanding_.begin()->second.deadline <= deadline) {
        const std::size_t place = outstanding_.begin()->first;
        outstanding_.erase(outstanding_.begin());
        owner_.source_missed(recording_->events[place]->reply.payload);
    }
}

}  // namespace yodel
