#include "app/server/datagram_server.hpp"

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

constexpr int privileged_ports = 1024;  // ports below this number

// Time that a reordered answer waits for the next answer.
constexpr ev::Duration reordering_time = std::chrono::milliseconds(100);
constexpr ev::Duration receive_pause = std::chrono::seconds(1);

std::uint64_t key_of(const Datagram& datagram) {
    const std::hash<std::string_view> hash;
    const std::string_view peer(reinterpret_cast<const char*>(&datagram.peer.storage),
                                datagram.peer.size);
    return hash(datagram.bytes) * 0x9e3779b97f4a7c15 + hash(peer);
}

}  // namespace

class DatagramServer::Port final {
public:
    Port(DatagramServer& server, const bufio::Address& address)
        : server_(server),
          faulty_(server.options_.faults.any() || server.options_.faults.reorder > 0),
          dice_(server.options_.faults, 0),
          due_timer_(server.loop_, [this] { send_due(); }),
          resume_timer_(server.loop_, [this] { update_interest(); }),
          socket_(bufio::bound_datagram_socket(address)),
          watch_(server.loop_, socket_.descriptor(), ev::readable,
                 [this](ev::Events) { advance(); }) {}

    const bufio::Address& address() const { return socket_.address(); }
    void stop_receiving() {
        stopped_ = true;
        update_interest();
    }
    bool has_pending() const {
        return !held_.empty() || !reordered_.empty() || !unsent_.empty();
    }

private:
    struct Answer {
        std::string bytes;
        bufio::Address to;
        bufio::Address from;
        bool reordered;  // to be sent after the next one
    };

    // Reads nothing while the system accepts no answers, so that its receive buffer bounds the
    // memory.
    void advance() {
        send_unsent();
        if (unsent_.empty() && !stopped_) receive();
        update_interest();
        server_.report_drained();
    }

    void update_interest() {
        ev::Events wanted = stopped_ || resume_timer_.pending() ? ev::none : ev::readable;
        if (!unsent_.empty()) wanted = ev::writable;
        watch_.want(wanted);
    }

    void receive() {
        const std::span<const Datagram> datagrams = socket_.receive();
        if (datagrams.empty() && !bufio::would_block(errno)) resume_timer_.start(receive_pause);
        for (const Datagram& each : datagrams) take(each);
        send_batch();
        send_unsent();
    }

    void take(const Datagram& datagram) {
        Counters& counters = server_.counters_;
        ++counters.datagrams_in;
        counters.datagram_bytes_in += datagram.bytes.size();
        const char* const refusal =
            server_.options_.reflect_any ? nullptr : server_.refusal(datagram);
        if (server_.options_.verbose) log(datagram, refusal);
        if (refusal) {
            ++counters.datagrams_unanswered;
        } else if (faulty_) {
            answer_faultily(datagram);
        } else {
            batch_.push_back({datagram.bytes, &datagram.peer, &datagram.local});
        }
    }

    void log(const Datagram& datagram, const char* refusal) {
        const std::string size = "datagram of " + bytes_text(datagram.bytes.size());
        server_.log_({datagram.peer.text(),
                      refusal ? size + ", not answered: " + refusal
                              : size + ": " + excerpt(datagram.bytes, datagram.bytes.size())});
    }

    // Keeps copies of the answers that the system does not accept now. Drops each answer that
    // it refuses.
    void send_batch() {
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
            unsent_.push_back({std::string(each.bytes), *each.to, *each.from, false});
        batch_.clear();
    }

    void send_unsent() {
        std::vector<Answer> answers;
        answers.swap(unsent_);
        for (const Answer& each : answers) batch_.push_back({each.bytes, &each.to, &each.from});
        send_batch();
    }

    // Every datagram draws the same number of random values, whatever happens to it.
    void answer_faultily(const Datagram& datagram) {
        const Faults& faults = server_.options_.faults;
        const FaultDice::Plan plan = dice_.next();
        const bool reordered = dice_.chance(faults.reorder);
        Answer answer{std::string(datagram.bytes), datagram.peer, datagram.local, reordered};
        const std::size_t copies = plan.dup ? 2 : 1;
        const std::size_t memory = held_.memory() + reordered_.memory() +
                                   copies * DelayQueue<Answer>::memory_of(answer);
        if (plan.drop || memory > server_.options_.max_held) {
            ++server_.counters_.datagrams_dropped;
            return;
        }
        if (plan.corrupt) corrupt(answer.bytes.data(), answer.bytes.size(), plan.place, {});
        for (std::size_t i = 0; i < copies; ++i) {
            if (plan.delay > ev::Duration::zero()) {
                held_.push(answer, server_.loop_.after(plan.delay));
            } else {
                deliver(answer);
            }
        }
        restart_timer();
    }

