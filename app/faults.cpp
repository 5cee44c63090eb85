#include "app/faults.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace yodel {

using bufio::Stream;

namespace {

// A reply, and where in it the payload is.
struct Reply {
    std::string bytes;
    std::size_t payload = 0;
    std::size_t payload_size = 0;
    std::size_t used = 0;  // bytes received, that it answers
};

class FaultyEcho final : public Echo {
public:
    FaultyEcho(ev::Loop& loop, const Faults& faults, const Framing& framing, EchoLimits limits,
               std::uint64_t connection, std::function<void()> again)
        : loop_(loop),
          faults_(faults),
          framing_(framing),
          limits_(limits),
          decoder_(framing, most()),
          fates_(faults, connection),
          timer_(loop, std::move(again)) {}

    void greet(Stream& stream) override {
        stream.hold(faults_.no_read);
        stream.need_input(framing_.head(0).size() + limits_.buffer + framing_.delimiter.size());
        if (faults_.stall_handshake) return;
        if (framing_.kind == Framing::Kind::caret) stream.write(caret_greeting);
        stream.write(faults_.banner);
        if (faults_.half_close) stream.finish();
    }

    void answer(Stream& stream) override {
        if (faults_.stall_handshake) return stream.consume(stream.received().size());
        while (may_take() && take(stream)) {
        }
        const bool crowded = !may_take();
        send(stream);
        if (crowded && may_take()) timer_.start_at(loop_.now());
        leave_when_due(stream);
    }

    bool holds() const override { return !held_.empty(); }

private:
    struct Held {
        std::size_t memory() const { return sizeof *this + bytes.size(); }

        std::string bytes;
        std::size_t sent;
        ev::Time due;
    };

    // Of a message, which is held whole.
    std::size_t most() const { return std::min(limits_.message, limits_.buffer); }
    bool may_take() const { return !end_ && !all_taken() && held_bytes_ < limits_.buffer; }
    bool all_taken() const {
        return taken_ >= std::min(faults_.close_after.value_or(UINT64_MAX),
                                  faults_.reset_after.value_or(UINT64_MAX));
    }

    bool take(Stream& stream);
    std::optional<Reply> next_reply(std::string_view bytes, bool last);
    std::optional<Reply> next_caret(std::string_view bytes, bool last);
    void refuse();
    void hold(Reply reply);
    void send(Stream& stream);
    void leave_when_due(Stream& stream);

