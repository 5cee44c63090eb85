// A chat server with TLS: sends each line that it receives to all clients. Prints its port and
// the pin of its key.
#include "bufio/address.hpp"
#include "bufio/dial.hpp"
#include "bufio/listen.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <list>
#include <memory>
#include <utility>

struct Client {
    Client(ev::Loop& loop, std::unique_ptr<bufio::Transport> transport,
           bufio::Stream::Owner& owner)
        : stream(loop, std::move(transport), owner, {.output = 1024 * 1024}),
          deadline(loop, [this] { stream.abort(); }) {
        deadline.start(std::chrono::seconds(10));
    }

    bufio::Stream stream;
    ev::Timer deadline;  // limit for the handshake
};

class Server : public bufio::Stream::Owner {
public:
    Server(ev::Loop& loop, const bufio::Address& address)
        : loop_(loop),
          listener_(loop, address, [this](bufio::Fd socket, const bufio::Address&) {
              clients_.emplace_back(loop_, tls_.accept(std::move(socket)), *this);
          }) {
        std::printf("%d %s\n", listener_.address().port(), tls_.pin().c_str());
        std::fflush(stdout);
    }

private:
    static constexpr std::size_t max_line = 4096;  // bytes

    void stream_changed(bufio::Stream& stream) override {
        const auto client = std::find_if(clients_.begin(), clients_.end(),
                                         [&](auto& each) { return &each.stream == &stream; });
        if (stream.is_open()) client->deadline.cancel();
        while (const std::size_t size = stream.received().find('\n') + 1) {
            send_to_all(stream.received().substr(0, size));
            stream.consume(size);
        }
        if (stream.received().size() > max_line) stream.abort();
        if (stream.input_ended()) stream.finish();
        if (stream.end()) clients_.erase(client);
    }

    // Drops a client that reads too slowly: its output is full.
    void send_to_all(std::string_view line) {
        for (Client& each : clients_)
            if (!each.stream.write(line)) each.stream.abort();
    }

    ev::Loop& loop_;
    const bufio::TlsContext tls_ = bufio::TlsContext::server();
    std::list<Client> clients_;
    bufio::Listener listener_;
};

int main() {
    ev::Loop loop;
    ev::Signal terminate(loop, SIGTERM, [&] { loop.stop(); });
    const bufio::Endpoint here{.host = "127.0.0.1", .service = "0", .is_passive = true};
    Server server(loop, bufio::look_up(here).addresses.at(0));
    loop.run();
}