    void deliver(const Answer& answer) {
        if (answer.reordered)
            return reordered_.push(answer, server_.loop_.after(reordering_time));
        unsent_.push_back(answer);
        send_reordered();
    }

    void send_reordered() {
        while (!reordered_.empty()) unsent_.push_back(reordered_.pop());
    }

    void restart_timer() {
        const ev::Time next = std::min(held_.first_due(), reordered_.first_due());
        if (next != ev::Time::max()) due_timer_.start_at(next);
    }

    // Sends the answers that are due, and those held back for reordering if no later answer was
    // sent before their deadline.
    void send_due() {
        const ev::Time now = server_.loop_.now();
        while (held_.first_due() <= now) deliver(held_.pop());
        if (reordered_.first_due() <= now) send_reordered();
        restart_timer();
        send_unsent();
        update_interest();
        server_.report_drained();
    }

    DatagramServer& server_;
    const bool faulty_;
    FaultDice dice_;
    DelayQueue<Answer> held_;
    DelayQueue<Answer> reordered_;      // held until another answer is sent
    std::vector<bufio::Packet> batch_;  // answers that view received datagrams
    std::vector<Answer> unsent_;
    bool stopped_ = false;
    ev::Timer due_timer_;
    ev::Timer resume_timer_;  // ends a pause after a failure to receive
    bufio::PacketSocket socket_;
    ev::Watch watch_;
};

DatagramServer::DatagramServer(ev::Loop& loop, Options options, EchoServer::Log log)
    : loop_(loop),
      options_(std::move(options)),
      log_(std::move(log)),
      drain_timer_(loop, [this] { report_drained(); }),
      grace_timer_(loop, [this] {
          ports_.clear();
          report_drained();
      }) {}

DatagramServer::~DatagramServer() = default;

const bufio::Address& DatagramServer::listen(const bufio::Address& address) {
    ports_.push_back(std::make_unique<Port>(*this, address));
    return ports_.back()->address();
}

void DatagramServer::close_last() { ports_.pop_back(); }

void DatagramServer::drain(ev::Duration grace, std::function<void()> drained) {
    on_drained_ = std::move(drained);
    for (const auto& port : ports_) port->stop_receiving();
    drain_timer_.start(ev::Duration::zero());
    grace_timer_.start(grace);
}

void DatagramServer::report_drained() {
    if (!on_drained_) return;
    for (const auto& port : ports_)
        if (port->has_pending()) return;
    std::exchange(on_drained_, nullptr)();
}

const char* DatagramServer::refusal(const Datagram& datagram) {
    if (datagram.to_group) return "sent to a broadcast or multicast address";
    if (datagram.peer.is_multicast() || datagram.peer.is_wildcard())
        return "sent from a broadcast or multicast address";
    if (datagram.peer.port() < privileged_ports) return "sent from a privileged port";
    if (from_itself(datagram)) return "sent by this server";
    return loop_refusal(datagram);
}

bool DatagramServer::from_itself(const Datagram& datagram) const {
    for (const auto& port : ports_) {
        if (port->address().port() != datagram.peer.port()) continue;
        if (same_host(datagram.peer, datagram.local) ||
            same_host(datagram.peer, port->address()))
            return true;
    }
    return false;
}

const char* DatagramServer::loop_refusal(const Datagram& datagram) {
    const LoopGuard::Decision decision = loop_guard_.judge(key_of(datagram), loop_.now());
    if (decision == LoopGuard::Decision::answer) return nullptr;
    if (decision == LoopGuard::Decision::loop_begins)
        log_({datagram.peer.text(),
              "the same " + bytes_text(datagram.bytes.size()) + " arrived more than " +
                  std::to_string(LoopGuard::max_repeats) +
                  " times within a second; not answered, because this may be "
                  "a loop"});
    return "possible loop";
}

}  // namespace yodel
