#include "app/server/server_threads.hpp"

#include "app/text/units.hpp"
#include "ev/threads/loop_thread.hpp"

#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace yodel {

using bufio::Address;
using bufio::Sharing;

namespace {

// Attempts to find a port that is free for connections and for datagrams.
constexpr int max_tries = 16;

// Lines of one thread that may wait to be logged.
constexpr std::size_t max_lines = 1024;

// Each thread has faults of its own.
template <class Options>
Options seeded(Options options, std::size_t thread) {
    options.faults.seed += thread;
    return options;
}

// Passes the lines of a thread on to the log of another one.
class LineRelay {
public:
    LineRelay(ev::Mailbox& to, const EchoServer::Log& log, std::size_t thread)
        : to_(to), log_(log), thread_(thread) {}

    void pass(const EchoServer::Event& line) {
        if (waiting_ >= max_lines) {
            ++left_out_;
            return;
        }
        ++waiting_;
        to_.post([this, line] {
            --waiting_;
            log_(line);
            const std::uint64_t count = left_out_.exchange(0);
            if (count > 0)
                log_({"thread " + std::to_string(thread_),
                      count_text(count, "line") + " left out: the log was overloaded"});
        });
    }

private:
    ev::Mailbox& to_;
    const EchoServer::Log& log_;
    const std::size_t thread_;
    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<std::uint64_t> left_out_ = 0;
};

}  // namespace

// The servers of one thread.
struct ServerThreads::Servers {
    Servers(ev::Loop& loop, const Options& options, const EchoServer::Log& log,
            std::size_t thread)
        : udp(options.udp),
          streams(loop, seeded(options.streams, thread), log),
          datagrams(loop, seeded(options.datagrams, thread), log) {}

    // Listens for connections and, with `udp`, for datagrams on the same port. A port that is
    // free for datagrams may be taken for connections: then try another one.
    Address listen(const Address& wanted, Sharing sharing) {
        if (!udp || wanted.family() == AF_UNIX) return streams.listen(wanted, sharing);
        for (int tries = 1;; ++tries) {
            const Address address = datagrams.listen(wanted, sharing);
            try {
                return streams.listen(address, sharing);
            } catch (const std::system_error& error) {
                datagrams.close_last();
                const bool any_port = wanted.port() == 0;
                if (!any_port || error.code().value() != EADDRINUSE || tries == max_tries)
                    throw;
            }
        }
    }

    // Calls back for each of the two servers.
    void drain(ev::Duration grace, const std::function<void()>& drained) {
        streams.drain(grace, drained);
        datagrams.drain(grace, drained);
    }

    Counters counters() const {
        Counters sum = streams.counters();
        sum.add(datagrams.counters());
        return sum;
    }

    const bool udp;
    EchoServer streams;
    DatagramServer datagrams;
};

// A further thread and its servers. Before start(), and once the thread has ended, they belong
// to the owner's thread.
class ServerThreads::Worker {
public:
    Worker(ServerThreads& owner, std::size_t thread)
        : thread_(*owner.mailbox_),
          lines_(*owner.mailbox_, owner.log_, thread),
          servers_(
              thread_.loop(), owner.options_,
              [this](const EchoServer::Event& line) { lines_.pass(line); }, thread) {}
    ~Worker() { thread_.join(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void start(bool busy) {
        thread_.start([this, busy] {
            thread_.loop().set_busy(busy && servers_.streams.connections() > 0);
        });
    }
    void post(std::function<void(Servers&)> call) {
        thread_.post([this, call = std::move(call)] { call(servers_); });
    }

    Servers& servers() { return servers_; }

private:
    ev::LoopThread thread_;
    LineRelay lines_;
    Servers servers_;
};

ServerThreads::ServerThreads(ev::Loop& loop, const Options& options, EchoServer::Log log)
    : loop_(loop),
      options_(options),
      log_(std::move(log)),
      count_(loop, [this] { add(servers_->counters()); }) {
    options_.streams.limit = std::make_shared<ConnectionLimit>(options.streams.max_connections);
    servers_ = std::make_unique<Servers>(loop, options_, log_, 0);
    if (options_.threads > 1) mailbox_.emplace(loop);
    for (std::size_t thread = 1; thread < options_.threads; ++thread)
        workers_.push_back(std::make_unique<Worker>(*this, thread));
}

ServerThreads::~ServerThreads() = default;

// With several threads, listens alone first and closes again, to find a free port and to
// refuse a port that another program shares.
Address ServerThreads::listen(const Address& wanted) {
    if (workers_.empty() || wanted.family() == AF_UNIX)
        return servers_->listen(wanted, Sharing::alone);
    const Address address = Servers(loop_, options_, log_, 0).listen(wanted, Sharing::alone);
    servers_->listen(address, Sharing::together);
    for (const auto& worker : workers_) worker->servers().listen(address, Sharing::together);
    return address;
}

void ServerThreads::start() {
    for (const auto& worker : workers_) worker->start(options_.busy);
}

void ServerThreads::set_tls(const bufio::TlsContext& tls) {
    servers_->streams.set_tls(tls);
    for (const auto& worker : workers_)
        worker->post([tls](Servers& servers) { servers.streams.set_tls(tls); });
}

bool ServerThreads::has_open_connection() const { return servers_->streams.connections() > 0; }

void ServerThreads::drain(ev::Duration grace, std::function<void()> drained) {
    drained_ = std::move(drained);
    undrained_ = 2 * (1 + workers_.size());  // each thread has two servers
    servers_->drain(grace, [this] { one_drained(); });
    for (const auto& worker : workers_)
        worker->post([this, grace](Servers& servers) {
            servers.drain(grace, [this] { mailbox_->post([this] { one_drained(); }); });
        });
}

void ServerThreads::one_drained() {
    if (--undrained_ == 0) drained_();
}

void ServerThreads::count(std::function<void(const Counters&)> counted) {
    counted_ = std::move(counted);
    if (uncounted_ > 0) return;
    uncounted_ = 1 + workers_.size();
    sum_ = {};
    count_.start(ev::Duration::zero());
    for (const auto& worker : workers_)
        worker->post([this](Servers& servers) {
            mailbox_->post([this, counters = servers.counters()] { add(counters); });
        });
}

void ServerThreads::add(const Counters& counters) {
    sum_.add(counters);
    if (--uncounted_ == 0) counted_(sum_);
}

}  // namespace yodel
