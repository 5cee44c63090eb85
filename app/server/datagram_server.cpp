#include "app/server/datagram_server.hpp"

#include "app/text/units.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

namespace yodel {

using bufio::Datagram;
using bufio::DatagramSocket;

namespace {

constexpr int privileged_ports = 1024;  // ports below this number

// Time that a reordered answer waits for the next answer.
constexpr ev::Duration reordering_time = std::chrono::milliseconds(100);

std::uint64_t key_of(const Datagram& datagram) {
    const std::hash<std::string_view> hash;
    const std::string_view peer(reinterpret_cast<const char*>(&datagram.peer.storage),
                                datagram.peer.size);
    return hash(datagram.bytes) * 0x9e3779b97f4a7c15 + hash(peer);
}

}  // namespace

class DatagramServer::Port final : private DatagramSocket::User {
public:
    Port(DatagramServer& server, const bufio::Address& address)
        : server_(server),
          faulty_(server.options_.faults.any() || server.options_.faults.reorder > 0),
          dice_(server.options_.faults, 0),
          due_timer_(server.loop_, [this] { send_due(); }),
          socket_(server.loop_, address, *this) {}

    const bufio::Address& address() const { return socket_.address(); }
    std::uint64_t refused() const { return socket_.refused(); }
    void stop_receiving() { socket_.pause_reading(true); }
    bool has_pending() const {
        return !held_.empty() || !reordered_.empty() || socket_.pending() > 0;
    }

private:
    struct Answer {
        std::string bytes;
        bufio::Address to;
        bufio::Address from;
        bool reordered;  // to be sent after the next one
    };

    void datagrams_received(std::span<const Datagram> datagrams) override {
        for (const Datagram& each : datagrams) take(each);
    }
    void datagrams_written() override { server_.report_drained(); }

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
            send(datagram.bytes, datagram.peer, datagram.local);
        }
    }

    void log(const Datagram& datagram, const char* refusal) {
        const std::string size = "datagram of " + bytes_text(datagram.bytes.size());
        server_.log_({datagram.peer.text(),
                      refusal ? size + ", not answered: " + refusal
                              : size + ": " + excerpt(datagram.bytes, datagram.bytes.size())});
    }

    void send(std::string_view bytes, const bufio::Address& to, const bufio::Address& from) {
        Counters& counters = server_.counters_;
        const bool accepted = socket_.send(bytes, to, from);
        ++(accepted ? counters.datagrams_out : counters.datagrams_dropped);
        if (accepted) counters.datagram_bytes_out += bytes.size();
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
        send(answer.bytes, answer.to, answer.from);
        send_reordered();
    }

    void send_reordered() {
        while (!reordered_.empty()) {
            const Answer answer = reordered_.pop();
            send(answer.bytes, answer.to, answer.from);
        }
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
        socket_.flush();
        server_.report_drained();
    }

    DatagramServer& server_;
    const bool faulty_;
    FaultDice dice_;
    DelayQueue<Answer> held_;
    DelayQueue<Answer> reordered_;  // held until another answer is sent
    ev::Timer due_timer_;
    DatagramSocket socket_;
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

Counters DatagramServer::counters() const {
    Counters sum = counters_;
    for (const auto& port : ports_) {
        sum.datagrams_out -= port->refused();
        sum.datagrams_dropped += port->refused();
    }
    return sum;
}

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
