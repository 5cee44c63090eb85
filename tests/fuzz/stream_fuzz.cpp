// The input controls a stream's transport and its user. No byte is lost or invented, the
// limits hold, the end is reported once, and the loop does not spin.
#include "bufio/fd.hpp"
#include "bufio/stream.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>

using namespace bufio;

namespace {

// Returns the bytes of the input, then zeros.
struct Source {
    const std::uint8_t* data;
    std::size_t left;
    bool broken = false;  // a write has failed; reading ignores the water marks
    unsigned next() {
        if (left == 0) return 0;
        --left;
        return *data++;
    }
};

class FuzzedTransport final : public Transport {
public:
    FuzzedTransport(Source& source, Fd fd) : source_(source), fd_(std::move(fd)) {}

    int descriptor() const override { return fd_.get(); }
    bool buffers_input() const override { return buffers_; }

    IoResult handshake() override {
        const IoStatus status = outcome();
        return status == IoStatus::end_of_input ? fail(failure_end()) : result(status, 0);
    }
    IoResult read(char* to, std::size_t size) override {
        const IoStatus status = outcome();
        buffers_ = status == IoStatus::done && source_.next() % 2 == 0;
        if (status != IoStatus::done) return result(status, 0);
        const std::size_t count = std::min<std::size_t>(size, 1 + source_.next() * 300);
        for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<char>(given++);
        return {status, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        const IoStatus status = outcome();
        source_.broken |= status == IoStatus::failed;
        if (status != IoStatus::done)
            return result(status == IoStatus::end_of_input ? IoStatus::wants_write : status, 0);
        const std::size_t count = std::min<std::size_t>(size, 1 + source_.next() * 300);
        for (std::size_t i = 0; i < count; ++i) assert(from[i] == static_cast<char>(taken++));
        return {status, count};
    }
    IoResult close_output() override {
        const IoStatus status = outcome();
        source_.broken |= status == IoStatus::failed;
        return result(status == IoStatus::end_of_input ? IoStatus::wants_write : status, 0);
    }

    std::size_t given = 0;  // bytes read so far; each byte's value is its index
    std::size_t taken = 0;

private:
    IoStatus outcome() {
        constexpr IoStatus often[] = {IoStatus::done,        IoStatus::done,
                                      IoStatus::done,        IoStatus::wants_read,
                                      IoStatus::wants_write, IoStatus::end_of_input,
                                      IoStatus::failed};
        return often[source_.next() % std::size(often)];
    }
    static End failure_end() { return {.reason = Reason::receive, .what = "fuzzed"}; }
    IoResult result(IoStatus status, std::size_t count) {
        return status == IoStatus::failed ? fail(failure_end()) : IoResult{status, count};
    }

    Source& source_;
    Fd fd_;
    bool buffers_ = false;
};

void poke(const Fd& fd) { [[maybe_unused]] const ssize_t count = ::write(fd.get(), "x", 1); }

constexpr Stream::Limits limits{5000, 1000, 20000};
// Maximum bytes by which one read may exceed the high-water mark.
constexpr std::size_t max_excess = 64 * 1024;

class Side final : public Stream::Owner {
public:
    explicit Side(Source& source) : source_(source) {}

    void stream_changed(Stream& stream) override {
        assert(!reported_end_);
        reported_end_ = static_cast<bool>(stream.end());
        act(stream);
    }

    void act(Stream& stream) {
        const unsigned choice = source_.next();
        assert(source_.broken || stream.received().size() <= limits.input_high + max_excess);
        const std::string_view bytes = stream.received();
        const std::size_t count = std::min<std::size_t>(bytes.size(), choice * 300);
        for (std::size_t i = 0; i < count; ++i) assert(bytes[i] == static_cast<char>(seen_++));
        stream.consume(count);
        if (choice % 3 == 0) write(stream, source_.next() * 100);
        if (choice == 250) stream.finish();
        if (choice == 251) stream.abort();
    }

private:
    void write(Stream& stream, std::size_t size) {
        std::string bytes(size, '\0');
        for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(sent_ + i);
        if (stream.write(bytes)) sent_ += size;
        assert(stream.pending() <= limits.output);
    }

    Source& source_;
    bool reported_end_ = false;
    std::size_t seen_ = 0;
    std::size_t sent_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Source source{data, size, false};
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
    for (const int end : ends) ::fcntl(end, F_SETFL, O_NONBLOCK);
    const Fd other(ends[1]);
    ev::Loop loop;
    Side user(source);
    Stream stream(loop, std::make_unique<FuzzedTransport>(source, Fd(ends[0])), user, limits);
    while (source.left > 0 && !stream.end()) {
        const unsigned choice = source.next();
        if (choice % 4 == 0) poke(other);
        if (choice % 4 == 1) user.act(stream);
        loop.step(ev::Duration::zero());
    }
    return 0;
}
