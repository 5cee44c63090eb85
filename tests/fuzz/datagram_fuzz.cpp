// Drives a UDP server and a connected client with the fuzz input. Checks that only sent
// datagrams arrive, in order, that the queue stays within its limit, and that the end of each
// socket is reported at most once.
#include "bufio/datagram.hpp"

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

constexpr std::size_t queue_limit = 20'000;

class Side final : public DatagramSocket::User {
public:
    Side(Source& source, std::deque<std::string>& expected, std::deque<std::string>& sent)
        : source_(source), expected_(expected), sent_(sent) {}

    void datagrams_received(std::span<const Datagram> datagrams) override {
        assert(!ended_ && !datagrams.empty());
        for (const Datagram& each : datagrams) {
            while (!expected_.empty() && !matches(each)) expected_.pop_front();
            assert(!expected_.empty());
            expected_.pop_front();
            if (source_.next() % 2 == 0) send(each.bytes, each.peer, each.local);
        }
        act();
    }
    void datagrams_ended() override {
        assert(!ended_ && socket->end());
        ended_ = true;
    }

    void act() {
        const unsigned choice = source_.next();
        if (choice % 4 == 0)
            send(std::string(choice * 17, static_cast<char>(choice)), peer, {});
        if (choice % 4 == 1) socket->flush();
        if (choice % 16 == 2) socket->pause_reading(choice % 32 == 2);
        assert(socket->pending_bytes() <= queue_limit);
    }

    std::unique_ptr<DatagramSocket> socket;
    Address peer;

private:
    bool matches(const Datagram& datagram) const { return expected_.front() == datagram.bytes; }
    void send(std::string_view bytes, const Address& to, const Address& from) {
        if (socket->send(bytes, to, from)) sent_.emplace_back(bytes);
    }

    Source& source_;
    std::deque<std::string>& expected_;
    std::deque<std::string>& sent_;
    bool ended_ = false;
};

Address any_loopback_port() {
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return {reinterpret_cast<const sockaddr*>(&name), sizeof name};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Source source{data, size};
    ev::Loop loop;
    std::deque<std::string> there;
    std::deque<std::string> back;
    Side server(source, there, back);
    Side client(source, back, there);
    const DatagramSocket::Limits limits{.output = queue_limit, .batch = source.next() % 65};
    server.socket = std::make_unique<DatagramSocket>(loop, any_loopback_port(), server, limits);
    Fd fd = open_datagram_socket(AF_INET);
    const Address& address = server.socket->address();
    if (::connect(fd.get(), address.get(), address.size) != 0) return 0;
    client.socket = std::make_unique<DatagramSocket>(loop, std::move(fd), client, limits);
    server.peer = client.socket->address();
    while (source.left > 0 && !client.socket->end()) {
        const unsigned choice = source.next();
        if (choice % 4 == 0) client.act();
        if (choice % 4 == 1) server.act();
        loop.step(ev::Duration::zero());
    }
    return 0;
}
