// Runs a client on a loop until it ends, by itself or by a signal.
#pragma once

#include "app/process/sandbox.hpp"
#include "bufio/lookup.hpp"
#include "ev/loop.hpp"

#include <csignal>
#include <optional>
#include <vector>

namespace yodel {

// Records the first of the signals that end a program.
class EndingSignals {
public:
    template <class Leave>
    EndingSignals(ev::Loop& loop, Leave leave) {
        for (const int number : {SIGINT, SIGTERM, SIGHUP})
            signals_.emplace_back(loop, number, [this, leave, number] {
                if (signo_ == 0) signo_ = number;
                std::signal(SIGTTOU, SIG_IGN);  // the summary may be written in the background
                leave(signo_);
            });
    }
    int signo() const { return signo_; }

private:
    std::vector<ev::Signal> signals_;
    int signo_ = 0;
};

// Returns the exit status, and the signal that ended the client. With `busy` the loop never
// sleeps while a connection is open. Otherwise it only waits for the network and the clock, and
// waking up delays no round trip.
template <class Client>
int run_client(ev::Loop& loop, const typename Client::Options& options, bool busy, int& signo) {
    std::optional<Client> client;
    const EndingSignals ending(loop, [&](int number) { client->quit(number); });
    const ev::Signal continued(loop, SIGCONT, [&] { client->continued(); });
    client.emplace(loop, options);  // may take the terminal: signals are handled by now
    while (loop.step()) {
        client->turn_ended();
        loop.set_busy(busy && client->has_open_connection());
    }
    signo = ending.signo();
    return client->report();
}

// Returns the rights of a client that connects to the endpoint.
SandboxRules rules_to_connect(const bufio::Endpoint& endpoint);

}  // namespace yodel
