#include "app/server/server_threads.hpp"

#include "app/text/units.hpp"

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
constexpr int max_attempts = 16;

// Lines of one thread that may wait to be logged.
constexpr std::size_t max_lines = 1024;

// Adds the thread's number to the seed, so that threads do not draw the same faults.
template <class Options>
Options seeded(Options options, std::size_t thread) {
    options.faults.seed += thread;
    return options;
}

// Passes the lines of a thread on to the log of the owner's thread.
class LineRelay {
public:
    // `owner`: null if it is the same thread.
    LineRelay(ev::Mailbox* owner, const EchoServer::Log& log, std::size_t thread)
        : owner_(owner), log_(log), thread_(thread) {}

    void pass(const EchoServer::Event& line) {
        if (!owner_) return log_(line);
        if (waiting_ >= max_lines) {
            ++dropped_lines_;
            return;
        }
        ++waiting_;
        owner_->post([this, line] {
            --waiting_;
            log_(line);
            const std::uint64_t count = dropped_lines_.exchange(0);
            if (count > 0)
                log_({"thread " + std::to_string(thread_),
                      count_text(count, "line") + " dropped, because the log was overloaded"});
        });
    }

private:
    ev::Mailbox* const owner_;
    const EchoServer::Log& log_;
    const std::size_t thread_;
    std::atomic<std::size_t> waiting_ = 0;
    std::atomic<std::uint64_t> dropped_lines_ = 0;
};

}  // namespace

// The servers of one thread.
struct ServerThreads::Servers {
    // `owner`: null on the owner's thread.
    Servers(ev::Loop& loop, const Options& options, const EchoServer::Log& log,
            std::size_t thread = 0, ev::Mailbox* owner_mailbox = nullptr)
        : udp(options.udp),
          owner(owner_mailbox),
          lines(owner, log, thread),
          streams(loop, seeded(options.streams, thread), relay()),
          datagrams(loop, seeded(options.datagrams, thread), relay()) {}

    EchoServer::Log relay() {
        return [this](const EchoServer::Event& line) { lines.pass(line); };
    }

    // Listens for connections and, with `udp`, for datagrams on the same port. If the system
    // chose a port that is taken for connections, tries another one.
    Address listen(const Address& wanted, Sharing sharing) {
        if (!udp || wanted.family() == AF_UNIX) return streams.listen(wanted, sharing);
        for (int attempt = 1;; ++attempt) {
            const Address address = datagrams.listen(wanted, sharing);
            try {
                return streams.listen(address, sharing);
            } catch (const std::system_error& error) {
                datagrams.close_last();
                const bool any_port = wanted.port() == 0;
                if (!any_port || error.code().value() != EADDRINUSE || attempt == max_attempts)
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
    ev::Mailbox* const owner;
    LineRelay lines;
    EchoServer streams;
    DatagramServer datagrams;
};

ServerThreads::ServerThreads(ev::Loop& loop, const Options& options, EchoServer::Log log)
    : loop_(loop),
      options_(options),
      log_(std::move(log)),
      count_timer_(loop, [this] { gather(); }) {
    options_.streams.limit = std::make_shared<ConnectionLimit>(options.streams.max_connections);
    servers_ = std::make_unique<ev::Crew<Servers>>(
        loop, options_.threads, [this](ev::Loop& own, std::size_t thread, ev::Mailbox* owner) {
            return std::make_unique<Servers>(own, options_, log_, thread, owner);
        });
}

ServerThreads::~ServerThreads() = default;

// With several threads, first listens exclusively and closes the port again, to find a free
// port and to refuse a port that another program shares.
Address ServerThreads::listen(const Address& wanted) {
    Servers& first = servers_->first();
    if (servers_->single_threaded() || wanted.family() == AF_UNIX)
        return first.listen(wanted, Sharing::exclusive);
    const Address address = Servers(loop_, options_, log_).listen(wanted, Sharing::exclusive);
    servers_->for_each_on_caller(
        [&](Servers& servers) { servers.listen(address, Sharing::shared); });
    return address;
}

void ServerThreads::start() {
    servers_->start([busy = options_.busy](ev::Loop& own, const Servers& servers) {
        own.set_busy(busy && servers.streams.connections() > 0);
    });
}

void ServerThreads::set_tls(const bufio::TlsContext& tls) {
    servers_->post_to_each([tls](Servers& servers) { servers.streams.set_tls(tls); });
}

bool ServerThreads::has_open_connection() const {
    return servers_->first().streams.connections() > 0;
}

void ServerThreads::drain(ev::Duration grace, std::function<void()> drained) {
    on_drained_ = std::move(drained);
    undrained_ = 2 * options_.threads;  // each thread has two servers
    servers_->post_to_each([this, grace](Servers& servers) {
        servers.drain(grace, [this, owner = servers.owner] {
            if (!owner) return server_drained();
            owner->post([this] { server_drained(); });
        });
    });
}

void ServerThreads::server_drained() {
    if (--undrained_ == 0) on_drained_();
}

void ServerThreads::count(std::function<void(const Counters&)> counted) {
    if (!on_counted_) count_timer_.start(ev::Duration::zero());
    on_counted_ = std::move(counted);
}

void ServerThreads::gather() {
    servers_->gather<Counters>(&Servers::counters, [this](const Counters& sum) {
        std::exchange(on_counted_, nullptr)(sum);
    });
}

}  // namespace yodel
