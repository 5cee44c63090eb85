// Tests a stream with every outcome of a transport's calls.
#include "bufio/stream.hpp"

#include "tests/bufio/scripted_transport.hpp"
#include "tests/support/allocations.hpp"

using namespace test;
using bufio::End;
using bufio::IoStatus;

namespace {

// A stream on a scripted transport. Its descriptor is always writable, and readable after
// poke().
struct Scene {
    explicit Scene(Stream::Limits limits = {}) { begin(limits); }
    explicit Scene(Script first, Stream::Limits limits = {}) : script(std::move(first)) {
        begin(limits);
    }

    void begin(Stream::Limits limits) {
        auto [mine, theirs] = socket_pair();
        descriptor = mine.get();
        other = std::move(theirs);
        user.open(loop, std::make_unique<ScriptedTransport>(std::move(mine), script), limits);
    }

    void poke() { REQUIRE(::write(other.get(), "x", 1) == 1); }
    void take_back() {
        char byte;
        REQUIRE(::read(descriptor, &byte, 1) == 1);
    }
    bool run_until(std::function<bool()> condition) {
        return test::run_until(loop, std::move(condition));
    }
    Stream& stream() { return *user.stream; }

    ev::Loop loop;
    Script script;
    Fd other;
    int descriptor = -1;  // the stream's
    Taker user;
};

Script handshaking(std::deque<Step> steps) {
    Script script;
    script.handshakes = std::move(steps);
    return script;
}

Step data(std::string bytes) { return {IoStatus::done, std::move(bytes)}; }
Step taken(std::size_t count) { return {IoStatus::done, std::string(count, ' ')}; }
Step failure(Reason reason, std::string text) {
    return {IoStatus::failed, {}, End{reason, std::move(text)}};
}

}  // namespace

TEST_CASE("the handshake waits for the direction it requests, and then writing starts",
          "[stream]") {
    Scene scene(handshaking(
        {{IoStatus::wants_write}, {IoStatus::wants_read}, {IoStatus::wants_write}}));
    CHECK_FALSE(scene.stream().open());
    CHECK(scene.stream().write("early"));
    REQUIRE(scene.run_until([&] { return scene.script.log == "hh"; }));
    run_pending(scene.loop);
    CHECK(scene.script.log == "hh");  // no more call while there is nothing to read
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().open(); }));
    CHECK(scene.script.written == "early");
    CHECK(scene.script.log.substr(0, 5) == "hhhhw");
}

TEST_CASE("a client speaks first after a handshake that ended in reading", "[stream]") {
    Scene scene(handshaking({{IoStatus::wants_read}}));
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().open(); }));
    run_pending(scene.loop);
    CHECK(scene.stream().write("hello"));
    CHECK(scene.script.written == "hello");
}

TEST_CASE("what the peer sent with its part of the handshake comes before our output",
          "[stream]") {
    Script script = handshaking({{IoStatus::wants_read}});
    script.buffers_input = true;
    script.reads = {data("greeting")};
    Scene scene(std::move(script));
    scene.user.on_change = [&](Stream& stream) {
        if (stream.open() && stream.bytes_written() == 0) stream.write("hello");
    };
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.written == "hello"; }));
    CHECK(scene.script.log.starts_with("hhrw"));
}

TEST_CASE("after rejected input a stream writes, discards and ends for that reason",
          "[stream]") {
    const std::string how = GENERATE("the peer's end", "a reset", "the deadline", "our close");
    Scene scene;
    scene.script.reads = {{IoStatus::rejected, {}, End{Reason::limit, "too long"}},
                          {IoStatus::done},
                          {IoStatus::wants_read}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return static_cast<bool>(scene.stream().rejection()); }));
    CHECK(scene.stream().input_ended());
    CHECK(scene.stream().open());
    CHECK(scene.user.calls == 1);
    CHECK(scene.stream().write("reply"));
    run_pending(scene.loop);
    CHECK(scene.user.ends == 0);
    CHECK(scene.script.written == "reply");
    if (how == "the peer's end") scene.script.reads = {{IoStatus::end_of_input}};
    if (how == "a reset") scene.script.reads = {failure(Reason::receive, "reset")};
    if (how == "our close") scene.stream().close();
    if (how != "our close") scene.stream().finish(how == "the deadline" ? 1ms : 1h);
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.user.text() == "too long");
}

