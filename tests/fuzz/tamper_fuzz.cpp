// An attacker between two TLS ends delays, cuts, drops, repeats and changes bytes. Each end
// receives a prefix of the other's bytes, and its connection ends with a reason.
#include "bufio/stream.hpp"
#include "bufio/tls.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>

using namespace bufio;

namespace {

const std::string question(3000, 'q');
const std::string answer(40000, 'a');  // several records

class Side final : public Stream::Owner {
public:
    Side(ev::Loop& loop, std::unique_ptr<Transport> transport, const std::string& expected,
         const std::string& sent)
        : expected_(expected), stream_(loop, std::move(transport), *this) {
        stream_.write(sent);
        stream_.finish();
    }
    void stream_changed(Stream& stream) override {
        const std::string_view bytes = stream.received();
        assert(bytes == std::string_view(expected_).substr(got_, bytes.size()));
        got_ += bytes.size();
        stream.consume(bytes.size());
        assert(!stream.end() || !stream.end().text().empty());
        assert(stream.end().reason != Reason::clean || got_ == expected_.size());
    }
    bool ended() const { return static_cast<bool>(stream_.end()); }

private:
    const std::string& expected_;
    std::size_t got_ = 0;
    Stream stream_;
};

// Connected sockets: the stream's and the attacker's.
struct Pair {
    Fd end;
    Fd ours;
    Pair() {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
        for (const int fd : ends) ::fcntl(fd, F_SETFL, O_NONBLOCK);
        end.reset(ends[0]);
        ours.reset(ends[1]);
    }
};

void send(const Fd& to, const char* bytes, std::size_t size) {
    [[maybe_unused]] const ssize_t sent = ::send(to.get(), bytes, size, MSG_NOSIGNAL);
}

// Forwards or damages some bytes, as `whim` selects.
void carry(Fd& from, Fd& to, unsigned whim, unsigned where) {
    char bytes[16384];
    const std::size_t most = whim % 8 == 0 ? 1 + where * 16u : sizeof bytes;
    const ssize_t count = ::recv(from.get(), bytes, most, 0);
    if (count == 0) ::shutdown(to.get(), SHUT_WR);
    if (count <= 0) return;
    const auto size = static_cast<std::size_t>(count);
    if (whim % 8 == 1) bytes[where * 64u % size] ^= static_cast<char>(1u << (whim / 32));
    if (whim % 8 == 2) return;
    if (whim % 8 == 3) send(to, bytes, std::min<std::size_t>(size, where));
    send(to, bytes, size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TlsContext server = TlsContext::server();
    static const TlsContext client = [] {
        TlsClientOptions options;
        options.pins = {server.pin()};
        return TlsContext::client(options);
    }();
    ev::Loop loop;
    Pair near;
    Pair far;
    if (!near.ours || !far.ours) return 0;
    const Side one(loop, client.connect(std::move(near.end), "localhost"), answer, question);
    const Side other(loop, server.accept(std::move(far.end)), question, answer);
    for (std::size_t turn = 0; turn < size + 100 && !(one.ended() && other.ended()); ++turn) {
        const unsigned whim = turn < size ? data[turn] : 4;
        const unsigned where = turn + 1 < size ? data[turn + 1] : 0;
        carry(near.ours, far.ours, whim, where);
        carry(far.ours, near.ours, whim / 2, where);
        loop.step(ev::Duration::zero());
    }
    near.ours.reset();
    far.ours.reset();
    for (int turn = 0; turn < 20 && !(one.ended() && other.ended()); ++turn)
        loop.step(ev::Duration::zero());
    assert(one.ended() && other.ended());
    return 0;
}
