#include "tests/simulation/relay.hpp"

#include "app/websocket/opening.hpp"
#include "tests/app/websocket/frames.hpp"
#include "tests/simulation/heap.hpp"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace simulation {

namespace {

constexpr std::size_t max_output = 64 * 1024;  // bytes at which reading pauses
constexpr unsigned fin = 0x80;
constexpr std::string_view mask = "\x37\xfa\x21\x3d";  // the mask that the client uses

enum Opcode : unsigned { continuation = 0, close = 8, ping = 9 };

}  // namespace

// A client's connection, and the relay's connection to the server.
class Relay::Pair {
public:
    Pair(Relay& relay, bufio::Fd client, bufio::Fd server)
        : relay_(relay),
          sides_{std::move(client), std::move(server)},
          slice_(relay.dice_.one_of<std::size_t>({1, 7, 300, max_output})) {
        for (const int side : {0, 1})
            watches_[side] = ev::Watch(relay.loop_, sides_[side].get(), ev::readable,
                                       [this](ev::Events) { relay_all(); });
    }

private:
    // The direction from one side to the other.
    struct Way {
        bool framed = false;  // the opening handshake was passed on; frames follow
        bool ended = false;   // nothing more is read
        bool shut = false;
        std::string input;
        std::string output;
    };

    void relay_all() {
        const Heap heap(Owner::tests);
        for (const int from : {0, 1}) {
            read(from);
            write(from);
        }
        if (ways_[0].shut && ways_[1].shut)
            return static_cast<void>(std::erase_if(
                relay_.pairs_, [this](const auto& pair) { return pair.get() == this; }));
        for (const int side : {0, 1}) {
            const bool reads = !ways_[side].ended && ways_[side].output.size() < max_output;
            const bool writes = !ways_[1 - side].output.empty();
            watches_[side].want((reads ? ev::readable : ev::none) |
                                (writes ? ev::writable : ev::none));
        }
    }

    void read(int from) {
        Way& way = ways_[from];
        if (way.ended || way.output.size() >= max_output) return;
        static char buffer[16 * 1024];
        const ssize_t count = ::recv(sides_[from].get(), buffer, sizeof buffer, 0);
        if (count < 0 && errno == EAGAIN) return;
        if (count > 0) {
            relay_.traffic_ += static_cast<std::uint64_t>(count);
            way.input.append(buffer, static_cast<std::size_t>(count));
            pass_on(way);
        } else {
            way.ended = true;
            way.output += std::exchange(way.input, {});
        }
    }

    void write(int from) {
        Way& way = ways_[from];
        const int to = sides_[1 - from].get();
        const std::size_t size =
            std::min(std::max(slice_, way.output.size() / 16), way.output.size());
        const ssize_t count = ::send(to, way.output.data(), size, MSG_NOSIGNAL);
        if (count > 0) {
            relay_.traffic_ += static_cast<std::uint64_t>(count);
            way.output.erase(0, static_cast<std::size_t>(count));
        } else if (count < 0 && errno != EAGAIN) {  // the receiving side is gone
            way.ended = true;
            way.output.clear();
        }
        if (!way.ended || !way.output.empty() || way.shut) return;
        ::shutdown(to, SHUT_WR);
        way.shut = true;
    }

    void pass_on(Way& way) {
        std::string_view left = way.input;
        if (!way.framed) {
            const auto size = yodel::websocket::opening_size(left);
            if (!size) return;
            way.framed = true;
            way.output += left.substr(0, *size);
            left.remove_prefix(*size);
        }
        way.input.erase(0, way.input.size() - left.size());
        for (const test::Frame& frame : test::decoded(way.input))
            if (!way.ended) pass_on(way, frame);
    }

    void pass_on(Way& way, const test::Frame& frame) {
        Dice& dice = relay_.dice_;
        const bool is_data = (frame.first & 0xf) < close;
        std::size_t fragments =
            is_data && dice.chance(0.4) ? 1 + dice.up_to(std::size_t{3}) : 1;
        unsigned opcode = frame.first & 0xf;
        for (std::size_t at = 0; fragments > 0; --fragments) {
            interpose(way);
            const std::size_t rest = frame.payload.size() - at;
            const std::size_t size = fragments == 1 ? rest : dice.up_to(rest);
            if (way.ended) break;
            append(way, opcode | (fragments == 1 ? fin : 0), frame.payload.substr(at, size));
            opcode = continuation;
            at += size;
        }
    }

    void append(Way& way, unsigned first, const std::string& payload) {
        way.output += test::encoded({first, payload}, &way == ways_ ? mask : "");
    }

    // Sometimes sends a ping, sends a close frame, or ends inside a frame.
    void interpose(Way& way) {
        Dice& dice = relay_.dice_;
        if (dice.chance(0.2))
            append(way, ping | fin, std::string(dice.up_to(std::size_t{125}), 'p'));
        if (relay_.plan_.calm || !dice.chance(0.02)) return;
        way.ended = true;
        if (dice.chance(0.3)) return way.output.resize(dice.up_to(way.output.size()));
        append(way, close | fin, dice.one_of<const char*>({"", "\3\350", "\3\351", "\3\363"}));
    }

    Relay& relay_;
    bufio::Fd sides_[2];  // client, server
    std::size_t slice_;   // bytes written together
    Way ways_[2];         // from the client, from the server
    ev::Watch watches_[2];
};

Relay::Relay(ev::Loop& loop, const Plan& plan, const bufio::Address& at,
             const bufio::Address& server)
    : loop_(loop),
      plan_(plan),
      dice_(plan.seed + 0x3e1a),
      server_(server),
      listener_(loop, at, [this](bufio::Fd client, const bufio::Address&) {
          accept(std::move(client));
      }) {}

Relay::~Relay() = default;

void Relay::accept(bufio::Fd client) {
    const Heap heap(Owner::tests);
    bufio::Fd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (::connect(server.get(), server_.get(), server_.size) != 0) return;
    pairs_.push_back(std::make_unique<Pair>(*this, std::move(client), std::move(server)));
}

}  // namespace simulation
