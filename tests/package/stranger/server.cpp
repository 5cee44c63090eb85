// An echo server: returns all bytes of each connection until the peer closes its side.
#include "bufio/address.hpp"
#include "bufio/listen.hpp"
#include "bufio/lookup.hpp"
#include "bufio/stream.hpp"
#include "ev/loop.hpp"

#include <csignal>
#include <cstdio>
#include <list>
#include <utility>

class Server : public bufio::Stream::User {
public:
    Server(ev::Loop& loop, const bufio::Address& address)
        : loop_(loop),
          listener_(loop, address, [this](bufio::Fd socket, const bufio::Address&) {
              streams_.emplace_back(loop_, bufio::make_plain_transport(std::move(socket)),
                                    *this);
          }) {
        std::printf("%d\n", listener_.address().port());
        std::fflush(stdout);
    }

private:
    void stream_changed(bufio::Stream& stream) override {
        const std::string_view bytes = stream.received();
        // If a peer reads nothing, the output fills up and write() refuses. Back-pressure
        // stops the peer.
        if (stream.write(bytes)) stream.consume(bytes.size());
        if (stream.input_ended() && stream.received().empty()) stream.finish();
        if (stream.end()) streams_.remove_if([&](auto& each) { return &each == &stream; });
    }

    ev::Loop& loop_;
    std::list<bufio::Stream> streams_;
    bufio::Listener listener_;
};

int main() {
    ev::Loop loop;
    ev::Signal terminate(loop, SIGTERM, [&] { loop.stop(); });
    const bufio::Endpoint here{.host = "127.0.0.1", .service = "0", .passive = true};
    Server server(loop, bufio::look_up(here).addresses.at(0));
    loop.run();
}
