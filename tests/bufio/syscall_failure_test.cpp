// Whole conversations, plain and over TLS. System calls move one byte at a time or fail from a
// certain call on, or a certain allocation fails, for each position in turn.
#include "bufio/dial.hpp"
#include "bufio/listen.hpp"

#include "tests/bufio/out_of_memory.hpp"
#include "tests/bufio/pair.hpp"
#include "tests/bufio/system.hpp"

using namespace test;

namespace {

const std::string question = pattern(1000);
const std::string answer = pattern(40000);  // several records

// Sends its text, receives until the end and destroys its stream.
struct Side final : Stream::Owner {
    void open(ev::Loop& loop, std::unique_ptr<bufio::Transport> transport,
              const std::string& sent) {
        stream = std::make_unique<Stream>(loop, std::move(transport), *this);
        stream->write(sent);
        stream->finish();
    }
    void stream_changed(Stream& s) override {
        got += s.received();
        s.consume(s.received().size());
        end = s.end();
        if (end) stream.reset();
    }

    std::unique_ptr<Stream> stream;
    std::string got;
    bufio::End end;
};

struct Conversation {
    explicit Conversation(bool tls) {
        auto [one, other] = make_transports(tls);
        near.open(loop, std::move(one), question);
        far.open(loop, std::move(other), answer);
        ended = run_until(loop, [&] { return near.end && far.end; });
    }
    bool clean() const {
        return near.end.reason == Reason::clean && far.end.reason == Reason::clean;
    }

    ev::Loop loop;
    Side near;
    Side far;
    bool ended = false;
};

// Returns a fault that fails from call number `position` on.
auto failing(int position, int code, bool& failed) {
    return [position, code, &failed, call = 0](std::size_t size) mutable {
        if (++call < position) return static_cast<long>(size);
        failed = true;
        return -static_cast<long>(code);
    };
}

}  // namespace

TEST_CASE("reports a socket call that fails at any position, and receives no bad byte") {
    const bool tls = GENERATE(false, true);
    const bool sending = GENERATE(false, true);
    bool failed = true;
    for (int position = 1; failed; ++position) {
        failed = false;
        Faults faults;
        (sending ? faults.send : faults.recv) =
            failing(position, sending ? EPIPE : ECONNRESET, failed);
        const Conversation talk(tls);
        INFO((tls ? "TLS, " : "plain, ")
             << (sending ? "send " : "recv ") << position << ": " << talk.near.end.text()
             << "; " << talk.far.end.text());
        REQUIRE(talk.ended);
        CHECK(talk.clean() == !failed);
        CHECK(question.starts_with(talk.far.got));
        CHECK(answer.starts_with(talk.near.got));
        CHECK(talk.near.end.text().find("Success") == std::string::npos);
        CHECK(talk.far.end.text().find("Success") == std::string::npos);
    }
}

TEST_CASE("a conversation that runs out of memory leaves no descriptor open") {
    const bool tls = GENERATE(false, true);
    refuse_memory([&] {
        const Conversation talk(tls);
        if (!talk.ended || !talk.clean()) throw std::runtime_error("no clean end");
    });
}

TEST_CASE("dialing and listening that run out of memory leave no descriptor open") {
    bufio::Address where;
    const Fd listening = listen_somewhere(where, 1000);
    Faults faults;
    faults.resolve = [where](const std::string&) { return std::vector{where}; };
    bufio::Endpoint name;
    name.host = "somewhere";
    name.service = "7";
    refuse_memory([&] {
        ev::Loop loop;
        bool done = false;
        const bufio::Listener listener(loop, loopback(), [](Fd, const bufio::Address&) {});
        const bufio::Dialer dialer(loop, name, [&](bufio::DialResult dialed) {
            done = dialed.socket || dialed.end.text().ends_with(": out of memory");
        });
        if (!run_until(loop, [&] { return done; })) throw std::runtime_error("no end");
    });
}
