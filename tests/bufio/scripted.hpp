// A transport that does what a test has written down, so that a stream meets what no socket can
// be made to do on demand.
#pragma once

#include "tests/bufio/fixture.hpp"

#include <deque>
#include <string>

namespace test {

// One outcome of a call. A read that is `done` brings the bytes, a write takes so many of them.
struct Step {
    bufio::Io io;
    std::string bytes = {};
    bufio::End end = {};  // with Io::failed
};

// What a transport is to do, in the hands of the test, and what was done. Where nothing more is
// written down, a handshake is done, a read finds nothing, and a write takes all.
struct Script {
    std::deque<Step> handshakes, reads, writes, closes;
    bool buffers_input = false;
    std::string log;      // a letter for each call: h, r, w, c
    std::string written;  // bytes taken
};

class ScriptedTransport final : public bufio::Transport {
public:
    ScriptedTransport(Fd fd, Script& script) : fd_(std::move(fd)), script_(script) {}

    int descriptor() const override { return fd_.get(); }
    bool buffers_input() const override { return script_.buffers_input; }

    bufio::Moved handshake() override { return next('h', script_.handshakes, bufio::Io::done); }

    bufio::Moved read(char* to, std::size_t size) override {
        if (script_.reads.empty()) return next('r', script_.reads, bufio::Io::wants_read);
        const std::string bytes = script_.reads.front().bytes;
        REQUIRE(bytes.size() <= size);
        bytes.copy(to, size);
        return next('r', script_.reads, bufio::Io::wants_read);
    }

    bufio::Moved write(const char* from, std::size_t size) override {
        const bool all = script_.writes.empty();
        bufio::Moved moved = next('w', script_.writes, bufio::Io::done);
        if (moved.io != bufio::Io::done) return moved;
        if (all) moved.count = size;
        REQUIRE(moved.count <= size);
        script_.written.append(from, moved.count);
        return moved;
    }

    bufio::Moved close_output() override { return next('c', script_.closes, bufio::Io::done); }

private:
    bufio::Moved next(char letter, std::deque<Step>& steps, bufio::Io otherwise) {
        script_.log += letter;
        if (steps.empty()) return {otherwise};
        const Step step = steps.front();
        steps.pop_front();
        if (step.io == bufio::Io::failed) return fail(step.end);
        return {step.io, step.bytes.size()};
    }

    Fd fd_;
    Script& script_;
};

}  // namespace test
