// Sends a line to the chat server, if there is one to send, and prints the first line that it
// receives.    usage: client HOST PORT PIN [LINE]
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "ev/loop.hpp"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

class Client : public bufio::Stream::Owner {
public:
    Client(ev::Loop& loop, const bufio::Endpoint& server, const std::string& pin,
           std::string line)
        : loop_(loop),
          host_(server.host),
          tls_(bufio::TlsContext::client({.pins = {pin}})),
          line_(std::move(line)),
          dialer_(loop, server,
                  [this](bufio::DialResult result) { dialed(std::move(result)); }) {}

    const bufio::End& end() const { return end_; }

private:
    void dialed(bufio::DialResult result) {
        if (!result.socket) return leave(result.end);
        stream_.emplace(loop_, tls_.connect(std::move(result.socket), host_), *this);
        stream_->write(line_);  // sent after the handshake
    }

    void stream_changed(bufio::Stream& stream) override {
        const std::size_t size = stream.received().find('\n') + 1;
        if (size > 0 && !stream.is_finishing()) {
            std::fwrite(stream.received().data(), 1, size, stdout);
            stream.finish(std::chrono::seconds(10));  // the time limit for the server to close
        }
        if (stream.is_finishing()) stream.consume(stream.received().size());
        if (stream.end()) leave(stream.end());
    }

    void leave(const bufio::End& end) {
        end_ = end;
        loop_.stop();
    }

    ev::Loop& loop_;
    const std::string host_;
    const bufio::TlsContext tls_;
    const std::string line_;
    bufio::End end_;
    std::optional<bufio::Stream> stream_;
    bufio::Dialer dialer_;
};

int main(int argc, char* argv[]) {
    if (argc < 4) return 2;
    ev::Loop loop;
    const std::string line = argc > 4 ? argv[4] + std::string("\n") : "";
    Client client(loop, {.host = argv[1], .service = argv[2]}, argv[3], line);
    loop.run();
    if (client.end().reason == bufio::Reason::clean) return 0;
    std::fprintf(stderr, "client: %s\n", client.end().text().c_str());
    return 1;
}
