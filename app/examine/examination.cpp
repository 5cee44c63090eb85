#include "app/examine/examination.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

using namespace std::chrono_literals;

// Bytes that a connection stores beyond the replies to what it has sent.
constexpr std::size_t max_excess = 1024 * 1024;

// Messages of a flood, and those that are sent together. They must be less than the 64 KiB of a
// pipe, so that the last read of each burst is a short one.
constexpr std::size_t max_flood = 16 * 1024;
constexpr std::size_t burst = 50;

// Lines of the trace of a check.
constexpr std::size_t max_trace = 20'000;

// Bytes of a stream pass unchanged. The session itself expects no replies, and waits for a
// server that stops reading.
Session::Options passing_bytes(Session::Options options) {
    if (!options.endpoint.udp && !options.websocket) options.framing = find_framing("raw");
    options.expect = Expect::none;
    options.reply_timeout = 1h;
    options.max_time.reset();
    options.retries = 0;
    return options;
}

}  // namespace

// --- A connection.

Connection::Connection(Examination& examination, const Session::Options& options)
    : examination_(examination),
      number_(++examination.connection_count_),
      is_stream_(!options.endpoint.udp && !options.websocket),
      session_(examination.loop_, passing_bytes(options), *this) {
    session_.connect();
    const auto open = [&] { return session_.state() == Session::State::open; };
    examination_.wait_to_connect([&] { return open() || closed(); });
    const bufio::End& end = session_.end();
    const bool late = end.reason == bufio::Reason::timeout;
    if (!open())
        throw Failed{explain(end, session_.tls()),
                     late ? Failed::How::silent : Failed::How::other, end};
}

void Connection::queue(std::string_view bytes) {
    examination_.trace(number_, "sent", bytes);
    unanswered_ += bytes.size();
    session_.send(bytes);
}

void Connection::send(std::string_view bytes) {
    queue(bytes);
    session_.flush();
}

void Connection::echo(std::string_view payload) {
    send(examination_.frame(payload));
    expect(examination_.reply(payload));
}

void Connection::send_all(std::span<const std::string> payloads) {
    std::string bytes;
    for (const std::string& each : payloads) {
        bytes += examination_.frame(each);
        if (!is_stream_ || &each == &payloads.back()) queue(std::exchange(bytes, {}));
    }
    session_.flush();
}

void Connection::expect_all(std::span<const std::string> payloads) {
    std::string bytes;
    for (const std::string& each : payloads) {
        bytes += examination_.reply(each);
        if (!is_stream_ || &each == &payloads.back()) expect(std::exchange(bytes, {}));
    }
}

std::vector<std::string> Connection::flood(ev::Duration gap, ev::Duration patience) {
    std::vector<std::string> payloads;
    pause(true);
    const ev::Time end = examination_.now() + 4s;
    ev::Time accepted_at = examination_.now();
    while (!closed() && examination_.now() < std::min(end, accepted_at + patience)) {
        const std::size_t before = session_.pending();
        if (before == 0) {
            if (payloads.size() >= max_flood) break;
            payloads.resize(payloads.size() + burst,
                            std::string(1024, "abcdefg"[payloads.size() / burst % 7]));
            send_all(std::span(payloads).last(burst));
        }
        examination_.sleep(before == 0 ? gap : 20ms);
        if (before == 0 || session_.pending() < before) accepted_at = examination_.now();
    }
    return payloads;
}

void Connection::expect(std::string_view reply) {
    examination_.wait([&] { return has_reply(reply.size()) || ended(); });
    const bool whole = has_reply(reply.size());
    const std::size_t size = sizes_.empty() ? reply.size() : sizes_.front();
    const std::string_view part = received().substr(0, size);
    if (!whole || part != reply) throw failure(reply, part);
    skip(size);
    if (!sizes_.empty()) sizes_.pop_front();
    unanswered_ -= std::min(unanswered_, size);
    if (!is_stream_ || received().size() <= unanswered_) return;
    Failed failed = failure(reply, received());
    failed.text = bytes_text(received().size() - unanswered_) + " more came than were sent";
    failed.how = Failed::How::differs;
    throw failed;
}

void Connection::skip(std::size_t bytes) {
    skipped_ += bytes;
    if (2 * skipped_ < received_.size()) return;
    received_.erase(0, skipped_);
    skipped_ = 0;
}

void Connection::expect_end() {
    const bool in_time = examination_.wait([&] { return closed(); });
    const std::string limit = duration_text(examination_.options().reply_timeout);
    if (!received().empty()) throw Failed{bytes_text(received().size()) + " more came"};
    if (!in_time)
        throw Failed{"the server did not close within " + limit, Failed::How::unclosed};
    if (session_.end().reason != bufio::Reason::clean) throw Failed{session_.end().text};
}

