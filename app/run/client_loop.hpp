// Runs a client on a loop until the client or a signal ends it.
#pragma once

#include "app/process/sandbox.hpp"
#include "app/protocol/session.hpp"
#include "bufio/lookup.hpp"
#include "ev/loop.hpp"

#include <csignal>
#include <optional>
#include <vector>

namespace yodel {

// Records the first signal that ends the program.
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

// Returns the exit status, and sets `signo` to the signal that ended the client.
template <class Client>
int run_client(ev::Loop& loop, const typename Client::Options& options, int& signo) {
    std::optional<Client> client;
    const EndingSignals ending(loop, [&](int number) { client->quit(number); });
    const ev::Signal continued(loop, SIGCONT, [&] { client->continued(); });
    client.emplace(loop, options);  // may set up the terminal, so handle signals first
    while (loop.step()) client->turn_ended();
    signo = ending.signo();
    return client->report();
}

// Returns the sandbox rules for a client that connects to the endpoint.
SandboxRules rules_to_connect(const bufio::Endpoint& endpoint);

}  // namespace yodel
