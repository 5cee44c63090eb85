// Sends any bytes to a TLS client and a TLS server: a failed handshake has a reason.
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <cassert>
#include <cstdint>

using namespace bufio;

namespace {

class Side final : public Stream::Owner {
public:
    void stream_changed(Stream& stream) override {
        assert(!ended);
        ended = static_cast<bool>(stream.end());
        assert(!ended || !stream.end().text().empty());
        stream.consume(stream.received().size());
    }
    bool ended = false;
};

void talk(std::unique_ptr<Transport> transport, Fd other, const std::uint8_t* data,
          std::size_t size) {
    ev::Loop loop;
    Side user;
    Stream stream(loop, std::move(transport), user);
    [[maybe_unused]] const ssize_t sent = ::send(other.get(), data, size, MSG_NOSIGNAL);
    other.reset();
    for (int turn = 0; turn < 100 && !user.ended; ++turn) loop.step(ev::Duration::zero());
    assert(user.ended);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TlsContext server = TlsContext::server();
    static const TlsContext client = [] {
        TlsClientOptions options;
        options.pins = {server.pin()};
        return TlsContext::client(options);
    }();
    if (size < 1) return 0;
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
    for (const int end : ends) ::fcntl(end, F_SETFL, O_NONBLOCK);
    Fd socket(ends[0]);
    auto transport = data[0] % 2 == 0 ? server.accept(std::move(socket))
                                      : client.connect(std::move(socket), "localhost");
    talk(std::move(transport), Fd(ends[1]), data + 1, size - 1);
    return 0;
}
