// Drives two streams over UDP with the fuzz input. Checks that only sent datagrams arrive, in
// order and whole, and that the end of each stream is reported at most once.
#include "bufio/packets.hpp"
#include "bufio/stream.hpp"

#include <netinet/in.h>

#include <cassert>
#include <cstdint>
#include <deque>
#include <string>

using namespace bufio;

namespace {

// Returns the bytes of the input, then zeros.
struct Source {
    const std::uint8_t* data;
    std::size_t left;
    unsigned next() {
        if (left == 0) return 0;
        --left;
        return *data++;
    }
};

constexpr std::size_t max_output = 20'000;

class Side final : public Stream::Owner {
public:
    Side(Source& source, std::deque<std::string>& expected, std::deque<std::string>& sent)
        : source_(source), expected_(expected), sent_(sent) {}

    void open(ev::Loop& loop, std::unique_ptr<Transport> transport) {
        Stream::Owner& owner = *this;
        stream = std::make_unique<Stream>(loop, std::move(transport), owner,
                                          Stream::Limits{1000, 500, max_output});
    }
    void stream_changed(Stream&) override {
        assert(!ended_);
        ended_ = static_cast<bool>(stream->end());
        for (;;) {
            const std::string_view bytes = stream->received();
            if (bytes.size() < 2) break;
            const std::size_t high = static_cast<unsigned char>(bytes[0]);
            const std::size_t size = 2 + (high << 8 | static_cast<unsigned char>(bytes[1]));
            stream->set_min_readable(size);
            if (bytes.size() < size) break;
            const std::string frame(bytes.substr(0, size));
            while (!expected_.empty() && expected_.front() != frame) expected_.pop_front();
            assert(!expected_.empty());
            expected_.pop_front();
            stream->consume(size);
            if (source_.next() % 2 == 0) send(frame);
        }
        act();
    }

    void act() {
        const unsigned choice = source_.next();
        const std::size_t size = choice * 17;
        if (choice % 4 == 0)
            send(std::string{static_cast<char>(size >> 8), static_cast<char>(size)} +
                 std::string(size, static_cast<char>(choice)));
        if (choice % 16 == 2) stream->pause_reading(choice % 32 == 2);
        assert(stream->pending() <= max_output);
    }

    std::unique_ptr<Stream> stream;

private:
    void send(const std::string& frame) {
        if (stream->write(frame)) sent_.push_back(frame);
    }

    Source& source_;
    std::deque<std::string>& expected_;
    std::deque<std::string>& sent_;
    bool ended_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Source source{data, size};
    ev::Loop loop;
    std::deque<std::string> there;
    std::deque<std::string> back;
    Side server(source, there, back);
    Side client(source, back, there);
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Fd bound = bound_datagram_socket({reinterpret_cast<const sockaddr*>(&any), sizeof any});
    Address address = Address::of_socket(bound.get());
    Fd connected = open_socket(AF_INET, true);
    if (::connect(connected.get(), address.get(), address.size) != 0) return 0;
    Address peer = Address::of_socket(connected.get());
    server.open(loop, make_packet_transport(std::move(bound), peer, false));
    client.open(loop, make_packet_transport(std::move(connected), address));
    while (source.left > 0 && !client.stream->end()) {
        const unsigned choice = source.next();
        if (choice % 4 == 0) client.act();
        if (choice % 4 == 1) server.act();
        loop.step(ev::Duration::zero());
    }
    return 0;
}
