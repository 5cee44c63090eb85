#include "app/examine/examination.hpp"

#include "app/protocol/event.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

using namespace std::chrono_literals;

// Bytes and messages that a connection stores beyond the replies to what it has sent.
constexpr std::size_t max_excess = 1024 * 1024;
constexpr std::size_t max_messages = 100;

// Bursts of a flood, and messages in each. A burst must be smaller than the 64 KiB of a pipe,
// so that the last read of each is a short one.
constexpr int max_bursts = 16 * 1024 / 50;
constexpr int burst = 50;

}  // namespace

// --- A connection.

Connection::Connection(Examination& examination, Session::Options options)
    : examination_(examination),
      number_(examination.connections_.size() + 1),
      is_stream_(!options.endpoint.udp && !options.websocket),
      session_(examination.loop_, std::make_shared<const Session::Options>(std::move(options)),
               *this) {
    session_.connect();
    const Session::Options& target = examination.options();
    const ev::Time begun = examination.now();
    const auto open = [&] { return session_.state() == Session::State::open; };
    examination.wait([&] { return open() || closed(); }, target.connect_timeout + 1s);
    if (!target.max_time) examination.end_ += examination.now() - begun;
    const bufio::End& end = session_.end();
    const bool late = end.reason == bufio::Reason::timeout;
    const auto how = late ? Failed::How::silent : Failed::How::other;
    if (!open()) throw Failed{end_text(session_), how, end};
    // Later connections need no look-up.
    examination.options_.endpoint.known_addresses =
        std::make_shared<const std::vector<bufio::Address>>(1, session_.address());
}

void Connection::add(std::deque<std::string>& to, std::string_view bytes) const {
    if (to.empty() || !is_stream_) to.emplace_back();
    to.back() += bytes;
}

Connection& Connection::send(std::string_view bytes) {
    add(queue_, bytes);
    flush();
    return *this;
}

Connection& Connection::queue(std::string_view payload) {
    add(queue_, examination_.frame(payload));
    add(expected_, examination_.reply(payload));
    return *this;
}

void Connection::flush() {
    for (const std::string& each : queue_) {
        examination_.trace(number_, "sent", each);
        session_.send(each);
    }
    queue_.clear();
    session_.flush();
}

void Connection::expect() {
    flush();
    for (; !expected_.empty(); expected_.pop_front()) {
        const std::string& reply = expected_.front();
        const auto whole = [&] {
            return is_stream_ ? received().size() >= reply.size() : !received_.empty();
        };
        examination_.wait([&] { return whole() || ended(); });
        const std::string_view part =
            received().substr(0, is_stream_ ? reply.size() : received().npos);
        if (!whole() || part != reply) throw failure(reply, part);
        received_.front().erase(0, part.size());
        if (is_stream_) refuse_excess(reply);
        if (!is_stream_) received_.pop_front();
    }
}

void Connection::expect(std::string_view reply) {
    add(expected_, reply);
    expect();
}

Connection& Connection::echo(std::string_view payload) {
    queue(payload).expect();
    return *this;
}

Connection& Connection::flood(ev::Duration gap, ev::Duration patience) {
    pause(true);
    const ev::Time end = examination_.now() + 4s;
    ev::Time accepted_at = examination_.now();
    for (int bursts = 0;
         !closed() && examination_.now() < std::min(end, accepted_at + patience);) {
        const std::size_t before = session_.pending();
        if (before == 0 && ++bursts > max_bursts) break;
        for (int i = 0; before == 0 && i < burst; ++i)
            queue(std::string(1024, "abcdefg"[bursts % 7]));
        flush();
        examination_.sleep(before == 0 ? gap : 20ms);
        if (before == 0 || session_.pending() < before) accepted_at = examination_.now();
    }
    return *this;
}

void Connection::refuse_excess(std::string_view reply) const {
    if (received().empty()) return;
    throw Failed{.text = bytes_text(received().size()) + " more came than were sent",
                 .how = Failed::How::differs,
                 .expected = std::string(reply),
                 .received = std::string(received())};
}

