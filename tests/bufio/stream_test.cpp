// Tests a stream with every outcome of a transport's calls.
#include "bufio/stream.hpp"

#include "tests/bufio/fixture.hpp"
#include "tests/support/allocations.hpp"

#include <deque>

using namespace test;
using bufio::End;
using bufio::IoResult;
using bufio::IoStatus;

namespace {

// The outcome of one call. A `done` read returns the bytes; a `done` write takes their number.
struct Step {
    IoStatus status;
    std::string bytes = {};
    End end = {};  // with IoStatus::rejected or failed
    std::size_t held = 0;
};

// The future outcomes of a transport's calls, and their number. After the end of the
// script, a handshake is done, a read finds nothing, and a write takes everything.
struct Script {
    std::deque<Step> handshakes = {}, reads = {}, writes = {}, closes = {};
    bool buffers_input = false;
    bool buffers_output = false;  // until the next write that is done
    std::size_t held = 0;
    int calls = 0;
    std::string written = {};  // bytes that writes have taken
};

// A transport that follows a script, for outcomes that no socket produces on demand. It insists
// on the order of calls that bufio/transport.hpp demands.
class ScriptedTransport final : public bufio::Transport {
public:
    ScriptedTransport(Fd fd, Script& script) : fd_(std::move(fd)), script_(script) {}

    int descriptor() const override { return fd_.get(); }
    bool buffers_input() const override { return script_.buffers_input; }
    bool buffers_output() const override { return script_.buffers_output; }
    std::size_t held() const override { return script_.held; }

    IoResult handshake() override {
        const IoResult result = next(script_.handshakes, IoStatus::done);
        ready_ = result.status == IoStatus::done;
        return result;
    }

    IoResult read(char* to, std::size_t size) override {
        REQUIRE(ready_);
        if (script_.reads.empty()) return next(script_.reads, IoStatus::wants_read);
        const std::string bytes = script_.reads.front().bytes;
        REQUIRE(bytes.size() <= size);
        bytes.copy(to, size);
        return next(script_.reads, IoStatus::wants_read);
    }

    IoResult write(const char* from, std::size_t size) override {
        REQUIRE((ready_ && !closed_));
        const bool all = script_.writes.empty();
        IoResult moved = next(script_.writes, IoStatus::done);
        if (moved.status != IoStatus::done) return moved;
        script_.buffers_output = false;
        if (all) moved.count = size;
        REQUIRE(moved.count <= size);
        script_.written.append(from, moved.count);
        return moved;
    }

    IoResult close_output() override {
        REQUIRE((ready_ && !closed_));
        const IoResult result = next(script_.closes, IoStatus::done);
        closed_ = result.status == IoStatus::done;
        return result;
    }

private:
    IoResult next(std::deque<Step>& steps, IoStatus otherwise) {
        ++script_.calls;
        if (steps.empty()) return {otherwise};
        const Step step = steps.front();
        steps.pop_front();
        if (step.end) fail(step.end);
        script_.held = step.held;
        return {step.status, step.bytes.size()};
    }

    Fd fd_;
    Script& script_;
    bool ready_ = false;   // the handshake is done
    bool closed_ = false;  // the output
};

// A stream on a scripted transport. Its descriptor is always writable, and readable after
// poke().
struct Scene : Stage {
    explicit Scene(Script first = {}, Stream::Limits limits = {}) : script(std::move(first)) {
        auto [mine, theirs] = socket_pair();
        descriptor = mine.get();
        other = std::move(theirs);
        owner.open(loop, std::make_unique<ScriptedTransport>(std::move(mine), script), limits);
    }

    void poke() { REQUIRE(::write(other.get(), "x", 1) == 1); }
    void take_back() {
        char byte;
        REQUIRE(::read(descriptor, &byte, 1) == 1);
    }
    Stream& stream() { return *owner.stream; }

