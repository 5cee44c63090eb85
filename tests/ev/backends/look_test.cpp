#include "ev/backends/backends.hpp"
#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace std::chrono_literals;

TEST_CASE(
    "looks before it sleeps after a turn with events, more rarely if that finds nothing") {
    // Follows a script of waits: p is a look that finds nothing, P a look that finds an event,
    // s a sleep that finds an event, - a sleep that finds nothing.
    struct Inner final : ev::Backend {
        Inner(std::string& done, const std::string& coming) : waits(done), script(coming) {}
        void wait(ev::Duration max_wait, std::vector<ev::Readiness>& ready) override {
            const char next = script[waits.size()];
            CHECK((max_wait > 0ns) == (next == 's' || next == '-'));
            waits += next;
            if (next == 's' || next == 'P') ready.push_back({&registration, ev::readable});
        }
        std::string& waits;
        const std::string& script;
        ev::Registration registration;
    };
    const std::string script = "s"
                               "ps"
                               "sps"
                               "sssps"
                               "sssssssps" +
                               std::string(15, 's') + "ps" + std::string(15, 's') +
                               "PPp-"
                               "ssps"
                               "sssP";
    std::string waits;
    const auto backend = ev::make_look_backend(std::make_unique<Inner>(waits, script));
    while (waits.size() < script.size()) {
        std::vector<ev::Readiness> ready;
        backend->wait(1ms, ready);
    }
}