TEST_CASE("reports a message that the transport holds, although it cannot be read yet",
          "[stream]") {
    Scene scene;
    scene.script.reads = {{IoStatus::done}, {IoStatus::wants_read}};
    scene.script.held = 7;
    scene.user.on_change = [](Stream&) {};
    scene.poke();
    CHECK(scene.stream().held() == 7);
}

TEST_CASE("reports a failed handshake once, with its reason, and not from inside a call",
          "[stream]") {
    Scene scene(handshaking({failure(Reason::certificate, "expired")}));
    CHECK(scene.user.calls == 0);
    CHECK_FALSE(scene.stream().write("x"));
    REQUIRE(scene.run_until([&] { return scene.user.ends > 0; }));
    run_pending(scene.loop);
    CHECK(scene.user.ends == 1);
    CHECK(scene.user.reason() == Reason::certificate);
    CHECK(scene.user.text() == "expired");
}

TEST_CASE("a read without a result does not delay a write", "[stream]") {
    Scene scene;
    scene.script.reads = {{IoStatus::wants_read}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.log.find('r') != std::string::npos; }));
    scene.script.writes = {{IoStatus::wants_write}, taken(5)};
    CHECK(scene.stream().write("hello"));
    REQUIRE(scene.run_until([&] { return scene.script.written == "hello"; }));
}

TEST_CASE("a read that waits for a writable socket is repeated without pending output",
          "[stream]") {
    Scene scene;
    scene.script.reads = {{IoStatus::wants_write}, data("late")};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.log == "hr"; }));
    scene.take_back();
    REQUIRE(scene.run_until([&] { return scene.user.got == "late"; }));
    CHECK(scene.script.log.substr(0, 3) == "hrr");
}

TEST_CASE("a write that waits for a readable socket is repeated without a read", "[stream]") {
    Scene scene;
    scene.script.writes = {{IoStatus::wants_read}, taken(5)};
    CHECK(scene.stream().write("hello"));
    run_pending(scene.loop);
    CHECK(scene.script.written.empty());
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.written == "hello"; }));
    CHECK(scene.script.log.substr(0, 3) == "hww");
}

TEST_CASE("closing the output is repeated without a read when it waits for a readable socket",
          "[stream]") {
    Scene scene;
    scene.script.closes = {{IoStatus::wants_read}};
    scene.stream().finish();
    run_pending(scene.loop);
    CHECK(scene.script.log == "hc");
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().output_closed(); }));
}

TEST_CASE("a message is delivered whole and in order in pieces of any length", "[stream]") {
    const std::string message = "the quick brown fox";
    for (std::size_t piece = 1; piece <= message.size(); ++piece) {
        Scene scene;
        for (std::size_t done = 0; done < message.size(); done += piece) {
            scene.script.writes.push_back(taken(std::min(piece, message.size() - done)));
            scene.script.writes.push_back({IoStatus::wants_write});
        }
        CHECK(scene.stream().write(message));
        REQUIRE(scene.run_until([&] { return scene.stream().pending() == 0; }));
        CHECK(scene.script.written == message);
        CHECK(scene.stream().bytes_written() == message.size());
    }
}

TEST_CASE("a peer that takes any number of bytes does not starve the loop", "[stream]") {
    Scene scene;
    const std::string message = pattern(4 * 1024 * 1024);
    CHECK(scene.stream().write(message));
    CHECK(scene.script.written.size() <= message.size() / 2);
    bool others = false;
    ev::Timer timer(scene.loop, [&] { others = scene.stream().pending() > 0; });
    timer.start(ev::Duration::zero());
    REQUIRE(scene.run_until([&] { return scene.stream().pending() == 0; }));
    CHECK(others);
    CHECK((scene.script.written == message));
}

TEST_CASE("the user is not notified of a record without data", "[stream]") {
    Scene scene;
    run_pending(scene.loop);
    scene.user.calls = 0;
    const std::size_t before = scene.script.log.size();
    scene.poke();  // readable, as after a record without data
    REQUIRE(scene.run_until([&] { return scene.script.log.size() >= before + 3; }));
    CHECK(scene.user.calls == 0);
    scene.script.reads = {data("x")};
    REQUIRE(scene.run_until([&] { return scene.user.got == "x"; }));
    CHECK(scene.user.calls == 1);
}

TEST_CASE("reads bytes buffered by the transport without an event", "[stream]") {
    Scene scene;
    scene.script.buffers_input = true;
    // Exceeds the reads of one turn; each piece is as large as one read.
    const std::string chunk(64 * 1024, 'x');
    scene.script.reads = {data(chunk), data(chunk), data("end")};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.user.got.size() == 2 * chunk.size() + 3; }));
    scene.script.buffers_input = false;
    CHECK(scene.user.calls >= 3);
}