    Script script;
    Fd other;
    int descriptor = -1;  // the stream's
    Taker owner;
};

// Returns the outcomes of calls. R or W: the call waits for a readable or writable socket. =x:
// a read returns the bytes x, and a write accepts x.size() bytes. H: 7 bytes of a message are
// held back. E: the peer has ended. X: its input is rejected. !x: the call fails for this
// reason.
std::deque<Step> steps(const std::string& list) {
    std::deque<Step> made;
    std::istringstream in(list);
    for (std::string each; std::getline(in, each, ',');) {
        const std::string text = each.substr(1);
        if (each[0] == 'R') made.push_back({IoStatus::wants_read});
        if (each[0] == 'W') made.push_back({IoStatus::wants_write});
        if (each[0] == '=') made.push_back({IoStatus::done, text});
        if (each[0] == 'H') made.push_back({IoStatus::done, {}, {}, 7});
        if (each[0] == 'E') made.push_back({IoStatus::end_of_input});
        if (each[0] == 'X')
            made.push_back(
                {IoStatus::rejected, {}, End{.reason = Reason::limit, .what = "excess"}});
        if (each[0] == '!')
            made.push_back({IoStatus::failed, {}, End{.reason = Reason::tls, .detail = text}});
    }
    return made;
}

Step data(std::string bytes) { return {IoStatus::done, std::move(bytes)}; }

// The words of a script, such as "write:hello ... wrote:hello". The first group acts, the
// second checks.
using Word = std::function<void(Scene&, const std::string&)>;
const std::map<std::string, Word> words{
    {"turn", [](Scene& it, auto&) { run_pending(it.loop, 1); }},
    {"...", [](Scene& it, auto&) { run_pending(it.loop); }},
    {"poke", [](Scene& it, auto&) { it.poke(); }},
    {"unpoke", [](Scene& it, auto&) { it.take_back(); }},
    {"hold", [](Scene& it, auto&) { it.owner.on_change = [](Stream&) {}; }},
    {"buffers", [](Scene& it, auto&) { it.script.buffers_output = true; }},
    {"reads", [](Scene& it, auto& list) { it.script.reads = steps(list); }},
    {"writes", [](Scene& it, auto& list) { it.script.writes = steps(list); }},
    {"closes", [](Scene& it, auto& list) { it.script.closes = steps(list); }},
    {"write", [](Scene& it, auto& text) { CHECK(it.stream().write(text)); }},
    {"pause", [](Scene& it, auto&) { it.stream().pause_reading(true); }},
    {"resume", [](Scene& it, auto&) { it.stream().pause_reading(false); }},
    {"consume", [](Scene& it, auto& count) { it.stream().consume(std::stoul(count)); }},
    {"needs", [](Scene& it, auto& count) { it.stream().set_min_readable(std::stoul(count)); }},
    {"finish", [](Scene& it, auto&) { it.stream().finish(); }},
    {"finish-now", [](Scene& it, auto&) { it.stream().finish(ev::Duration::zero()); }},
    {"close", [](Scene& it, auto&) { it.stream().close(); }},

    {"refuses", [](Scene& it, auto& text) { CHECK_FALSE(it.stream().write(text)); }},
    {"opening", [](Scene& it, auto&) { CHECK_FALSE(it.stream().is_open()); }},
    {"open", [](Scene& it, auto&) { CHECK(it.stream().is_open()); }},
    {"rejected", [](Scene& it, auto&) { CHECK(it.stream().rejection()); }},
    {"input-ended", [](Scene& it, auto&) { CHECK(it.stream().input_ended()); }},
    {"output-open", [](Scene& it, auto&) { CHECK_FALSE(it.stream().output_closed()); }},
    {"output-closed", [](Scene& it, auto&) { CHECK(it.stream().output_closed()); }},
    {"got", [](Scene& it, auto& text) { CHECK(it.owner.got == text); }},
    {"has", [](Scene& it, auto& text) { CHECK(it.stream().received() == text); }},
    {"wrote",
     [](Scene& it, auto& text) {
         CHECK(it.script.written == text);
         CHECK(it.stream().bytes_written() == text.size());
     }},
    {"pending",
     [](Scene& it, auto& count) { CHECK(std::to_string(it.stream().pending()) == count); }},
    {"flushed", [](Scene& it, auto&) { CHECK_FALSE(it.script.buffers_output); }},
    {"idle",
     [](Scene& it, auto&) {
         const int before = it.script.calls;
         run_pending(it.loop);
         CHECK(it.script.calls == before);
     }},
    {"reports", [](Scene& it, auto& count) { CHECK(std::to_string(it.owner.calls) == count); }},
    {"held",
     [](Scene& it, auto& count) { CHECK(std::to_string(it.stream().held()) == count); }},
    {"ends",
     [](Scene& it, auto& text) {
         CHECK(it.owner.ends == 1);
         CHECK(it.owner.text() == text);
     }},
    {"clean", [](Scene& it, auto&) { CHECK(it.owner.reason() == Reason::clean); }},
    {"aborted", [](Scene& it, auto&) { CHECK(it.owner.reason() == Reason::aborted); }},
    {"running", [](Scene& it, auto&) { CHECK(it.owner.ends == 0); }},
};

}  // namespace

