#include "bufio/address.hpp"
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"
#include "tests/bench/echo_entrant.hpp"

#include <sys/socket.h>

#include <memory>
#include <optional>

namespace {

// A connection that destroys itself at its end.
class Echo final : public bufio::Stream::User {
public:
    Echo(ev::Loop& loop, std::unique_ptr<bufio::Transport> transport)
        : stream_(loop, std::move(transport), *this) {}

    void stream_changed(bufio::Stream& stream) override {
        if (stream.write(stream.received())) stream.consume(stream.received().size());
        if (stream.input_ended()) stream.finish();
        if (stream.end()) delete this;
    }

private:
    bufio::Stream stream_;
};

void serve(int listening, const Certificate& certificate) {
    ev::Loop loop;
    std::optional<bufio::TlsContext> tls;
    if (!certificate.file.empty())
        tls = bufio::TlsContext::server({certificate.file, certificate.key, {}});
    const ev::Watch watch(loop, listening, ev::readable, [&](ev::Events) {
        bufio::Fd socket(::accept(listening, nullptr, nullptr));
        bufio::prepare_socket(socket.get(), AF_INET);
        new Echo(loop, tls ? tls->accept(std::move(socket))
                           : bufio::make_plain_transport(std::move(socket)));
    });
    loop.run();
}

}  // namespace

void add_stream_server(std::vector<EchoEntrant>& entrants) {
    entrants.push_back({"bufio streams", serve, true});
}