TEST_CASE("reads bytes decrypted during the handshake without an event", "[stream]") {
    Script script;
    script.buffers_input = true;
    script.reads = {data("greeting")};
    Scene scene(std::move(script));
    scene.stream().pause_reading(true);
    run_pending(scene.loop);
    CHECK(scene.script.log == "h");
    scene.stream().pause_reading(false);
    REQUIRE(scene.run_until([&] { return scene.script.log == "hrr"; }));
    CHECK(scene.user.got == "greeting");
    // The transport still holds an incomplete record; an event announces its rest.
    run_pending(scene.loop);
    CHECK(scene.script.log == "hrr");
}

TEST_CASE("reading stops above the high-water mark and resumes below the low one", "[stream]") {
    Scene scene({/*input_high=*/100, /*input_low=*/20, /*output=*/1000});
    scene.user.on_change = [](Stream&) {};  // consumes nothing
    for (int i = 0; i < 10; ++i) scene.script.reads.push_back(data(std::string(60, 'x')));
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() == 120; }));
    run_pending(scene.loop);
    CHECK(scene.stream().received().size() == 120);
    scene.stream().consume(90);  // 30 are left, above the low mark
    run_pending(scene.loop);
    CHECK(scene.stream().received().size() == 30);
    scene.stream().consume(10);
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() > 100; }));
}

TEST_CASE("reads the bytes that the user needs at once even above the high-water mark",
          "[stream]") {
    Scene scene({100, 20, 1000});
    scene.stream().set_min_readable(50000);
    scene.user.on_change = [](Stream& stream) {
        // Consumes one message and leaves the beginning of the next, of 50000 bytes.
        if (stream.received().size() >= 110000) stream.consume(70000);
    };
    for (int i = 0; i < 24; ++i) scene.script.reads.push_back(data(std::string(5000, 'x')));
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() == 50000; }));
}

TEST_CASE("the limits apply again once the user needs fewer bytes at once", "[stream]") {
    Scene scene({100, 20, 1000});
    scene.user.on_change = [](Stream&) {};  // consumes nothing
    for (int i = 0; i < 24; ++i) scene.script.reads.push_back(data(std::string(5000, 'x')));
    scene.stream().set_min_readable(50000);
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() == 5000; }));
    CHECK(scene.stream().reading());
    scene.stream().set_min_readable(0);
    CHECK_FALSE(scene.stream().reading());
    run_pending(scene.loop);
    CHECK(scene.stream().received().size() <= 10000);
}

TEST_CASE("a write beyond the limit is refused as a whole", "[stream]") {
    Scene scene({100, 20, 10});
    scene.script.writes = {{IoStatus::wants_write}};
    CHECK(scene.stream().write("1234567"));
    CHECK_FALSE(scene.stream().write("8901"));
    CHECK(scene.stream().write("890"));
    CHECK_FALSE(scene.stream().write("1"));
    REQUIRE(scene.run_until([&] { return scene.stream().pending() == 0; }));
    CHECK(scene.script.written == "1234567890");
    CHECK(scene.stream().write("1"));
}

TEST_CASE("the end of input is not the end of the stream", "[stream]") {
    Scene scene;
    scene.script.reads = {data("last"), {IoStatus::end_of_input}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().input_ended(); }));
    CHECK(scene.user.got == "last");
    CHECK_FALSE(scene.stream().end());
    CHECK(scene.stream().write("answer"));
    CHECK(scene.script.written == "answer");
    scene.stream().finish();
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.user.reason() == Reason::clean);
}

TEST_CASE("the end of output follows all earlier bytes", "[stream]") {
    Scene scene;
    scene.script.writes = {
        {IoStatus::wants_write}, taken(2), {IoStatus::wants_write}, taken(3)};
    scene.script.closes = {{IoStatus::wants_write}, {IoStatus::wants_read}, {IoStatus::done}};
    CHECK(scene.stream().write("hello"));
    scene.stream().finish();
    CHECK_FALSE(scene.stream().write("more"));
    REQUIRE(scene.run_until([&] {
        return std::count(scene.script.log.begin(), scene.script.log.end(), 'c') == 2;
    }));
    CHECK_FALSE(scene.stream().output_closed());
    scene.script.reads = {data("reply"), {IoStatus::end_of_input}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.script.written == "hello");
    CHECK(scene.user.got == "reply");
    CHECK(scene.user.reason() == Reason::clean);
}

