#include "app/server/datagram_port.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <string_view>
#include <utility>

namespace yodel {

using bufio::Datagram;

namespace {

constexpr int first_unprivileged_port = 1024;

// Longest time that a reordered answer waits for the next answer.
constexpr ev::Duration reordering_time = std::chrono::milliseconds(100);
constexpr ev::Duration receive_pause = std::chrono::seconds(1);

// Maximum memory of delayed answers, in bytes. At this limit, further answers are dropped.
constexpr std::size_t default_max_held = 16 * 1024 * 1024;

}  // namespace

unsigned LoopGuard::count(std::uint64_t key, ev::Time now) {
    Entry* const row = &entries_[key % rows * ways];
    const auto is_over = [&](const Entry& entry) { return now - entry.counted_at >= second; };
    Entry* found = std::find_if(row, row + ways, [&](const Entry& entry) {
        return entry.key == key && entry.count > 0 && !is_over(entry);
    });
    if (found == row + ways) {  // replaces an expired entry, or the one with the fewest repeats
        found = std::min_element(row, row + ways, [&](const Entry& a, const Entry& b) {
            return (is_over(a) ? 0 : a.count) < (is_over(b) ? 0 : b.count);
        });
        *found = {.key = key, .counted_at = now, .count = 0};
    }
    if (++found->count > max_repeats) found->counted_at = now;
    return found->count;
}

EchoServer::DatagramPort::DatagramPort(EchoServer& server, const bufio::Address& address)
    : server_(server),
      options_(server.options_),
      is_faulty_(options_.faults.any() || options_.faults.reorder > 0),
      dice_(options_.faults, 0),
      timer_(server.loop_, [this] { advance(); }),
      socket_(bufio::bound_datagram_socket(address)),
      watch_(server.loop_, socket_.descriptor(), ev::readable,
             [this](ev::Events) { advance(); }) {}

void EchoServer::DatagramPort::stop_receiving() {
    is_stopped_ = true;
    update_interest();
}

// Reads nothing while the system accepts no answers. The system's receive buffer then limits
// the memory.
void EchoServer::DatagramPort::advance() {
    send_due();
    if (!is_blocked() && !is_stopped_ && resume_at_ <= server_.loop_.now()) {
        const std::span<const Datagram> datagrams = socket_.receive();
        if (datagrams.empty() && !bufio::would_block(errno))
            resume_at_ = server_.loop_.after(receive_pause);
        for (const Datagram& each : datagrams) take(each);
        send_batch();
        if (is_faulty_) send_due();
    }
    update_interest();
    server_.report_drained();
}

void EchoServer::DatagramPort::update_interest() {
    const bool is_paused = resume_at_ > server_.loop_.now();
    watch_.want(is_blocked()               ? ev::writable
                : is_stopped_ || is_paused ? ev::none
                                           : ev::readable);
    ev::Time next_at = std::min(held_.first_due_at(), reordered_.first_due_at());
    if (is_paused) next_at = std::min(next_at, resume_at_);
    if (next_at != ev::Time::max() && !is_blocked()) timer_.start_at(next_at);
}

void EchoServer::DatagramPort::take(const Datagram& datagram) {
    Counters& counters = server_.counters_;
    ++counters.datagrams_in;
    counters.datagram_bytes_in += datagram.bytes.size();
    const char* const why = options_.may_answer_all ? nullptr : refusal(datagram);
    if (options_.is_verbose) {
        const std::size_t size = datagram.bytes.size();
        server_.log_(datagram.peer.text(), "datagram of " + bytes_text(size) +
                                               (why ? std::string(", not answered: ") + why
                                                    : ": " + excerpt(datagram.bytes, size)));
    }
    if (why) {
        ++counters.datagrams_unanswered;
    } else if (is_faulty_) {
        answer_faultily(datagram);
    } else {
        batch_.push_back({datagram.bytes, &datagram.peer, &datagram.local});
    }
}

// Returns why the datagram must not be answered, or null. Logs the start of a loop.
const char* EchoServer::DatagramPort::refusal(const Datagram& datagram) {
    const bufio::Address& peer = datagram.peer;
    if (datagram.is_to_group) return "sent to a broadcast or multicast address";
    if (peer.is_group() || peer.is_wildcard())
        return "sent from a broadcast or multicast address";
    if (peer.port() < first_unprivileged_port) return "sent from a privileged port";
    for (const auto& port : server_.datagram_ports_)
        if (port->address().port() == peer.port() &&
            (is_same_host(peer, datagram.local) || is_same_host(peer, port->address())))
            return "sent by this server";
    const std::hash<std::string_view> hash;
    const std::string_view sender(reinterpret_cast<const char*>(&peer.storage), peer.size);
    const std::uint64_t key = hash(datagram.bytes) * 0x9e3779b97f4a7c15 + hash(sender);
    const unsigned count = loop_guard_.count(key, server_.loop_.now());
    if (count <= LoopGuard::max_repeats) return nullptr;
    if (count == LoopGuard::max_repeats + 1)
        server_.log_(peer.text(),
                     "the same " + bytes_text(datagram.bytes.size()) + " arrived more than " +
                         std::to_string(LoopGuard::max_repeats) +
                         " times within a second; not answered, because this may be a loop");
    return "possible loop";
}

// Keeps copies of the answers that the system does not accept now. Drops each answer that the
// system refuses.
void EchoServer::DatagramPort::send_batch() {
    Counters& counters = server_.counters_;
    std::span<const bufio::Packet> left(batch_);
    while (!left.empty()) {
        const std::size_t count = socket_.send(left);
        if (count == 0 && bufio::would_block(errno)) break;
        if (count == 0) ++counters.datagrams_dropped;
        counters.datagrams_out += count;
        for (std::size_t i = 0; i < count; ++i)
            counters.datagram_bytes_out += left[i].bytes.size();
        left = left.subspan(std::max<std::size_t>(count, 1));
    }
    for (const bufio::Packet& each : left)
        held_.push({std::string(each.bytes), *each.to, *each.from, false}, blocked_at);
    batch_.clear();
}

// Every datagram draws the same number of random values, whatever happens to it.
void EchoServer::DatagramPort::answer_faultily(const Datagram& datagram) {
    const FaultDice::Plan plan = dice_.next();
    const bool is_reordered = dice_.draw(options_.faults.reorder);
    Answer answer{std::string(datagram.bytes), datagram.peer, datagram.local, is_reordered};
    const std::size_t copies = plan.is_duplicated ? 2 : 1;
    const std::size_t memory =
        held_.memory() + reordered_.memory() + copies * DelayQueue<Answer>::memory_of(answer);
    if (plan.is_dropped || memory > options_.max_buffer.value_or(default_max_held)) {
        ++server_.counters_.datagrams_dropped;
        return;
    }
    if (plan.is_corrupted)
        corrupt(answer.bytes.data(), answer.bytes.size(), plan.bit_choice, {});
    for (std::size_t i = 0; i < copies; ++i)
        held_.push(answer, server_.loop_.after(plan.delay));
}

// Sends the answers that are due. A reordered answer is sent after the next answer that is not
// reordered, or at its deadline if no such answer is due by then.
void EchoServer::DatagramPort::send_due() {
    const ev::Time now = server_.loop_.now();
    std::vector<Answer> due;
    const auto add_reordered = [&] {
        while (!reordered_.empty()) due.push_back(reordered_.pop());
    };
    while (held_.first_due_at() <= now) {
        const bool is_new = !is_blocked();
        Answer answer = held_.pop();
        if (answer.is_reordered) {
            reordered_.push(std::move(answer), server_.loop_.after(reordering_time));
            continue;
        }
        due.push_back(std::move(answer));
        if (is_new) add_reordered();
    }
    if (reordered_.first_due_at() <= now) add_reordered();
    for (const Answer& each : due) batch_.push_back({each.bytes, &each.to, &each.from});
    send_batch();
}

}  // namespace yodel
