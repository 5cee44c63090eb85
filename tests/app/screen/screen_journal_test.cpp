// The counts of a screen's recording, and its format.

#include "app/screen/screen_journal.hpp"

#include "app/protocol/message_object.hpp"
#include "app/stats/end_object.hpp"
#include "app/stats/outcome.hpp"
#include "tests/app/stats/results.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/virtual_time.hpp"

#include <unistd.h>

#include <filesystem>
#include <string>

using namespace std::chrono_literals;
using namespace yodel;

namespace {

struct NobodysUser final : Session::User {
    void session_changed() override {}
    void session_answered(const Message&, const Reply&) override {}
    void session_lost(const Message&) override {}
    void session_unsolicited(std::string_view) override {}
};

}  // namespace

TEST_CASE("the end of a screen's recording counts its messages, and can be merged") {
    const std::string name = std::filesystem::temp_directory_path() /
                             ("screen_recording_test." + std::to_string(::getpid()) + ".json");
    test::VirtualLoop loop;
    NobodysUser user;
    Session::Options options;
    if (GENERATE(false, true)) options.framing = datagram_framing();
    const auto session = std::make_unique<Session>(loop, options, user);
    ScreenJournal recording(JournalFile(name), *session, loop.now());
    CHECK_FALSE(recording.complete());
    recording.connected();
    CHECK(recording.complete());
    const ev::Time now = loop.now();
    Message message{.id = 1, .payload = "a", .planned = now, .sent = now};
    const auto answer = [&](const Reply& reply, ev::Time at) {
        recording.add(fate_of(message, reply), &message, &reply,
                      {.right = reply.right,
                       .late = message.late,
                       .round_trip = reply.round_trip,
                       .transit = reply.round_trip},
                      at);
    };
    answer({"a", 2s, true}, now + 2s);
    message.id = 2;
    answer({"x", 3s, false, 0}, now + 3s);
    for (const std::uint64_t id : {3U, 4U}) {
        message.id = id;
        recording.add(Fate::lost, &message, nullptr, {}, now + 5s);
    }
    message.late = true;
    answer({"a", 8s, true}, now + 8s);
    const Reply alone{"hello", {}};
    recording.add(Fate::unsolicited, nullptr, &alone, {}, now + 9s);
    recording.add(Fate::duplicate, nullptr, &alone, {}, now + 9s);
    REQUIRE(recording.finish("stopped"));
    std::unique_ptr<Results> end;
    read_results(name, [&](std::unique_ptr<Results> result) { end = std::move(result); });
    std::filesystem::remove(name);
    CHECK(counts_text(*end) == "4 sent, 2 echoed, 1 bad, 1 lost");
    CHECK(end->late == 1);
    CHECK(end->unsolicited == 1);
    CHECK(end->round_trips.count() == 3);
    CHECK(test::connections_of(*end) == test::Connections{.attempts = 1, .opened = 1});
    CHECK((end->elapsed() == 8s));
    CHECK(Outcome{.results = *end}.status() == 1);
}
