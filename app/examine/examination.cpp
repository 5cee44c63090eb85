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
      number_(examination.connections_.size() + 1),
      is_stream_(!options.endpoint.udp && !options.websocket),
      session_(examination.loop_, passing_bytes(options), *this) {
    session_.connect();
    const auto open = [&] { return session_.state() == Session::State::open; };
    if (!examination_.wait([&] { return open() || closed(); }, options.connect_timeout))
        throw Failed{"no connection within " + duration_text(options.connect_timeout), true};
    if (!open()) throw Failed{explain(session_.end(), session_.tls()), false, session_.end()};
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
        if (!is_stream_) queue(std::exchange(bytes, {}));
    }
    if (is_stream_) queue(bytes);
    session_.flush();
}

void Connection::expect_all(std::span<const std::string> payloads) {
    std::string bytes;
    for (const std::string& each : payloads) {
        bytes += examination_.reply(each);
        if (!is_stream_) expect(std::exchange(bytes, {}));
    }
    if (is_stream_) expect(bytes);
}

std::vector<std::string> Connection::flood() {
    std::vector<std::string> payloads;
    pause(true);
    for (int i = 0; i < 16 && session_.pending() == 0; ++i) {
        payloads.resize(payloads.size() + 1024, std::string(1024, "abcdefg"[i % 7]));
        send_all(std::span(payloads).last(1024));
        for (std::size_t before = ~std::size_t{0};
             std::exchange(before, session_.pending()) > before;)
            examination_.sleep(20ms);
    }
    return payloads;
}

void Connection::expect(std::string_view reply) {
    const auto ended = [&] { return closed() || session_.input_ended(); };
    examination_.wait([&] { return has_reply(reply.size()) || ended(); });
    const bool whole = has_reply(reply.size());
    const std::size_t size = sizes_.empty() ? reply.size() : sizes_.front();
    const std::string came = received_.substr(0, size);
    if (!whole || came != reply) throw failure(reply, came);
    received_.erase(0, size);
    if (!sizes_.empty()) sizes_.pop_front();
    unanswered_ -= std::min(unanswered_, size);
    if (is_stream_ && received_.size() > unanswered_)
        throw Failed{bytes_text(received_.size() + excess_ - unanswered_) +
                     " more came than were sent"};
}

void Connection::expect_end() {
    if (!examination_.wait([&] { return closed(); }))
        throw Failed{"the server did not close within " +
                         duration_text(examination_.options().reply_timeout),
                     true};
    if (session_.end().reason != bufio::Reason::clean) throw Failed{session_.end().text};
    if (!received_.empty()) throw Failed{bytes_text(received_.size() + excess_) + " more came"};
}

void Connection::session_unsolicited(std::string_view payload) {
    // A server that floods must neither fill our memory nor keep a check waiting.
    if (received_.size() > unanswered_ + max_excess) {
        excess_ += payload.size();
        return;
    }
    examination_.trace(number_, "received", payload);
    ++examination_.received_count_;
    received_ += payload;
    if (!is_stream_) sizes_.push_back(payload.size());
}

bool Connection::has_reply(std::size_t size) const {
    return is_stream_ ? received_.size() >= size : !sizes_.empty();
}

Failed Connection::failure(std::string_view reply, std::string_view came) {
    const Framing& framing = *examination_.options().framing;
    const Reply bad = compared_reply(nullptr, reply, came, {});
    if (came.size() > reply.size() || !reply.starts_with(came))
        return {"the reply differs " + bad_byte_text(bad),
                false,
                {},
                reply_hint(framing, reply, bad)};
    const std::string counts =
        std::to_string(came.size()) + " of " + bytes_text(reply.size()) + " came";
    if (closed() && session_.end().reason != bufio::Reason::clean)
        return {explain(session_.end(), session_.tls()) + "; " + counts};
    if (closed() || session_.input_ended())
        return {"the server closed the connection; " + counts};
    const std::string limit =
        examination_.over() ? " in time"
                            : " within " + duration_text(examination_.options().reply_timeout);
    std::string text = (came.empty() ? "no reply" : counts) + limit;
    if (!came.empty() && came.size() + framing.delimiter.size() == reply.size())
        text += ", without " + framing.delimiter_name();
    return {text, true};
}

// --- The examination.

Examination::Examination(ev::Loop& loop, Session::Options options, ev::Duration limit,
                         bool tracing)
    : loop_(loop),
      options_(std::move(options)),
      end_(loop.read_clock() + limit),
      tick_(loop, [] {}),
      tracing_(tracing) {}

// Later connections need no look-up, and must not delay the examination.
Connection& Examination::connect() {
    connections_.push_back(std::make_unique<Connection>(*this, options_));
    Connection& made = *connections_.back();
    options_.connect_timeout = std::min(options_.connect_timeout, options_.reply_timeout);
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

void Examination::sleep(ev::Duration duration) {
    const ev::Time until = loop_.read_clock() + duration;
    wait([&] { return loop_.read_clock() >= until; }, duration);
}

void Examination::reset() {
    connections_.clear();
    trace_.clear();
    late_ = false;
}

void Examination::trace(std::size_t connection, const char* verb, std::string_view bytes) {
    if (!tracing_ || trace_.size() == max_trace) return;
    trace_.push_back(std::to_string(connection) + " " + verb + " " + bytes_text(bytes.size()) +
                     ": " + excerpt(bytes.substr(0, 256), bytes.size()));
}

}  // namespace yodel
