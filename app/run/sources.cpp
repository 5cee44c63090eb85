#include "app/run/sources.hpp"

#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <limits>
#include <system_error>

namespace yodel {

namespace {

constexpr std::size_t chunk_size = 64 * 1024;  // bytes read in one call

constexpr std::size_t check_letter_count = 2;

// Both check letters are sums modulo a prime that exceeds the number of places and their values
// (0 to 10). A change in one place changes both sums, and changes in two places change at least
// one.
constexpr unsigned modulus = 23;

}  // namespace

// --- Lines.

// The caller limits the size of a file, so its lines need no limit.
LineReader::LineReader(const Options& options, bool is_raw)
    : options_(options),
      is_raw_(is_raw),
      decoder_(*find_framing("line"), options.messages_file.value_or("-") == "-"
                                          ? options.max_frame
                                          : std::numeric_limits<std::size_t>::max() / 2) {}

std::optional<Outgoing> LineReader::next() {
    const std::string_view bytes = buffer_.view();
    if (bytes.empty()) return std::nullopt;
    std::string_view payload = bytes.substr(0, chunk_size);
    used_size_ = payload.size();
    if (!is_raw_) {
        const Decoder::Decoded line = decoder_.next(bytes);
        if (line.kind == Decoder::Decoded::Kind::error) return refuse(line.error);
        const bool is_whole = line.kind == Decoder::Decoded::Kind::message;
        if (!is_whole && !has_ended_) return std::nullopt;
        payload = is_whole ? line.payload : buffer_.view();
        used_size_ = is_whole ? line.used : payload.size();
        if (used_size_ == 0) return std::nullopt;
    }
    const bool is_unterminated = used_size_ == payload.size();
    // The framing adds a CR to the LF. The input may already contain it.
    if (options_.framing->delimiter == "\r\n" && !is_unterminated && payload.ends_with('\r'))
        payload.remove_suffix(1);
    if (options_.has_escapes) {
        std::optional<std::string> plain = unescaped(payload);
        if (!plain) return refuse(std::string(escapes_expected) + " (--escapes)");
        unescaped_ = std::move(*plain);
        payload = unescaped_;
    }
    if (!is_sendable(*options_.framing, options_.max_frame, payload))
        return refuse(options_.framing->misfit_text(payload.size(), options_.max_frame));
    if (options_.messages_file && count_pieces(*options_.framing, payload) > 1)
        return refuse("the message contains a delimiter of " + options_.framing->label());
    return Outgoing{.payload = payload, .is_unterminated = is_unterminated};
}

std::optional<Outgoing> LineReader::next_lines(std::size_t size) {
    const std::string_view bytes = buffer_.view().substr(0, size);
    const std::size_t end = bytes.rfind('\n');
    if (end == bytes.npos) return std::nullopt;
    decoder_.restart();
    used_size_ = end + 1;
    return Outgoing{.payload = bytes.substr(0, end)};
}

void LineReader::pop(const Outgoing& message) {
    const std::string_view bytes = buffer_.view().substr(0, used_size_);
    line_number_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n')) +
                    (message.is_unterminated ? 1 : 0);
    buffer_.consume(used_size_);
}

Trouble LineReader::trouble() const {
    const std::optional<std::string>& file = options_.messages_file;
    if (!file || !trouble_.text.empty() || !is_over() || line_number_ > 1) return trouble_;
    const std::string name = *file == "-" ? "standard input" : "--messages: " + *file;
    return {usage_error, name + " is empty"};
}

// Ends the input because its next line cannot be sent. A line of --messages is part of the
// command line.
std::nullopt_t LineReader::refuse(const std::string& text) {
    const std::optional<std::string>& file = options_.messages_file;
    fail(text, file ? usage_error : reply_bad_or_lost);
    const std::string line = "line " + std::to_string(line_number_) + ": " + text;
    if (file && *file != "-")
        trouble_.text = "--messages: " + *file + ": " + line;
    else if (!is_raw_)
        trouble_.text = "standard input, " + line;
    return std::nullopt;
}

void LineReader::fail(const std::string& text, int status) {
    trouble_ = {status, "standard input: " + text};
    has_ended_ = true;
    buffer_.consume(buffer_.size());
}

Lines::Lines(ev::Loop& loop, const Options& options, const std::function<void()>& changed)
    : loop_(loop),
      options_(options),
      reader_(options.lines, options.session && !options.lines.framing->has_frames()),
      kept_(options.keeps_lines ? std::make_shared<std::deque<std::string>>() : nullptr),
      watch_(loop, STDIN_FILENO, options.keeps_lines ? ev::readable : ev::none,
             [this, changed](ev::Events) {
                 read();
                 if (kept_) keep();
                 changed();
             }),
      greeting_timer_(loop, changed) {}

void Lines::read() {
    watch_.want(ev::none);
    Session* const session = options_.session;
    const LineReader::Options& lines = options_.lines;
    // Without frames and escapes, bytes are read into the session's queue without a copy.
    const bool is_direct = session && !lines.framing->has_frames() && !lines.has_escapes;
    if (is_direct && session->state() != Session::State::open) return;
    const std::size_t size = is_direct ? std::min(chunk_size, lines.max_frame) : chunk_size;
    char* const space = is_direct ? session->reserve(size) : reader_.bytes().reserve(size);
    const ssize_t count = ::read(STDIN_FILENO, space, size);
    const bool is_retryable = count < 0 && (errno == EINTR || errno == EAGAIN);
    if (count < 0 && !is_retryable)
        reader_.fail(std::generic_category().message(errno), input_failed);
    if (count > 0 && is_direct) reserved_bytes_ = {space, static_cast<std::size_t>(count)};
    if (count > 0 && !is_direct) reader_.bytes().commit(static_cast<std::size_t>(count));
    if (count == 0) reader_.end();
}

std::optional<Outgoing> Lines::next() {
    Session* const session = options_.session;
    if (options_.greeting_wait > ev::Duration::zero()) {
        const ev::Time greeted_at = session->state_began_at() + options_.greeting_wait;
        if (loop_.now() < greeted_at) {
            greeting_timer_.start_at(greeted_at);
            return std::nullopt;
        }
    }
    if (!reserved_bytes_.empty())
        return Outgoing{.payload = reserved_bytes_, .is_reserved = true};
    std::optional<Outgoing> next;
    if (session && session->options().may_coalesce)
        next = reader_.next_lines(default_window_bytes -
                                  std::min(session->in_flight_bytes(), default_window_bytes));
    if (!next) next = reader_.next();
    if (!next && !reader_.is_over()) watch_.want(ev::readable);
    return next;
}

void Lines::sent(const Outgoing& message, QueuedIds /*queued*/) {
    if (message.is_reserved)
        reserved_bytes_ = {};
    else
        reader_.pop(message);
}

void Lines::keep() {
    while (const auto message = next()) {
        kept_bytes_ += sizeof(std::string) + message->payload.size();
        kept_->emplace_back(message->payload);
        sent(*message, {});
    }
    if (kept_bytes_ <= max_kept_bytes) return;
    reader_.fail("more than " + std::to_string(max_kept_bytes / 1024 / 1024) +
                     " MiB, which is too much to send on every connection",
                 reply_bad_or_lost);
    stop();
}

// --- Generated messages.

std::optional<Outgoing> Generator::next() {
    if (input_ && next_number_ == messages_->size()) return std::nullopt;
    if (!messages_) return Outgoing{.payload = text(++next_number_)};
    const std::string& message = (*messages_)[next_number_ % messages_->size()];
    next_number_ = share_.message_after(next_number_);
    return Outgoing{.payload = message};
}

std::string_view Generator::text(std::uint64_t number) {
    char decimal[20];  // enough for the largest number
    const char* const end = std::to_chars(decimal, decimal + sizeof decimal, number).ptr;
    const std::size_t digits = std::min(static_cast<std::size_t>(end - decimal), text_.size());
    std::copy(end - digits, end, text_.begin());
    fill(digits, std::max(digit_count_, digits));
    digit_count_ = digits;
    if (digit_count_ + check_letter_count > text_.size()) {
        fill(digit_count_, text_.size());
        return text_;
    }
    // Places without a digit have the value 0.
    unsigned sum = 0;
    unsigned weighted = 0;
    for (unsigned place = 0; place < digit_count_; ++place) {
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
// Duplicate datagrams are not expected, because the network made them.
Replay::Replay(ev::Loop& loop, std::shared_ptr<const Recording> recording, bool is_fast,
               Session& session, const std::function<void()>& changed,
               std::function<void(std::string_view payload)> missed)
    : loop_(loop),
      recording_(std::move(recording)),
      is_fast_(is_fast),
      session_(session),
      missed_(std::move(missed)),
      timer_(loop, changed) {
    for (std::size_t place = 0; place < recording_->events.size(); ++place) {
        const Event& event = *recording_->events[place];
        const bool is_duplicate =
            event.fate == Fate::duplicate && !recording_->framing->uses_datagrams;
        if (is_duplicate || event.fate == Fate::late || event.fate == Fate::unsolicited ||
            event.fate == Fate::unrecorded)
            outstanding_[place].text = masked_text(event.reply.payload);
    }
}

// --- Sending.

std::optional<Outgoing> Replay::next() {
    const ev::Time now = loop_.now();
    report_missing(now);
    ev::Time wake_at = ev::Time::max();
    for (; !is_stopped_ && next_ < recording_->events.size(); ++next_) {
        const Event& event = *recording_->events[next_];
        const ev::Duration recorded_offset = event.at.time_since_epoch();
        if (event.fate == Fate::sent) {
            if ((is_fast_ || !zero_at_) && waits()) break;
            if (!zero_at_) zero_at_ = now - recorded_offset;
            const ev::Time due_at = is_fast_ ? ev::Time{} : *zero_at_ + recorded_offset;
            if (due_at <= now)
                return Outgoing{.payload = event.message.payload,
                                .planned_at = due_at,
                                .reply = event.message.expected};
            wake_at = due_at;
            break;
        }
        // The next message may depend on this reply.
        if (is_fast_ && awaited_.contains(event.message.id)) break;
        set_deadline(event);
    }
    if (waits()) wake_at = std::min(wake_at, outstanding_.begin()->second.deadline);
    if (wake_at != ev::Time::max()) timer_.start_at(wake_at);
    return std::nullopt;
}

// Sets the deadline of the event if it is an unsolicited message that has not arrived yet. If
// the replay does not follow the recorded times, a late reply may take its recorded round trip.
void Replay::set_deadline(const Event& event) {
    const auto expected = outstanding_.find(next_);
    if (expected == outstanding_.end()) return;
    const ev::Time now = loop_.now();
    const ev::Time due_at = is_fast_ || !zero_at_
                                ? now + event.reply.round_trip.value_or(ev::Duration::zero())
                                : std::max(*zero_at_ + event.at.time_since_epoch(), now);
    expected->second.deadline = due_at + session_.options().reply_timeout;
}

void Replay::sent(const Outgoing& message, QueuedIds queued) {
    if (message.reply) awaited_[recording_->events[next_]->message.id] = queued.first;
    ++next_;
}

// The search is short, because the oldest message usually leaves first.
void Replay::left_flight(const Message& message) {
    const auto found = std::find_if(awaited_.begin(), awaited_.end(), [&](const auto& each) {
        return each.second == message.id;
    });
    if (found != awaited_.end()) awaited_.erase(found);
}

bool Replay::is_over() const {
    return is_stopped_ ||
           (next_ == recording_->events.size() && session_.in_flight() == 0 && !waits());
}

void Replay::stop() {
    is_stopped_ = true;
    outstanding_.clear();
    closed();
}

void Replay::closed() {
    timer_.cancel();
    report_missing(ev::Time::max());
}

// --- Unsolicited messages.

std::string Replay::masked_text(std::string_view payload) const {
    const Regex* const mask = session_.options().pattern_or_null();
    return mask ? mask->masked(payload) : std::string(payload);
}

// Finds the first outstanding message with this payload, unless that message was recorded more
// than the reply timeout after the next message to send.
Replay::Outstanding::iterator Replay::find_outstanding(std::string_view payload) {
    const std::vector<StoredEvent>& events = recording_->events;
    const std::string text = masked_text(payload);
    const auto message =
        std::find_if(events.begin() + static_cast<std::ptrdiff_t>(next_), events.end(),
                     [](const StoredEvent& each) { return each->fate == Fate::sent; });
    const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                    [&](const auto& each) { return each.second.text == text; });
    const bool is_too_early =
        found != outstanding_.end() && message != events.end() &&
        events[found->first]->at > (*message)->at + session_.options().reply_timeout;
    return is_too_early ? outstanding_.end() : found;
}

Fate Replay::judge_unsolicited(std::string_view payload) {
    const auto found = find_outstanding(payload);
    if (found == outstanding_.end()) return is_stopped_ ? Fate::unsolicited : Fate::unrecorded;
    outstanding_.erase(found);
    return Fate::unsolicited_as_recorded;
}

void Replay::report_missing(ev::Time deadline) {
    while (waits() && outstanding_.begin()->second.deadline <= deadline) {
        const std::size_t place = outstanding_.begin()->first;
        outstanding_.erase(outstanding_.begin());
        missed_(recording_->events[place]->reply.payload);
    }
}

}  // namespace yodel
