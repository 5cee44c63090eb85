// A transport that follows a script, for outcomes that no socket produces on demand. It insists
// on the order of calls that bufio/transport.hpp demands.
#pragma once

#include "tests/bufio/fixture.hpp"

#include <deque>

namespace test {

// The outcome of one call. A `done` read returns the bytes; a `done` write takes their number.
struct Step {
    bufio::IoStatus status;
    std::string bytes = {};
    bufio::End end = {};  // with IoStatus::rejected or failed
    std::size_t held = 0;
};

// The future outcomes of a transport's calls, and their number. After the end of the
// script, a handshake is done, a read finds nothing, and a write takes everything.
struct Script {
    std::deque<Step> handshakes, reads, writes, closes;
    bool buffers_input = false;
    bool buffers_output = false;  // until the next write that is done
    std::size_t held = 0;
    int calls = 0;
    std::string written;  // bytes that writes have taken
};

class ScriptedTransport final : public bufio::Transport {
public:
    ScriptedTransport(Fd fd, Script& script) : fd_(std::move(fd)), script_(script) {}

    int descriptor() const override { return fd_.get(); }
    bool buffers_input() const override { return script_.buffers_input; }
    bool buffers_output() const override { return script_.buffers_output; }
    std::size_t held() const override { return script_.held; }

    bufio::IoResult handshake() override {
        const bufio::IoResult result = next(script_.handshakes, bufio::IoStatus::done);
        ready_ = result.status == bufio::IoStatus::done;
        return result;
    }

    bufio::IoResult read(char* to, std::size_t size) override {
        REQUIRE(ready_);
        if (script_.reads.empty()) return next(script_.reads, bufio::IoStatus::wants_read);
        const std::string bytes = script_.reads.front().bytes;
        REQUIRE(bytes.size() <= size);
        bytes.copy(to, size);
        return next(script_.reads, bufio::IoStatus::wants_read);
    }

    bufio::IoResult write(const char* from, std::size_t size) override {
        REQUIRE((ready_ && !closed_));
        const bool all = script_.writes.empty();
        bufio::IoResult moved = next(script_.writes, bufio::IoStatus::done);
        if (moved.status != bufio::IoStatus::done) return moved;
        script_.buffers_output = false;
        if (all) moved.count = size;
        REQUIRE(moved.count <= size);
        script_.written.append(from, moved.count);
        return moved;
    }

    bufio::IoResult close_output() override {
        REQUIRE((ready_ && !closed_));
        const bufio::IoResult result = next(script_.closes, bufio::IoStatus::done);
        closed_ = result.status == bufio::IoStatus::done;
        return result;
    }

private:
    bufio::IoResult next(std::deque<Step>& steps, bufio::IoStatus otherwise) {
        ++script_.calls;
        if (steps.empty()) return {otherwise};
        const Step step = steps.front();
        steps.pop_front();
        if (step.end) fail(step.end);
        script_.held = step.held;
        return {step.status, step.bytes.size()};
    }

    Fd fd_;
    Script& script_;
    bool ready_ = false;   // the handshake is done
    bool closed_ = false;  // the output
};

}  // namespace test