void Connection::finish() {
    flush();
    session_.finish();
    expect();
    const bool in_time = examination_.wait([&] { return closed(); });
    refuse_excess({});
    const std::string limit = duration_text(examination_.options().reply_timeout);
    if (!in_time) throw Failed{"the server did not close within " + limit, Failed::How::silent};
    if (session_.end().reason != bufio::Reason::clean) throw Failed{end_text(session_)};
}

void Connection::session_event(const Event& event) {
    const std::string_view payload = event.reply.payload;
    if (event.fate != Fate::unsolicited) return;
    examination_.trace(number_, "received", payload);
    ++examination_.received_count_;
    add(received_, payload);
    // A server that floods must neither fill our memory nor keep a check waiting.
    const std::size_t owed = expected_.empty() ? 0 : expected_.front().size();
    if (received().size() > owed + max_excess ||
        received_.size() > expected_.size() + max_messages)
        leave();
}

Failed Connection::failure(std::string_view reply, std::string_view received) const {
    using How = Failed::How;
    const Framing& framing = *examination_.options().framing;
    const bufio::End& end = session_.end();
    if (closed() && exit_status(end) == connect_failed)  // datagrams are refused
        return {end_text(session_), How::other, end};
    const std::string count =
        std::to_string(received.size()) + " of " + bytes_text(reply.size()) + " came";
    Failed failed{count, How::differs, {}, std::string(reply), std::string(received)};
    if (!reply.starts_with(received)) {
        failed.text =
            "the reply differs " + bad_byte_text(compared_reply(nullptr, reply, received, {}));
    } else if (ended()) {
        failed.how = How::closed;
        const bool clean = !closed() || end.reason == bufio::Reason::clean;
        failed.text =
            (clean ? "the server closed the connection" : end_text(session_)) + "; " + count;
    } else if (is_stream_ || received_.empty()) {
        failed.how = How::silent;
        failed.text = (received.empty() ? "no reply" : count) + " within " +
                      duration_text(examination_.options().reply_timeout);
        if (!received.empty() && received.size() + framing.delimiter.size() == reply.size())
            failed.text += ", without " + framing.delimiter_name();
    }
    return failed;
}

// --- The examination.

Examination::Examination(ev::Loop& loop, Session::Options options, bool tracing)
    : loop_(loop),
      options_(std::move(options)),
      end_(loop.read_clock() + options_.max_time.value_or(15s)),
      tick_(loop, [] {}),
      max_trace_(tracing ? 20'000 : 0) {}

Connection& Examination::connect(bool raw) {
    Session::Options options = options_;
    if (raw) options.websocket.reset();
    // Bytes of a stream pass unchanged. The session itself expects no replies, and waits for a
    // server that stops reading.
    if (!options.endpoint.udp && !options.websocket) options.framing = find_framing("raw");
    options.expect = Expect::none;
    options.reply_timeout = 1h;
    options.max_time.reset();
    options.retries = 0;
    Connection& made =
        *connections_.emplace_back(std::make_unique<Connection>(*this, std::move(options)));
    if (is_stream() && !options_.framing->greeting.empty())
        made.expect(options_.framing->greeting);
    return made;
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
        late_ = late_ || lateness > 100ms;
        if (lateness > 100ms && !options_.max_time) end_ += lateness;
        if (received_count_ != before) deadline = loop_.read_clock() + limit;
    }
    return true;
}

void Examination::sleep(ev::Duration duration) {
    const ev::Time until = loop_.read_clock() + duration;
    wait([&] { return loop_.read_clock() >= until; }, duration);
}

void Examination::begin_check() {
    close_all();
    trace_.clear();
    late_ = false;
}

void Examination::trace(std::size_t connection, const char* verb, std::string_view bytes) {
    if (trace_.size() == max_trace_) return;
    trace_.push_back(std::to_string(connection) + " " + verb + " " + bytes_text(bytes.size()) +
                     ": " + excerpt(bytes.substr(0, 256), bytes.size()));
}

}  // namespace yodel