TEST_CASE("a stream serves its owner and its peer whatever the calls return") {
    const struct {
        const char *name, *handshakes, *play;
        Stream::Limits limits = {};
        bool buffers_input = false;
    } rows[] = {
        {"the handshake waits for the direction it requests, and then writing starts", "W,R,W",
         "opening write:early ... idle poke ... open wrote:early"},
        {"a client speaks first after a handshake that ended in reading", "R",
         "poke ... open write:hello wrote:hello"},
        {"a failed handshake", "!expired", "refuses:x reports:0 ... reports:1 ends:expired"},
        {"finished before the handshake", "R",
         "write:hello finish output-open poke ... output-closed wrote:hello"},
        {"finished before the handshake, without output", "R",
         "finish output-open poke ... output-closed wrote:"},
        {"closed during the handshake", "R", "close aborted"},
        {"decrypted with the handshake, of which only an event announces the rest",
         "",
         "reads:=greeting pause ... got: resume ... got:greeting idle",
         {},
         true},

        {"a read without a result does not delay a write", "",
         "reads:R poke ... writes:W,=12345 write:hello ... wrote:hello"},
        {"a read that waits for a writable socket", "",
         "reads:W,=late poke turn got: unpoke ... got:late"},
        {"a write that waits for a readable socket", "",
         "writes:R,=12345 write:hello ... wrote: idle poke turn wrote:hello"},
        {"a close that waits for a readable socket", "",
         "closes:R finish ... output-open idle poke ... output-closed"},
        {"an idle stream is not woken", "", "write:hello ... idle reports:0"},
        {"a record without data is not reported", "",
         "poke turn turn turn reports:0 reads:=x ... got:x reports:1"},
        {"a message that the transport still holds is reported", "",
         "reads:H poke ... reports:1 held:7"},
        {"a message that was held is passed on in a read of the same size", "",
         "reads:H poke ... reports:1 reads:=1234567 poke ... reports:2 got:1234567"},
        {"a write beyond the limit is refused as a whole",
         "",
         "writes:W write:1234567 refuses:8901 write:890 refuses:1 ... wrote:1234567890 write:1",
         {100, 20, 10}},

        {"the end of input is not the end of the stream", "",
         "reads:=last,E poke ... input-ended got:last running write:answer wrote:answer finish "
         "... ends:closed clean"},
        {"the end of output follows all earlier bytes", "",
         "writes:W,=12,W,=345 closes:W,R write:hello finish refuses:more ... wrote:hello "
         "output-open reads:=reply,E poke ... got:reply ends:closed clean"},
        {"bytes arrive together with an end", "",
         "reads:=last,!reset poke ... got:last ends:reset"},
        {"close() sends the pending output and the end", "",
         "writes:=12,W write:hello close wrote:hello output-closed aborted ... ends:closed"},
        {"close() while the peer accepts no more", "",
         "writes:W,W write:hello close output-open aborted"},

        {"rejected input, until the peer's end", "",
         "reads:X,=,R poke ... rejected input-ended open reports:1 write:reply wrote:reply "
         "running reads:E finish ... ends:excess"},
        {"rejected input, until a reset", "",
         "reads:X poke ... reads:!reset finish ... ends:excess"},
        {"rejected input, until the deadline", "",
         "reads:X poke ... finish-now ... ends:excess"},
        {"rejected input, until our close", "", "reads:X poke ... close ... ends:excess"},

        {"reading stops above the high-water mark and resumes at the low one",
         "",
         "hold reads:=aaaaa,=bbbbb,=ccccc,=ddddd,=eeeee,=fffff poke ... has:aaaaabbbbbccccc "
         "consume:12 ... has:ccc consume:1 ... has:ccdddddeeeee",
         {10, 2, 1000}},
        {"the limits apply again once the owner needs fewer bytes together",
         "",
         "hold needs:50 reads:=aaaaa,=bbbbb,=ccccc poke turn has:aaaaa needs:0 ... has:aaaaa",
         {4, 2, 1000}},
        {"a failure to send, and the peer stays", "",
         "writes:!broken reads:R write:hello ... ends:broken"},
        {"a failure to send, and the peer has ended", "",
         "writes:!broken reads:E write:hello ... ends:broken"},
        {"a failure to send, for a reason that the peer has sent", "",
         "writes:!broken reads:=why,!refused write:hello write:more ... got:why ends:refused "
         "refuses:more wrote:"},
        {"a failure to send while the owner does not consume",
         "",
         "hold reads:=xxxxxxxxxxxxxxxx poke ... writes:!broken write:hello ... ends:broken",
         {10, 5, 1000}},
        {"a write that fails after the peer's end", "",
         "reads:E poke ... input-ended writes:!reset write:hello ... ends:reset"},
        {"a close that fails after the peer's end", "",
         "reads:E poke ... input-ended closes:!reset finish ... ends:reset"},

        {"the transport's own bytes, without output", "",
         "buffers reads:= writes:W,R poke turn unpoke ... idle poke turn unpoke ... "
         "flushed reports:0 wrote:"},
        {"the transport's own bytes, before output", "",
         "buffers writes:W,= write:hello pending:5 ... pending:0 wrote:hello flushed"},
        {"the transport's own bytes, left to the close", "",
         "buffers closes:W,= finish ... output-closed buffers reads:=x poke ... got:x"},
        {"a failure to write the transport's own bytes", "",
         "buffers reads:=last,R writes:!no poke ... got:last ends:no"},
    };
    for (const auto& row : rows) {
        INFO(row.name);
        Script script{.handshakes = steps(row.handshakes), .buffers_input = row.buffers_input};
        script.reads = steps(row.buffers_input ? "=greeting" : "");
        Scene scene(std::move(script), row.limits);
        std::istringstream in(row.play);
        for (std::string word; in >> word;) {
            INFO(word);
            const std::size_t colon = std::min(word.find(':'), word.size());
            words.at(word.substr(0, colon))(scene,
                                            word.substr(std::min(colon + 1, word.size())));
        }
    }
}