TEST_CASE("a stream that is finished before its handshake still delivers", "[stream]") {
    const std::string text = GENERATE("hello", "");
    Scene scene(handshaking({{IoStatus::wants_read}}));
    CHECK(scene.stream().write(text));
    scene.stream().finish();
    CHECK_FALSE(scene.stream().output_closed());
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().output_closed(); }));
    CHECK(scene.script.written == text);
}

TEST_CASE("reports bytes together with an end that arrives with them", "[stream]") {
    Scene scene;
    scene.script.reads = {data("last words"), failure(Reason::receive, "reset")};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.user.got == "last words");
    CHECK(scene.user.text() == "reset");
}

TEST_CASE("reads the peer's last bytes after a failure to send", "[stream]") {
    Scene scene;
    scene.script.writes = {failure(Reason::send, "broken pipe")};
    scene.script.reads = {data("your certificate"),
                          failure(Reason::own_certificate, "refused")};
    CHECK(scene.stream().write("hello"));
    CHECK(scene.stream().write("more"));
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK_FALSE(scene.stream().write("more"));
    CHECK(scene.script.written.empty());
    CHECK(scene.user.got == "your certificate");
    CHECK(scene.user.reason() == Reason::own_certificate);
}

TEST_CASE("close() sends the pending output and the end without waiting", "[stream]") {
    Scene scene;
    scene.script.writes = {taken(2), {IoStatus::wants_write}};
    scene.stream().write("hello");
    scene.stream().close();
    CHECK(scene.script.written == "hello");
    CHECK(scene.script.log == "hwwwc");
    CHECK(scene.user.reason() == Reason::aborted);
    CHECK(scene.run_until([&] { return scene.user.ends == 1; }));
}

TEST_CASE("close() does not close the output if the peer does not take all of it", "[stream]") {
    Scene scene;
    scene.script.writes = {{IoStatus::wants_write}, {IoStatus::wants_write}};
    scene.stream().write("hello");
    scene.stream().close();
    CHECK(scene.script.log == "hww");
    CHECK(scene.user.reason() == Reason::aborted);
}

TEST_CASE("close() during the handshake sends nothing", "[stream]") {
    Scene scene(handshaking({{IoStatus::wants_read}}));
    scene.stream().close();
    CHECK(scene.script.log == "h");
    CHECK(scene.user.reason() == Reason::aborted);
}

TEST_CASE("a failure to send ends the stream if the peer has sent nothing more", "[stream]") {
    Scene scene;
    scene.script.writes = {failure(Reason::send, "broken pipe")};
    SECTION("and stays open") { scene.script.reads = {{IoStatus::wants_read}}; }
    SECTION("and has ended") { scene.script.reads = {{IoStatus::end_of_input}}; }
    CHECK(scene.stream().write("hello"));
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.user.text() == "broken pipe");
}

TEST_CASE("reports a failure to send to a user who does not consume", "[stream]") {
    Scene scene({10, 5, 1000});
    scene.user.on_change = [](Stream&) {};
    scene.script.reads = {data(std::string(60, 'x'))};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() == 60; }));
    scene.script.writes = {failure(Reason::send, "broken pipe")};
    CHECK(scene.stream().write("hello"));
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
}

TEST_CASE("a failure after the peer's end is reported", "[stream]") {
    Scene scene;
    scene.script.reads = {{IoStatus::end_of_input}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().input_ended(); }));
    SECTION("by a write") {
        scene.script.writes = {failure(Reason::send, "reset")};
        CHECK(scene.stream().write("hello"));
    }
    SECTION("by closing") {
        scene.script.closes = {failure(Reason::send, "reset")};
        scene.stream().finish();
    }
    REQUIRE(scene.run_until([&] { return scene.user.ends == 1; }));
    CHECK(scene.user.text() == "reset");
}

TEST_CASE("a user may destroy its stream in any notification", "[stream]") {
    for (const char moment : std::string("hrewa")) {
        Scene scene(moment == 'h' ? handshaking({failure(Reason::tls, "no")}) : Script());
        if (moment == 'r') scene.script.reads = {data("x")};
        if (moment == 'e') scene.script.reads = {{IoStatus::end_of_input}};
        if (moment == 'w') scene.script.writes = {{IoStatus::wants_write}};
        if (moment == 'a') scene.stream().abort();
        if (moment != 'a') scene.stream().write("y");
        if (moment == 'r' || moment == 'e') scene.poke();
        scene.user.on_change = [&](Stream&) { scene.user.stream.reset(); };
        REQUIRE(scene.run_until([&] { return !scene.user.stream; }));
        CHECK(scene.user.calls == 1);
    }
}

