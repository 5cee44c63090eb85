// Where signals come in. The handler counts each signal and wakes every loop by its self-pipe;
// the counts, not the pipes, carry the signals, so a flood of one can't displace another.
#pragma once

namespace ev {

// The self-pipe of a loop: readable after any signal that is caught in this process.
class WakePipe {
public:
    WakePipe();  // throws std::system_error
    ~WakePipe();
    WakePipe(const WakePipe&) = delete;

    int descriptor() const { return ends_[0]; }
    void drain();  // to be done before the signals are asked whether they were raised

private:
    int ends_[2];
};

// One use of a signal. The first in the process takes the disposition, the last gives it back.
class CaughtSignal {
public:
    explicit CaughtSignal(int signo);  // throws std::system_error
    ~CaughtSignal();
    CaughtSignal(const CaughtSignal&) = delete;

    bool raised();  // since it was created or asked last

private:
    const int signo_;
    unsigned seen_;  // of the signal's count
};

}  // namespace ev
