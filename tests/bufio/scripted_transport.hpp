// A transport that follows a script, for outcomes that no socket produces on demand.
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

// The future outcomes of a transport's calls, and a log of its calls. After the end of the
// script, a handshake is done, a read finds nothing, and a write takes everything.
struct Script {
    std::deque<Step> handshakes, reads, writes, closes;
    bool buffers_input = false;
    bool buffers_output = false;  // until the next write that is done
    std::size_t held = 0;
    std::string log;      // a letter for each call: h, r, w, c
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
        return next('h', script_.handshakes, bufio::IoStatus::done);
    }

    bufio::IoResult read(char* to, std::size_t size) override {
        if (script_.reads.empty()) return next('r', script_.reads, bufio::IoStatus::wants_read);
        const std::string bytes = script_.reads.front().bytes;
        REQUIRE(bytes.size() <= size);
        bytes.copy(to, size);
        return next('r', script_.reads, bufio::IoStatus::wants_read);
    }

    bufio::IoResult write(const char* from, std::size_t size) override {
        const bool all = script_.writes.empty();
        bufio::IoResult moved = next('w', script_.writes, bufio::IoStatus::done);
        if (moved.status != bufio::IoStatus::done) return moved;
        script_.buffers_output = false;
        if (all) moved.count = size;
        REQUIRE(moved.count <= size);
        script_.written.append(from, moved.count);
        return moved;
    }

    bufio::IoResult close_output() override {
        return next('c', script_.closes, bufio::IoStatus::done);
    }

private:
    bufio::IoResult next(char letter, std::deque<Step>& steps, bufio::IoStatus otherwise) {
        script_.log += letter;
        if (steps.empty()) return {otherwise};
        const Step step = steps.front();
        steps.pop_front();
        if (step.end) fail(step.end);
        script_.held = step.held;
        return {step.status, step.bytes.size()};
    }

    Fd fd_;
    Script& script_;
};

}  // namespace test
