// Sends a text and prints the answer.    usage: client HOST PORT TEXT
#include "bufio/dial.hpp"
#include "bufio/stream.hpp"
#include "ev/loop.hpp"

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

class Client : public bufio::Stream::User {
public:
    Client(ev::Loop& loop, const bufio::Endpoint& server, std::string text)
        : loop_(loop),
          text_(std::move(text)),
          dialer_(loop, server,
                  [this](bufio::DialResult result) { dialed(std::move(result)); }) {}

    const bufio::End& end() const { return end_; }

private:
    void dialed(bufio::DialResult result) {
        if (!result.socket) return leave(result.end);
        stream_.emplace(loop_, bufio::make_plain_transport(std::move(result.socket)), *this);
        stream_->write(text_);
        stream_->finish(std::chrono::seconds(10));  // the time limit for the server to close
    }

    void stream_changed(bufio::Stream& stream) override {
        const std::string_view bytes = stream.received();
        std::fwrite(bytes.data(), 1, bytes.size(), stdout);
        stream.consume(bytes.size());
        if (stream.end()) leave(stream.end());
    }

    void leave(const bufio::End& end) {
        end_ = end;
        loop_.stop();
    }

    ev::Loop& loop_;
    const std::string text_;
    bufio::End end_;
    std::optional<bufio::Stream> stream_;
    bufio::Dialer dialer_;
};

int main(int argc, char* argv[]) {
    if (argc != 4) return 2;
    ev::Loop loop;
    Client client(loop, {.host = argv[1], .service = argv[2]}, argv[3]);
    loop.run();
    if (client.end().reason == bufio::Reason::clean) return 0;
    std::fprintf(stderr, "client: %s\n", client.end().text.c_str());
    return 1;
}