void Connection::session_unsolicited(std::string_view payload) {
    // A server that floods must neither fill our memory nor keep a check waiting.
    if (received().size() > unanswered_ + max_excess) return leave();
    examination_.trace(number_, "received", payload);
    ++examination_.received_count_;
    received_ += payload;
    if (!is_stream_) sizes_.push_back(payload.size());
}

bool Connection::has_reply(std::size_t size) const {
    return is_stream_ ? received().size() >= size : !sizes_.empty();
}

Failed Connection::failure(std::string_view reply, std::string_view received) const {
    using How = Failed::How;
    const std::string_view delimiter = examination_.options().framing->delimiter;
    const bufio::End& end = session_.end();
    if (closed() && exit_status(end) == connect_failed)  // datagrams are refused
        return {end.text, How::other, end};
    std::string text =
        std::to_string(received.size()) + " of " + bytes_text(reply.size()) + " came";
    How how = How::differs;
    if (!reply.starts_with(received)) {
        text =
            "the reply differs " + bad_byte_text(compared_reply(nullptr, reply, received, {}));
    } else if (ended()) {
        how = How::closed;
        const bool clean = !closed() || end.reason == bufio::Reason::clean;
        text = (clean ? "the server closed the connection" : explain(end, session_.tls())) +
               "; " + text;
    } else if (sizes_.empty()) {
        how = How::silent;
        text = (received.empty() ? "no reply" : text) + " within " +
               duration_text(examination_.options().reply_timeout);
        if (!received.empty() && received.size() + delimiter.size() == reply.size())
            text += ", without " + examination_.options().framing->delimiter_name();
    }
    return {text, how, {}, std::string(reply), std::string(received)};
}

// --- The examination.

Examination::Examination(ev::Loop& loop, Session::Options options, ev::Duration limit,
                         bool tracing)
    : loop_(loop),
      options_(std::move(options)),
      end_(loop.read_clock() + limit),
      tick_(loop, [] {}),
      tracing_(tracing) {}

// Later connections need no look-up.
Connection& Examination::connect() {
    connections_.push_back(std::make_unique<Connection>(*this, options_));
    Connection& made = *connections_.back();
    options_.endpoint.known_addresses =
        std::make_shared<const std::vector<bufio::Address>>(1, made.address());
    if (is_stream()) made.expect(options_.framing->greeting);
    return made;
}

Connection& Examination::connect_raw() {
    Session::Options options = options_;
    options.websocket.reset();
    return *connections_.emplace_back(std::make_unique<Connection>(*this, options));
}

std::string Examination::frame(std::string_view payload) const {
    const Framing& framing = *options_.framing;
    payload = payload.substr(0, framing.max_payload());
    if (!is_stream()) return std::string(payload);
    return framing.header(payload) + std::string(payload) + std::string(framing.delimiter);
}

std::string Examination::reply(std::string_view payload) const {
    const Framing& framing = *options_.framing;
    return framing.reply ? framing.reply(payload) : frame(payload);
}

std::string_view Examination::payload_of(std::string_view reply) const {
    const Framing& framing = *options_.framing;
    if (!is_stream() || framing.reply) return reply;
    reply = framing.partial_payload(reply);
    if (reply.ends_with(framing.delimiter)) reply.remove_suffix(framing.delimiter.size());
    return reply;
}

bool Examination::wait(const std::function<bool()>& done, ev::Duration limit) {
    if (limit == limit.zero()) limit = options_.reply_timeout;
    ev::Time deadline = loop_.read_clock() + limit;
    while (!done()) {
        const std::uint64_t before = received_count_;
        const ev::Time now = loop_.read_clock();
        if (now >= deadline || over()) return false;
        tick_.start_at(std::min(deadline, now + 20ms));
        if (!loop_.step()) throw Stopped{};
        const ev::Duration lateness = loop_.read_clock() - tick_.deadline();
        if (lateness > 100ms) late_ = true;
        if (lateness > 100ms && !options_.max_time) end_ += lateness;
        if (received_count_ != before) deadline = loop_.read_clock() + limit;
    }
    return true;
}

// This time does not count, unless --max-time is given. The session ends itself in time.
void Examination::wait_to_connect(const std::function<bool()>& done) {
    const ev::Time begun = now();
    const ev::Duration extension = options_.max_time ? 0h : 1h;
    end_ += extension;
    wait(done, options_.connect_timeout + 1s);
    if (!options_.max_time) end_ += now() - begun - extension;
}

void Examination::sleep(ev::Duration duration) {
    const ev::Time until = loop_.read_clock() + duration;
    wait([&] { return loop_.read_clock() >= until; }, duration);
}

void Examination::begin_check() {
    close_all();
    trace_.clear();
    connection_count_ = 0;
    late_ = false;
}

void Examination::trace(std::size_t connection, const char* verb, std::string_view bytes) {
    if (!tracing_ || trace_.size() == max_trace) return;
    trace_.push_back(std::to_string(connection) + " " + verb + " " + bytes_text(bytes.size()) +
                     ": " + excerpt(bytes.substr(0, 256), bytes.size()));
}

}  // namespace yodel