TEST_CASE("a user who throws leaves a stream that can be destroyed", "[stream]") {
    Scene scene;
    scene.script.reads = {data("x")};
    scene.user.on_change = [](Stream&) { throw std::runtime_error("user"); };
    scene.poke();
    CHECK_THROWS(scene.run_until([&] { return false; }));
    scene.user.stream.reset();
}

TEST_CASE("writes bytes of the transport's own without output of the user", "[stream]") {
    Scene scene;
    scene.script.reads = {{IoStatus::done}};  // a ping, for example
    scene.script.writes = {{IoStatus::wants_write}, {IoStatus::wants_read}};
    scene.script.buffers_output = true;
    scene.poke();
    REQUIRE(scene.run_until([&] { return !scene.script.buffers_output; }));
    CHECK(scene.script.written.empty());
    CHECK(scene.stream().bytes_written() == 0);
    run_pending(scene.loop);
    CHECK(std::count(scene.script.log.begin(), scene.script.log.end(), 'w') == 3);
    CHECK(scene.user.calls == 0);
}

TEST_CASE("writes bytes of the transport's own before and with output of the user",
          "[stream]") {
    Scene scene;
    scene.script.buffers_output = true;
    scene.script.writes = {{IoStatus::wants_write}, taken(0)};
    CHECK(scene.stream().write("hello"));
    CHECK(scene.stream().pending() == 5);
    REQUIRE(scene.run_until([&] { return scene.stream().pending() == 0; }));
    CHECK(scene.script.written == "hello");
    CHECK(scene.script.log == "hwww");
    CHECK(scene.stream().bytes_written() == 5);
}

TEST_CASE("a stream that finishes leaves bytes of the transport's own to its close",
          "[stream]") {
    Scene scene;
    scene.script.buffers_output = true;
    scene.script.closes = {{IoStatus::wants_write}, {IoStatus::done}};
    scene.stream().finish();
    REQUIRE(scene.run_until([&] { return scene.stream().output_closed(); }));
    scene.script.buffers_output = true;  // an answer that comes too late
    scene.script.reads = {data("x")};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.user.got == "x"; }));
    run_pending(scene.loop);
    CHECK(scene.script.log.substr(0, 4) == "hcwc");
    CHECK(scene.script.log.find_first_not_of('r', 4) == std::string::npos);
}

TEST_CASE("a failure to write bytes of the transport's own ends the stream", "[stream]") {
    Scene scene;
    scene.script.reads = {data("last"), {IoStatus::wants_read}};
    scene.script.writes = {failure(Reason::send, "no way")};
    scene.script.buffers_output = true;
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.user.ends > 0; }));
    CHECK(scene.user.got == "last");
    CHECK(scene.user.text() == "no way");
}

TEST_CASE("an idle stream is not woken", "[stream]") {
    Scene scene;
    CHECK(scene.stream().write("hello"));
    run_pending(scene.loop);
    CHECK(scene.script.log == "hw");
    CHECK(scene.user.calls == 0);
}

TEST_CASE("an idle stream frees the memory of its queues and allocates it again when needed",
          "[stream]") {
    Scene scene;
    scene.user.on_change = [](Stream&) {};  // consumes nothing
    const std::string much(64 * 1024, 'x');
    for (int time = 0; time < 2; ++time) {
        scene.script.writes = {{IoStatus::wants_write}};
        allocations.largest = 0;
        CHECK(scene.stream().write(much));
        CHECK(allocations.largest >= much.size());
        REQUIRE(scene.run_until([&] { return scene.stream().pending() == 0; }));

        for (int i = 0; i < 100; ++i) scene.script.reads.push_back(data("little"));
        scene.poke();
        allocations.largest = 0;
        REQUIRE(scene.run_until([&] { return scene.script.reads.empty(); }));
        CHECK(allocations.largest >= much.size());  // space for a read behind the stored bytes
        scene.stream().consume(scene.stream().received().size());
        scene.take_back();
        run_pending(scene.loop);
    }
}

TEST_CASE("a user may write the received bytes back in the notification", "[stream]") {
    Scene scene;
    scene.user.on_change = [](Stream& stream) {
        CHECK(stream.write(stream.received()));
        stream.consume(stream.received().size());
    };
    scene.script.reads = {data("one"), data("two")};
    scene.script.writes = {taken(1), {IoStatus::wants_write}};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.written == "onetwo"; }));
}
