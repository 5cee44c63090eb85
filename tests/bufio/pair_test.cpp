// Tests the behavior that streams have on plain sockets and over TLS alike.
#include "tests/bufio/pair.hpp"

#include "tests/bufio/system.hpp"
#include "tests/support/allocations.hpp"

using namespace test;

namespace {

// A pair of open streams, with or without TLS.
struct OpenPair : Pair {
    explicit OpenPair(bool tls, Stream::Limits limits = {})
        : Pair(make_transports(tls), limits) {
        REQUIRE(opened());
    }
};

// Does not consume until take_all() is called.
void hold(Taker& taker) {
    taker.on_change = [](Stream&) {};
}

}  // namespace

TEST_CASE("each side closes its output when it likes, and then both end cleanly") {
    Pair pair(make_transports(GENERATE(false, true)));
    pair.near.stream->write("question");  // before the handshake is done
    pair.near.stream->finish();
    REQUIRE(pair.run_until([&] { return pair.far.stream->input_ended(); }));
    CHECK(pair.far.got == "question");
    CHECK(pair.near.stream->output_closed());
    run_pending(pair.loop);
    CHECK_FALSE(pair.near.stream->end());
    const std::string answer = pattern(100000);
    pair.far.stream->write(answer);
    pair.far.stream->finish();
    REQUIRE(pair.run_until([&] { return pair.near.ends && pair.far.ends; }));
    CHECK((pair.near.got == answer));
    CHECK(pair.near.reason() == Reason::clean);
    CHECK(pair.far.reason() == Reason::clean);
}

TEST_CASE("close() sends the last bytes and a clean end") {
    OpenPair pair(GENERATE(false, true));
    pair.near.stream->write("last words");
    pair.near.stream->close();
    pair.near.stream.reset();
    REQUIRE(pair.run_until([&] { return pair.far.stream->input_ended(); }));
    CHECK(pair.far.got == "last words");
    CHECK(pair.far.reason() != Reason::truncated);
}

TEST_CASE("finish() times out if the peer does not close in time") {
    OpenPair pair(GENERATE(false, true));
    pair.near.stream->finish(1ms);
    REQUIRE(pair.run_until([&] { return pair.near.ends == 1; }));
    CHECK(pair.near.reason() == Reason::timeout);
}

TEST_CASE("a flood costs no more memory than the high-water mark and one read") {
    OpenPair pair(GENERATE(false, true), {256 * 1024, 64 * 1024, 64 * 1024 * 1024});
    hold(pair.near);
    const std::string bytes = pattern(4 * 1024 * 1024);
    pair.far.stream->write(bytes);
    run_pending(pair.loop, 100);
    CHECK(pair.near.stream->received().size() > 256 * 1024);
    CHECK(pair.near.stream->received().size() <= (256 + 64) * 1024);
    pair.near.take_all();
    REQUIRE(pair.run_until([&] { return pair.near.got.size() == bytes.size(); }));
    CHECK((pair.near.got == bytes));
}

TEST_CASE("two streams with both directions full resume when one side reads") {
    OpenPair pair(GENERATE(false, true));
    const std::string bytes = pattern(4 * 1024 * 1024);
    for (Taker* const side : {&pair.near, &pair.far}) hold(*side);
    for (Taker* const side : {&pair.near, &pair.far}) CHECK(side->stream->write(bytes));
    run_pending(pair.loop, 200);
    CHECK(pair.near.stream->pending() > 0);
    CHECK(pair.far.stream->pending() > 0);
    for (Taker* const side : {&pair.near, &pair.far}) {
        side->take_all();
        REQUIRE(pair.run_until([&] { return side->got.size() == bytes.size(); }));
        CHECK((side->got == bytes));
    }
}

TEST_CASE("an echo takes one call to read and one to write, and allocates nothing") {
    OpenPair pair(GENERATE(false, true));
    pair.echo();
    pair.near.got.reserve(1000);
    std::optional<Faults> faults;
    std::size_t before = 0;
    for (std::size_t i = 1; i <= 110; ++i) {
        if (i == 11) faults.emplace();
        if (i == 11) before = allocations.count;
        pair.near.stream->write("ping");
        while (pair.near.got.size() < 4 * i && pair.loop.step(patience)) {
        }
    }
    CHECK(allocations.count == before);
    CHECK(faults->recv_calls == 200);
    CHECK(faults->send_calls == 200);
}

TEST_CASE("reads a MiB in few calls") {
    OpenPair pair(GENERATE(false, true));
    const Faults faults;
    const std::string bytes = pattern(1024 * 1024);
    CHECK(pair.far.stream->write(bytes));
    REQUIRE(pair.run_until([&] { return pair.near.got.size() == bytes.size(); }));
    CHECK(faults.recv_calls <= 100);
}
