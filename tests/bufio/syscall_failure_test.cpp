// Whole conversations, plain and over TLS. System calls move one byte at a time or fail from a
// certain call on, or a certain allocation fails, for each position in turn.
#include "bufio/dial.hpp"
#include "bufio/listen.hpp"

#include "tests/bufio/pair.hpp"
#include "tests/bufio/system.hpp"

using namespace test;

namespace {

const std::string question = pattern(1000);
const std::string answer = pattern(40000);  // several records

// Each side sends its text, receives until the end and destroys its stream.
struct Conversation : Pair {
    explicit Conversation(bool tls) : Pair(make_transports(tls)) {
        begin(near, question, near_end);
        begin(far, answer, far_end);
        ended = run_until([&] { return near_end && far_end; });
    }
    static void begin(Taker& side, const std::string& sent, bufio::End& end) {
        side.on_change = [&](Stream& stream) {
            side.take(stream);
            end = stream.end();
            if (end) side.stream.reset();
        };
        side.stream->write(sent);
        side.stream->finish();
    }
    bool clean() const {
        return near_end.reason == Reason::clean && far_end.reason == Reason::clean;
    }

    bufio::End near_end, far_end;
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
             << (sending ? "send " : "recv ") << position << ": " << talk.near_end.text()
             << "; " << talk.far_end.text());
        REQUIRE(talk.ended);
        CHECK(talk.clean() == !failed);
        CHECK(question.starts_with(talk.far.got));
        CHECK(answer.starts_with(talk.near.got));
        CHECK(talk.near_end.text().find("Success") == std::string::npos);
        CHECK(talk.far_end.text().find("Success") == std::string::npos);
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