TEST_CASE(
    "what the peer sent with its part of the handshake arrives before our output is sent") {
    Scene scene({.handshakes = steps("R"), .reads = steps("=greeting"), .buffers_input = true});
    scene.owner.on_change = [&](Stream& stream) {
        CHECK(stream.received() == "greeting");
        if (stream.bytes_written() == 0) stream.write("hello");
    };
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.script.written == "hello"; }));
}

TEST_CASE("a peer that takes any number of bytes does not starve the loop") {
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

TEST_CASE("reads bytes buffered by the transport without an event") {
    Scene scene;
    scene.script.buffers_input = true;
    // More bytes than one turn reads: each chunk fills a read.
    const std::string chunk(64 * 1024, 'x');
    scene.script.reads = {data(chunk), data(chunk), data("end")};
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.owner.got.size() == 2 * chunk.size() + 3; }));
    scene.script.buffers_input = false;
    CHECK(scene.owner.calls >= 3);
}

TEST_CASE("reads the bytes that the owner needs together even above the high-water mark") {
    Scene scene({}, {100, 20, 1000});
    scene.stream().set_min_readable(50000);
    scene.owner.on_change = [](Stream& stream) {
        // Consumes a message of 70000 bytes, and leaves 40000 of the next 50000 bytes.
        if (stream.received().size() >= 110000) stream.consume(70000);
    };
    for (int i = 0; i < 24; ++i) scene.script.reads.push_back(data(std::string(5000, 'x')));
    scene.poke();
    REQUIRE(scene.run_until([&] { return scene.stream().received().size() == 50000; }));
}

TEST_CASE("an owner may destroy its stream in any notification") {
    for (const char moment : std::string("hrewa")) {
        Scene scene({.handshakes = steps(moment == 'h' ? "!no" : "")});
        if (moment == 'r') scene.script.reads = steps("=x");
        if (moment == 'e') scene.script.reads = steps("E");
        if (moment == 'w') scene.script.writes = steps("W");
        if (moment == 'a') scene.stream().abort();
        if (moment != 'a') scene.stream().write("y");
        if (moment == 'r' || moment == 'e') scene.poke();
        scene.owner.on_change = [&](Stream&) { scene.owner.stream.reset(); };
        REQUIRE(scene.run_until([&] { return !scene.owner.stream; }));
        CHECK(scene.owner.calls == 1);
    }
}

TEST_CASE("an owner that throws leaves a stream that can be destroyed") {
    Scene scene;
    scene.script.reads = steps("=x");
    scene.owner.on_change = [](Stream&) { throw std::runtime_error("owner"); };
    scene.poke();
    CHECK_THROWS(scene.run_until([&] { return false; }));
    scene.owner.stream.reset();
}

TEST_CASE("an idle stream frees the memory of its queues and allocates it again when needed") {
    Scene scene;
    scene.owner.on_change = [](Stream&) {};  // consumes nothing
    const std::string much(64 * 1024, 'x');
    for (int time = 0; time < 2; ++time) {
        scene.script.writes = steps("W");
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
