// Where signals come in: the handler sets a flag per signal and wakes the loop by its
// self-pipe. The flags, not the pipe, carry the signals, so a flood of one can't displace
// another.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace ev {

class SignalPort {
public:
    SignalPort();  // throws std::system_error: no pipe, or too many ports in this process
    ~SignalPort();
    SignalPort(const SignalPort&) = delete;
    SignalPort& operator=(const SignalPort&) = delete;

    // Counted. The process's disposition is taken with the first use of a signal in any port
    // and given back with the last.
    void use(int signo);
    void release(int signo);

    int descriptor() const { return pipe_[0]; }  // readable when something was raised
    bool raised() const { return raised_.load(std::memory_order_relaxed); }
    void acknowledge();    // to be called before the flags are taken
    bool take(int signo);  // whether it was raised since it was taken last

private:
    static void handle(int signo);
    void raise(int signo);

    int pipe_[2];
    std::array<int, NSIG> uses_{};
    std::array<std::atomic<bool>, NSIG> wanted_{};
    std::array<std::atomic<bool>, NSIG> pending_{};
    std::atomic<bool> raised_{false};
};

}  // namespace ev