    ev::Loop& loop_;
    const Faults& faults_;
    const Framing& framing_;
    EchoLimits limits_;
    Decoder decoder_;
    Fates fates_;
    std::uint64_t taken_ = 0;     // messages
    std::deque<Held> held_;       // in the order of sending; the deadlines never decrease
    std::size_t held_bytes_ = 0;  // of memory for these
    ev::Timer timer_;             // until the first of them is due
};

// False if there is no whole message left.
bool FaultyEcho::take(Stream& stream) {
    const std::string_view bytes = stream.received();
    if (framing_.kind == Framing::Kind::caret)
        stream.consume(std::min(bytes.find('^'), bytes.size()));
    std::optional<Reply> reply = next_reply(stream.received(), stream.input_ended());
    if (!reply) return false;
    stream.consume(reply->used);
    ++taken_;
    hold(std::move(*reply));
    return true;
}

// `last`: nothing follows, and what is left counts as a message.
std::optional<Reply> FaultyEcho::next_reply(std::string_view bytes, bool last) {
    if (framing_.kind == Framing::Kind::caret) return next_caret(bytes, last);
    const Decoder::Cut cut = decoder_.next(bytes);
    if (cut.kind == Decoder::Cut::Kind::error) refuse();
    if (cut.kind == Decoder::Cut::Kind::message)
        return Reply{std::string(bytes.substr(0, cut.used)),
                     static_cast<std::size_t>(cut.payload.data() - bytes.data()),
                     cut.payload.size(), cut.used};
    if (end_ || !last || bytes.empty()) return std::nullopt;
    return Reply{std::string(bytes), 0, bytes.size(), bytes.size()};
}

// The bytes are none, or begin with a caret.
std::optional<Reply> FaultyEcho::next_caret(std::string_view bytes, bool last) {
    const std::size_t end = std::min(bytes.find('$'), bytes.size());
    const std::size_t used = std::min(end + 1, bytes.size());
    if (end > most() + 1) refuse();
    if (end_ || bytes.empty() || (end == used && !last)) return std::nullopt;
    std::string reply = caret_reply(bytes.substr(1, end - 1));
    const std::size_t size = reply.size();
    return Reply{std::move(reply), 0, size, used};
}

void FaultyEcho::refuse() {
    const char* const name = limits_.buffer < limits_.message ? "buffer" : "frame";
    end_ = {bufio::Reason::limit, "a message is over the limit of " + std::to_string(most()) +
                                      " (--max-" + name + ")"};
}

void FaultyEcho::hold(Reply reply) {
    const Fates::Fate fate = fates_.next();
    if (fate.drop) return;
    if (fate.corrupt)
        corrupt(reply.bytes.data() + reply.payload, reply.payload_size, fate.place,
                framing_.delimiter);
    const ev::Time earliest = held_.empty() ? ev::Time{} : held_.back().due;
    const ev::Time due = std::max(earliest, loop_.after(fate.delay));
    for (int copies = fate.dup ? 2 : 1; copies > 0; --copies) {
        held_.push_back({reply.bytes, 0, due});
        held_bytes_ += held_.back().memory();
    }
}

// A chunk waits until the system has taken the one before, or both would go as one.
void FaultyEcho::send(Stream& stream) {
    const std::size_t room = limits_.buffer;
    const std::size_t step = faults_.chunk > 0 ? std::min(faults_.chunk, room) : room;
    while (!held_.empty() && held_.front().due <= loop_.now()) {
        Held& first = held_.front();
        if (stream.pending() > 0) return;
        const std::string_view piece = std::string_view(first.bytes).substr(first.sent, step);
        if (!stream.write(piece)) return;
        first.sent += piece.size();
        if (first.sent == first.bytes.size()) {
            held_bytes_ -= first.memory();
            held_.pop_front();
        }
        if (faults_.chunk > 0) break;
    }
    if (!held_.empty()) timer_.start_at(std::max(held_.front().due, loop_.now()));
}

void FaultyEcho::leave_when_due(Stream& stream) {
    if (!all_taken() || holds() || stream.pending() > 0 || !stream.open()) return;
    if (faults_.reset_after) return stream.abort();
    end_ = {bufio::Reason::aborted, "closed after " + std::to_string(taken_) + " messages"};
}

}  // namespace

bool Faults::any() const {
    return delay > ev::Duration::zero() || jitter > ev::Duration::zero() || drop > 0 ||
           corrupt > 0 || dup > 0 || chunk > 0 || close_after || reset_after || half_close ||
           no_read || stall_handshake || !banner.empty();
}

// Every message costs as many numbers, so that its fate does not hang on those of others.
Fates::Fate Fates::next() {
    Fate fate{};
    fate.drop = fraction() < faults_.drop;
    fate.dup = fraction() < faults_.dup;
    fate.corrupt = fraction() < faults_.corrupt;
    fate.place = number();
    const double deviation = 2 * fraction() - 1;
    fate.delay =
        faults_.delay + std::chrono::duration_cast<ev::Duration>(faults_.jitter * deviation);
    return fate;
}

// SplitMix64: the same numbers with every standard library, in eight bytes of state.
std::uint64_t Fates::number() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

double Fates::fraction() { return static_cast<double>(number() >> 11) * 0x1p-53; }

void corrupt(char* payload, std::size_t size, std::uint64_t place, std::string_view reserved) {
    if (size == 0) return;
    char& byte = payload[place % size];
    for (unsigned bit = 0; bit < 8; ++bit) {
        const char turned = static_cast<char>(byte ^ (1 << ((place >> 32) + bit) % 8));
        if (reserved.find(turned) != std::string_view::npos) continue;
        byte = turned;
        return;
    }
}

std::unique_ptr<Echo> make_faulty_echo(ev::Loop& loop, const Faults& faults,
                                       const Framing& framing, EchoLimits limits,
                                       std::uint64_t connection, std::function<void()> again) {
    return std::make_unique<FaultyEcho>(loop, faults, framing, limits, connection,
                                        std::move(again));
}

}  // namespace yodel
