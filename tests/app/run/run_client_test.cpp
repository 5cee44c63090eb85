// Whole clients, in virtual time.

#include "app/run/run_client.hpp"

#include "app/text/exit_status.hpp"
#include "tests/app/process/apart.hpp"
#include "tests/app/run/client_fixture.hpp"
#include "tests/app/run/standard_input.hpp"
#include "tests/support/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

using namespace std::chrono_literals;
using namespace yodel;
using test::ClientFixture;
using test::contains;
using test::Replies;
using From = RunOptions::From;
using Form = Reporter::Form;

namespace {

const ev::Time begin = test::VirtualLoop::start;
const Pace per_second = Pace::per_1000_seconds(1'000);

Replies same(const std::string& line) { return {line}; }

std::string text(const RunProgress& now) {
    const char* const phases[] = {"connecting", "warming up", "running", "ending"};
    const auto seconds = [](std::optional<ev::Duration> time) {
        return std::to_string(time.value_or(0s) / 1s) + " s";
    };
    return phases[static_cast<int>(now.phase)] + (", " + std::to_string(now.results.open)) +
           " of " + std::to_string(now.run.connections) + " open, starts in " +
           seconds(now.until_start) + ", " + seconds(now.elapsed) + " of " +
           seconds(now.run.length);
}

// A display that counts its calls.
struct Page final : RunDisplay {
    explicit Page(Owner& its_owner) : owner(its_owner) {}
    void turn_ended() override { ++turns; }
    void continued() override {
        ++continuations;
        owner.suspending();
    }

    Owner& owner;
    int turns = 0;
    int continuations = 0;
};

auto stored_in(Page*& page) {
    return [&page](RunDisplay::Owner& owner) {
        auto made = std::make_unique<Page>(owner);
        page = made.get();
        return made;
    };
}

}  // namespace

TEST_CASE("a client sends its input, prints replies, and reports the end") {
    struct Client {
        RunOptions run = {};
        Reporter::Options report = {};
        From from = From::input;
    };
    struct Row {
        const char* name;
        Client client;
        std::string input;
        int status;
        std::string output;
        std::string errors;  // a part; empty if nothing is reported
    };
    const RunOptions raw{.session = {.framing = find_framing("raw")}};
    const RunOptions few_bytes{.session = {.framing = find_framing("raw"), .max_frame = 3}};
    const RunOptions any{.session = {.expect = Expect::any}};
    const RunOptions limited{.session = {.max_frame = 3}, .window = {}};
    const RunOptions many{.window = {}};
    const RunOptions two{.count = 2, .size = 1};
    const Reporter::Options load{.is_load = true};
    const Reporter::Options verbose{.is_verbose = true, .is_load = true};
    const Reporter::Options strict{.is_load = true, .required = parse_requirements("sent>0")};
    const Client counted{{.count = 2}, load, From::shared_input};
    const Client generated{two, load, From::generator};
    const Client probe{{.is_probe = true}, {}, From::generator};
    const char* const unread =
        "standard input was not read; yodel-load --messages - sends its lines";
    const char* const bad = "standard input, line 2: a backslash must be followed by ";
    const Row rows[] = {
        {"lines", {}, "one\ntwo\nlast", 0, "one\ntwo\nlast", "3 sent, 3 echoed"},
        {"quiet", {{}, {.is_quiet = true}}, "one\n", 0, "one\n", ""},
        {"no output", {{}, {.form = Form::sequence, .is_quiet = true}}, "a\n", 0, "", "1 sent"},
        {"load", {{.connections = 3}, load}, "one\nlast", 0, "", "6 sent, 6 echoed"},
        {"verbose load", {{}, verbose}, "a\n", 0, "1: a\n", "connection 1: connected"},
        {"many", {many}, "a\n\nlast", 0, "a\n\nlast", "3 sent, 3 echoed"},
        {"many in hex",
         {many, {.form = Form::hex}},
         "a\n",
         0,
         "00000000  61                                               |a|\n",
         "1 sent"},
        {"many, limited", {limited}, "one\nlong\n", 1, "one\n", "line 2: a message of 4 bytes"},
        {"bytes", {raw}, "one\ntwo", 0, "one\ntwo", "1 sent, 1 echoed"},
        {"few bytes", {few_bytes}, "one\ntwo", 0, "one\ntwo", "3 sent, 3 echoed"},
        {"counted lines", counted, "one\ntwo\nthree\n", 0, "", "2 sent, 2 echoed"},
        {"escaped bytes", {raw}, "a\\x41", 0, "aA", "1 sent, 1 echoed"},
        {"any replies", {any}, "one\n", 0, "one\n", "1 sent, 1 answered"},
        {"escapes", {}, "a\\x41\n", 0, "aA\n", "1 sent, 1 echoed"},
        {"many escapes", {many}, "a\\x41\n", 0, "aA\n", "1 sent, 1 echoed"},
        {"bad escape", {}, "one\na\\q\nlast\n", 1, "one\n", bad},
        {"bad escape in a load", {{.connections = 3}, load}, "one\na\\q\n", 1, "", bad},
        {"empty, in a load", {{}, load}, "", 0, "", "no lines to send; -m 10s sends"},
        {"empty, with a requirement",
         {{}, strict},
         "",
         1,
         "",
         "no lines to send; -m 10s sends"},
        {"unread input", generated, "one\n", 0, "", unread},
        {"unread, quiet", {two, {.is_quiet = true}, From::generator}, "one\n", 0, "1\n2\n", ""},
        {"no input", {two, {}, From::generator}, "", 0, "1\n2\n", "2 sent, 2 echoed"},
        {"no messages", probe, "one\n", 0, "", "connected to "},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        test::StandardInput input;
        input.write(row.input);
        input.end();
        ClientFixture fixture;
        const bool has_escapes = contains(row.name, "escape");
        const auto& [run, report, from] = row.client;
        RunOptions with = run;
        with.from = from;
        with.has_escapes = has_escapes;
        CHECK(fixture.run_to_end({.run = with, .report = report}) == row.status);
        CHECK(fixture.printed == row.output);
        const std::string& errors = fixture.reported;
        CHECK(contains(errors, row.errors));
        CHECK(errors.empty() == row.errors.empty());
        CHECK(contains(errors, "was not read") == contains(row.errors, "was not read"));
        CHECK_FALSE(contains(errors, "no reply"));
        // An error in the input is reported once, not by each connection.
        CHECK((row.errors.empty() || errors.find(row.errors) == errors.rfind(row.errors)));
    }
}

TEST_CASE("input waits for replies if a window is given, unless none are expected") {
    struct Row {
        std::optional<unsigned> window;
        Expect expect;
        std::size_t sent;
    };
    const Row rows[] = {{1, Expect::echo, 1},
                        {2, Expect::echo, 2},
                        {{}, Expect::echo, 3},
                        {1, Expect::none, 3}};
    for (const Row& row : rows)
        for (const Form form : {Form::json, Form::payload}) {
            test::StandardInput input;
            input.write("one\ntwo\nthree\n");
            ClientFixture fixture([](const std::string&) { return Replies{}; });
            fixture.start({.run = {.session = {.expect = row.expect},
                                   .from = From::input,
                                   .window = row.window},
                           .report = {.form = form}});
            fixture.loop.pass(1s);
            fixture.client->quit(SIGINT);
            fixture.wait_for_end();
            CHECK(fixture.server.times.size() == row.sent);
            const bool reported = form == Form::json && row.expect == Expect::none;
            CHECK(contains(fixture.printed, R"("fate":"sent")") == reported);
            CHECK(contains(fixture.printed, R"("seq":3,"sent_bytes":5,)") == reported);
        }
}

TEST_CASE("a recording with --expect any waits for a greeting before its first message") {
    struct Row {
        bool recorded;
        Expect expect;
        bool waits;
    };
    const Row rows[] = {{true, Expect::any, true},
                        {true, Expect::echo, false},
                        {true, Expect::none, false},
                        {false, Expect::any, false}};
    for (const Row& row : rows) {
        const test::Folder folder;
        test::StandardInput input;
        input.write("one\ntwo\n");
        input.end();
        ClientFixture fixture(same);
        CHECK(fixture.run_to_end(
                  {.run = {.session = {.expect = row.expect, .greeting_time = 700ms},
                           .from = From::input},
                   .report = {.log = JournalFile(row.recorded ? folder / "log.json" : "")}}) ==
              0);
        const ev::Time time = begin + (row.waits ? 700ms : 0ms);
        CHECK((fixture.server.times == std::vector{time, time}));
    }
}

TEST_CASE("a load reports each second as an object, unless each message is reported") {
    struct Row {
        const char* name;
        RunClient::Options options;
        int intervals;
    };
    const RunOptions run{.pace = per_second, .count = 4};
    const Row rows[] = {
        {"a load", {.run = run, .report = {.form = Form::json, .is_load = true}}, 3},
        {"quietly",
         {.run = run, .report = {.form = Form::json, .is_quiet = true, .is_load = true}},
         0},
        {"not in JSON", {.run = run, .report = {.is_load = true}}, 0},
        {"no load", {.run = run, .report = {.form = Form::json}}, 0},
        {"connections without messages",
         {.run = {.length = 3500ms, .is_probe = true},
          .report = {.form = Form::json, .is_load = true}},
         3},
    };
    for (const Row& row : rows) {
        INFO(row.name);
        ClientFixture fixture(same);
        CHECK(fixture.run_to_end(row.options) == 0);
        const std::string& output = fixture.printed;
        int found = 0;
        for (std::size_t at = 0; (at = output.find(R"("type":"interval")", at)) < output.size();
             ++at)
            ++found;
        CHECK(found == row.intervals);
        if (row.options.run.count == 0 || found == 0) continue;
        for (const int second : {1, 2, 3}) {
            const std::string number = std::to_string(second);
            CHECK(contains(output, R"({"type":"interval","t":)" + number +
                                       R"(,"open":1,"sent":)" + number + R"(,"echoed":)"));
        }
        CHECK(contains(output, R"("open":1,"sent":2,"echoed":2,)"));
    }
}

TEST_CASE("a page shows the progress of a run, and ends it") {
    test::StandardInput input;
    ClientFixture fixture(same);
    Page* page = nullptr;
    fixture.start({.run = {.connections = 2,
                           .pace = per_second,
                           .length = 1min,
                           .warm_up = 10s,
                           .start_at = begin + 5s},
                   .report = {.is_verbose = true, .is_load = true},
                   .page = stored_in(page)});
    const std::pair<ev::Duration, const char*> steps[] = {
        {0s, "connecting, 0 of 2 open, starts in 5 s, 0 s of 60 s"},
        {1s, "connecting, 2 of 2 open, starts in 4 s, 0 s of 60 s"},
        {5s, "warming up, 2 of 2 open, starts in 0 s, 0 s of 60 s"},
        {19s, "running, 2 of 2 open, starts in 0 s, 10 s of 60 s"},
    };
    std::vector<std::string> shown;
    for (const auto& [time, expected] : steps) {
        fixture.loop.pass(time);
        shown.push_back(text(page->owner.progress()));
    }
    const RunProgress now = page->owner.progress();
    const std::string target = now.target;
    fixture.client->turn_ended();
    fixture.client->continued();
    const int calls = page->turns * 10 + page->continuations;
    const std::uint64_t timed = now.results.round_trips.count();
    fixture.loop.pass(1s);
    CHECK(now.results.round_trips.count() == timed + 1);
    fixture.server.mode = test::Server::Mode::drops;
    fixture.loop.pass(1s);
    page->owner.interrupted();
    const RunProgress::Phase last = page->owner.progress().phase;
    CHECK(fixture.wait_for_end() == 1);
    for (std::size_t i = 0; i < shown.size(); ++i) CHECK(shown[i] == steps[i].second);
    CHECK(contains(target, "127.0.0.1:"));
    CHECK(now.planned_rate == 1);
    CHECK(now.descriptors > 2);
    CHECK(now.descriptor_limit > 2);
    CHECK(calls == 11);
    CHECK(last == RunProgress::Phase::ending);
    CHECK(contains(fixture.reported, "13 sent, 12 echoed, 0 bad, 1 lost"));
    CHECK(contains(fixture.reported, "connection 2: connected to "));
}

TEST_CASE("after a climb, the page shows the mean of the planned rate") {
    test::StandardInput input;
    ClientFixture fixture(same);
    Page* page = nullptr;
    fixture.start({.run = {.pace = per_second.climbing_to(3, 10s), .length = 10s},
                   .report = {.is_load = true},
                   .page = stored_in(page)});
    fixture.loop.pass(20s);
    fixture.client->turn_ended();
    const RunProgress now = page->owner.progress();
    CHECK(now.phase == RunProgress::Phase::ended);
    CHECK(now.planned_rate == now.results.planned_rate);
    page->owner.interrupted();
    CHECK(fixture.wait_for_end() == 0);
}

TEST_CASE("the first bad reply is reported immediately") {
    ClientFixture fixture([](const std::string&) { return Replies{"other"}; });
    test::StandardInput input;
    fixture.start({.run = {.from = From::input}});
    input.write("one\ntwo\n");
    fixture.until(
        [&] { return contains(fixture.errors->text(), "reply 1 differs from its message"); });
    input.end();
    CHECK(fixture.wait_for_end() == 1);
    CHECK(fixture.reported.find("differs") == fixture.reported.rfind("differs"));
}

TEST_CASE("our side closes before the last reply only at the end of an input") {
    for (const From from : {From::input, From::generator}) {
        test::StandardInput input;
        input.write("one\n");
        input.end();
        ClientFixture fixture([](const std::string&) { return Replies{}; });
        fixture.start({.run = {.from = from, .window = {}, .count = 1}});
        fixture.loop.pass(1s);
        const bool closed = fixture.server.streams.at(0)->input_ended();
        fixture.wait_for_end();
        CHECK(closed == (from == From::input));
    }
}

TEST_CASE("a client that listens reports bad input immediately, while its peer stays") {
    ClientFixture fixture;
    test::StandardInput input;
    test::ManualClient peer(fixture.loop);
    RunOptions run{.session = {.max_frame = 3, .expect = Expect::none}, .from = From::input};
    run.session.endpoint.acceptor = &peer.acceptor;
    fixture.start({.run = run});
    peer.connect();
    input.write("long\n");
    const std::string failure = "line 1: a message of 4 bytes";
    fixture.until([&] { return contains(fixture.errors->text(), failure); });
    fixture.client->quit(SIGTERM);
    fixture.wait_for_end();
    CHECK(fixture.reported.find(failure) == fixture.reported.rfind(failure));
}

TEST_CASE("a certificate is described if it is refused, or if its pin is") {
    for (const char* const pin : {"", "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}) {
        ClientFixture fixture;
        test::SilentTlsServer server(fixture.loop);
        bufio::TlsClientOptions tls;
        if (*pin) tls.pins = {pin};
        RunOptions run;
        run.session.tls = bufio::TlsContext::client(tls);
        run.session.endpoint.service = std::to_string(server.port());
        CHECK(fixture.run_to_end({.run = run, .report = {.is_verbose = true}}) != 0);
        CHECK(contains(fixture.reported, "the certificate: "));
    }
}

TEST_CASE("a signal closes the connections, and decides the exit status") {
    ClientFixture fixture(same);
    fixture.start({.run = {.pace = per_second}});
    fixture.until([&] { return fixture.server.times.size() == 3; });
    fixture.client->quit(SIGTERM);
    CHECK(fixture.wait_for_end() == 128 + SIGTERM);
    const bufio::Stream& stream = *fixture.server.streams.front();
    CHECK((stream.input_ended() || stream.end()));
    CHECK(fixture.server.times.size() == 3);
}

TEST_CASE("a run begins at a time of day") {
    ClientFixture fixture(same);
    CHECK(fixture.run_to_end(
              {.run = {.count = 1}, .start_at = std::chrono::system_clock::now() + 1h}) == 0);
    CHECK(fixture.server.times.at(0) > begin + 59min);
    CHECK(fixture.server.times.at(0) <= begin + 1h);
}

TEST_CASE("unread output pauses a run, and is reported at the end of its time") {
    struct Row {
        std::optional<ev::Duration> length;
        std::optional<ev::Duration> max_time;
        std::string sentence;
        ev::Duration end;
    };
    const Row rows[] = {
        {{}, 30s, "standard output was not read within 30s (--max-time)\n", 30s},
        {60s, {}, "standard output was not read in time after --max-time\n", 71s},
    };
    for (const Row& row : rows) {
        ClientFixture fixture(same);
        test::StandardInput input;
        const test::Ends pipe = test::pipe_ends();
        test::fill(pipe.writer);
        ::dup2(pipe.writer.get(), STDOUT_FILENO);
        const bool generated = row.length.has_value();
        fixture.start({.run = {.session = {.max_time = row.max_time},
                               .from = generated ? From::generator : From::input,
                               .pace = generated ? std::optional(per_second) : std::nullopt,
                               .length = row.length},
                       .report = {.form = generated ? Form::json : Form::payload}});
        input.write(std::string(60'000, 'x') + "\n");
        input.end();
        CHECK(fixture.wait_for_end() == timed_out);
        CHECK(contains(fixture.reported, row.sentence));
        CHECK((fixture.loop.time - begin) / 1ms == row.end / 1ms);
    }
}

TEST_CASE("a line on a terminal shows the progress of a run, and is cleared") {
    const test::Ends terminal = test::terminal_ends();
    for (const bool load : {true, false}) {
        ClientFixture fixture(same);
        ::dup2(terminal.writer.get(), STDERR_FILENO);
        fixture.start(
            {.run = {.pace = per_second}, .report = {.is_quiet = true, .is_load = load}});
        fixture.loop.pass(199ms);
        const std::string before = test::take(terminal.reader);
        fixture.loop.pass(1ms);
        const std::string shown = test::take(terminal.reader);
        fixture.client->quit(SIGTERM);
        fixture.wait_for_end();
        const std::string last = test::take(terminal.reader);
        CHECK(before.empty());
        CHECK(shown == (load ? "1 open, " : "") +
                           std::string("1 sent, 1 echoed, 0 bad, 0 lost, p50 0.00 ms"));
        CHECK(last.starts_with("\r" + std::string(shown.size(), ' ') + "\r"));
    }
}

TEST_CASE("a sandbox allows a client its target, its source, and the resolver") {
    using Ports = std::vector<std::uint16_t>;
    struct Row {
        bufio::Endpoint endpoint;
        Ports connect;
        Ports bind = {};
    };
    const Row rows[] = {
        {{.service = "80"}, {53, 80}},
        {{.service = "80", .is_udp = true}, {53}},
        {{.service = "80", .connect_host = "::1"}, {53, 80}},
        {{.service = "80", .connect_host = "::1", .connect_service = "90"}, {53, 90}},
        {{.path = "/socket"}, {53}},
        {{.service = "80", .source_port = "99"}, {53, 80}, {99}},
        {{.service = "80", .source_host = "127.0.0.1"}, {53, 80}, {0}},
    };
    for (const Row& row : rows) {
        const SandboxRules rules = rules_to_connect(row.endpoint);
        CHECK(rules.connect_ports == row.connect);
        CHECK(rules.bind_ports == row.bind);
    }
}
