#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/select.h>

#include <cstdio>
#include <limits>
#include <system_error>

using namespace std::chrono_literals;
using ev::Events;
using ev::Watch;

namespace {

constexpr std::pair<char, Events> letters[] = {
    {'r', ev::readable}, {'w', ev::writable}, {'h', ev::hangup}, {'e', ev::error}};

std::string text_of(Events events) {
    std::string text;
    for (const auto& [letter, event] : letters)
        if (events & event) text += letter;
    return text.empty() ? "-" : text;
}

// The watches a and b of one descriptor, and the words that change them:
//   a=rw    makes the watch, or changes what it wants; a=- lets it sleep
//   a~ a?   destroys it, or records what it wants
//   put take close          writes or reads a byte; closes the other end
//   shut    closes the watched descriptor itself
//   turn turns              one turn, or ten
class Scene {
public:
    Scene(const std::string& backend, const std::string& watched)
        : loop_(backend), pair_(watched == "socket" ? make_socketpair() : make_pipe()) {
        if (watched == "file") ::dup2(::fileno(file_.get()), pair_.out);
        if (watched != "full pipe") return;
        pair_.fill();
        std::swap(pair_.in, pair_.out);
    }

    void play(const std::string& words) {
        std::istringstream in(words);
        for (std::string word; in >> word;) {
            INFO(word);
            if (word.size() > 1 && (word[0] == 'a' || word[0] == 'b')) {
                change(word[0], word.substr(1));
            } else {
                perform(word);
            }
        }
    }
    std::string calls_of(char name) {
        return calls_[name].substr(calls_[name].empty() ? 0 : 1);
    }

private:
    void change(char name, const std::string& how) {
        std::optional<Watch>& watch = watches_[name];
        if (how == "~") return watch.reset();
        if (how == "?") {
            calls_[name] += " (" + text_of(watch->wanted()) + ")";
            return;
        }
        Events interest = ev::none;
        for (const auto& [letter, event] : letters)
            if (how.find(letter) != std::string::npos) interest |= event;
        if (watch) return watch->want(interest);
        watch.emplace(loop_, pair_.out, interest,
                      [this, name](Events events) { calls_[name] += ' ' + text_of(events); });
    }

    void perform(const std::string& word) {
        if (word == "put") return pair_.put();
        if (word == "take") return static_cast<void>(pair_.take());
        if (word == "close") return pair_.in.close();
        if (word == "shut") return pair_.out.close();
        for (int turns = word == "turns" ? 10 : 1; turns > 0; --turns)
            CHECK(loop_.turn() == (watches_['a'] || watches_['b']));
    }

    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    FakeLoop loop_;
    const std::unique_ptr<std::FILE, Close> file_{std::tmpfile()};
    Channel pair_;
    std::map<char, std::optional<Watch>> watches_;
    std::map<char, std::string> calls_;
};

// The events reported to a watch, one entry per callback.
struct Record {
    void operator()(Events now) { events.push_back(now); }
    std::vector<Events> events;
};

}  // namespace

TEST_CASE("a watch reports what it wants, and each hang-up and error once") {
    const struct {
        const char *name, *watched, *words, *a;
        const char *b = "", *except = "";
    } rows[] = {
        {"only wanted events", "socket", "a=rw turn put turn a=r turn take turn", "w rw r"},
        {"a sleeping watch", "pipe", "a=- put turn close turn a? a=r turn", "(-) rh"},
        {"a watch for hang-ups", "socket", "a=h put turn close turns a?", "h (-)", "",
         "select"},
        {"a hang-up", "pipe", "a=r close turns a? a=r turn", "rh (-) rh"},
        {"a hang-up for a watch that only writes", "socket", "a=w close turn a=- turns", "wh"},
        {"bytes before a hang-up", "pipe", "put put a=r close turn take turn take turns",
         "rh rh rh"},
        {"a writer without a reader", "full pipe", "a=w turn close turns a?", "we (-)"},
        {"a regular file", "file", "a=rw turn a=r turn", "rw r"},
        {"closed before it is watched", "pipe", "shut a=r turns", "re"},
        {"closed while it is watched", "pipe", "a=r shut turns", "re", "", "epoll"},
        {"closed, and epoll asks again", "pipe", "a=r shut a=rw turns", "rwe"},
        {"two interests", "socket", "a=r b=w turn b=- put turn b=rw turn", "r r", "w rw"},
        {"two and a hang-up", "pipe", "a=r b=r close turns", "rh", "rh"},
        {"the first sleeps", "pipe", "put a=r b=r a=- turn a=r b~ turn", "r", "r"},
        {"the second sleeps", "pipe", "put a=r b=r b=- turn b=r a~ turn", "r", "r"},
        {"the first is destroyed", "pipe", "put a=r b=r a~ turn a=r b~ turn", "r", "r"},
        {"the second is destroyed", "pipe", "put a=r b=r b~ turn b=r a~ turn a=r b=r b~ turn",
         "r r", "r"},
    };
    for (const std::string& backend : backends())
        for (const auto& row : rows) {
            if (row.except == backend) continue;
            INFO(backend << ", " << row.name << ": " << row.words);
            Scene scene(backend, row.watched);
            scene.play(row.words);
            CHECK(scene.calls_of('a') == row.a);
            CHECK(scene.calls_of('b') == row.b);
        }
}

TEST_CASE("an invalid descriptor is an error once, and hides no event of others") {
    const int closed = Fd(::fcntl(0, F_DUPFD, 100));
    for (const std::string& backend : backends())
        for (const int invalid : {closed, -1, -7, std::numeric_limits<int>::min()}) {
            CAPTURE(backend, invalid);
            FakeLoop loop(backend);
            auto pipe = make_pipe();
            pipe.put();
            Record reader, writer, valid;
            const Watch reads(loop, invalid, ev::readable, std::ref(reader));
            loop.step();  // waits without a limit
            CHECK(reader.events == std::vector{ev::readable | ev::error});
            const Watch writes(loop, invalid, ev::writable, std::ref(writer));
            const Watch beside(loop, pipe.out, ev::readable, std::ref(valid));
            for (int turns = 0; turns < 2; ++turns) loop.turn();
            CHECK(reader.events.size() == 1);
            CHECK(writer.events == std::vector{ev::writable | ev::error});
            CHECK(valid.events == std::vector<Events>(2, ev::readable));
        }
}

TEST_CASE("a descriptor number reused in the same turn gets no event of the old descriptor") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        FakeLoop loop(backend);
        Channel pipes[] = {make_pipe(), make_pipe()};
        auto fresh = make_pipe();
        int fresh_calls = 0;
        // The watch served first replaces the other watch, which is also ready, by a watch of
        // another descriptor with the same number.
        std::optional<Watch> watches[2];
        for (const std::size_t i : {0U, 1U}) {
            pipes[i].put();
            watches[i].emplace(loop, pipes[i].out, ev::readable, [&, i](Events) {
                pipes[i].take();
                watches[1 - i].reset();
                const int number = pipes[1 - i].out;
                ::dup2(fresh.out, number);
                watches[1 - i].emplace(loop, number, ev::readable, [&](Events) {
                    ++fresh_calls;
                    fresh.take();
                });
            });
        }
        loop.turn();
        CHECK(fresh_calls == 0);
        fresh.put();
        loop.turn();
        CHECK(fresh_calls == 1);
    }
}

TEST_CASE("watches of a shared descriptor leave no duplicate behind") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        auto pipe = make_pipe(), other = make_pipe();
        const auto before = open_descriptors();
        {
            FakeLoop loop(backend);
            Record record;
            std::vector<Watch> watches;
            for (int i = 0; i < 5; ++i)
                watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
            const auto most = open_descriptors();
            for (int i = 0; i < 10; ++i) {
                Watch another(loop, pipe.out, ev::writable, std::ref(record));
                another.want(ev::readable);
            }
            CHECK(open_descriptors() == most);
            pipe.put();
            loop.turn();
            CHECK(record.events.size() == 5);
            // Removing a descriptor that was closed too early keeps the others watched.
            Watch early(loop, other.out, ev::readable, [](Events) {});
            other.out.close();
            early = {};
            loop.turn();
            CHECK(open_descriptors().size() + 1 == most.size());
            CHECK(record.events.size() == 10);
        }
        CHECK(open_descriptors().size() + 1 == before.size());
    }
}

TEST_CASE("a watch whose descriptor was closed too early is removed without a trace") {
    const bool exhausted = GENERATE(false, true);  // no descriptor is left for a new epoll
    for (const std::string& backend : backends()) {
        INFO(backend);
        FakeLoop loop(backend);
        auto pipe = make_pipe(), other = make_pipe();
        const Fd twin(::dup(pipe.out));  // keeps the open file in the epoll instance
        Record record, fresh;
        std::optional<Watch> watch(std::in_place, loop, pipe.out, ev::readable,
                                   std::ref(record));
        Watch others(loop, other.out, ev::readable, std::ref(fresh));
        pipe.out.close();
        const DescriptorLimit limit(64);
        std::vector<Fd> rest;
        while (exhausted && (rest.empty() || rest.back() >= 0))
            rest.emplace_back(::dup(other.in));
        watch.reset();
        pipe.put();
        other.put();
        loop.turn();
        CHECK(record.events.empty());
        CHECK(fresh.events == std::vector{ev::readable});
    }
}

TEST_CASE("removes two descriptors closed too early in either order") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        auto low = make_pipe(), high = make_pipe(),
             other = make_pipe();  // numbers below the loop's
        FakeLoop loop(backend);
        Record record, valid;
        std::vector<Channel> idle;  // enough to make auto use epoll
        std::vector<Watch> watches;
        for (int i = 0; i < 60; ++i) {
            idle.push_back(make_pipe());
            watches.emplace_back(loop, idle.back().out, ev::readable, [](Events) {});
        }
        Watch left(loop, low.out, ev::readable, std::ref(record));
        std::optional<Watch> forgotten(std::in_place, loop, high.out, ev::readable,
                                       [](Events) {});
        Watch others(loop, other.out, ev::readable, std::ref(valid));
        for (int turns = 0; turns < 200; ++turns) loop.turn();
        low.out.close();
        high.out.close();
        forgotten.reset();
        other.put();
        for (int turns = 0; turns < 10; ++turns) loop.turn();
        CHECK(record.events == std::vector{ev::readable | ev::error});
        CHECK(valid.events == std::vector<Events>(10, ev::readable));
    }
}

TEST_CASE("serves thousands of descriptors") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        const DescriptorLimit limit(backend == "select" ? FD_SETSIZE : 20'000);
        FakeLoop loop(backend);
        auto pipe = make_pipe();
        pipe.put();
        std::size_t calls = 0;
        std::vector<Fd> fds;
        std::vector<Watch> watches;
        while (watches.size() + 50 < std::min<rlim_t>(limit.allowed(), 5050)) {
            fds.emplace_back(::dup(pipe.out));
            watches.emplace_back(loop, fds.back(), ev::readable, [&](Events) { ++calls; });
        }
        loop.turn();  // one turn serves all
        CHECK(calls == watches.size());
        CHECK(watches.size() > 100);
    }
}

TEST_CASE("refuses a watch beyond the descriptor limit, however small") {
    const rlim_t allowed = GENERATE(as<rlim_t>(), 16, 64);
    for (const std::string& backend : backends()) {
        INFO(backend);
        auto pipe = make_pipe();
        pipe.put();
        FakeLoop loop(backend);
        const DescriptorLimit limit(allowed);
        Record record;
        std::vector<Watch> watches;
        std::error_code reason;
        while (!reason && watches.size() < 100) {
            try {
                watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
            } catch (const std::system_error& refused) {
                reason = refused.code();
            }
        }
        CHECK(reason == std::errc::too_many_files_open);
        REQUIRE_FALSE(watches.empty());
        loop.turn();
        CHECK(record.events.size() == watches.size());
        watches.pop_back();
        watches.emplace_back(loop, pipe.out, ev::readable, std::ref(record));
        loop.turn();
        CHECK(record.events.size() == 2 * watches.size());
    }
}

TEST_CASE("a limit lowered below the number of watches loses no event") {
    for (const std::string& backend : backends()) {
        INFO(backend);
        FakeLoop loop(backend);
        std::vector<Channel> pipes;
        std::vector<Record> records(40);
        std::vector<Watch> watches;
        for (Record& record : records) {
            pipes.push_back(make_pipe());
            watches.emplace_back(loop, pipes.back().out, ev::readable, std::ref(record));
        }
        const DescriptorLimit limit(20);
        for (Channel& pipe : pipes) pipe.put();
        for (std::size_t turns = 0; turns < records.size(); ++turns) loop.turn();
        for (const Record& record : records) {
            REQUIRE(record.events.size() >= 1);
            REQUIRE((record.events[0] & ev::readable));
        }
    }
}

TEST_CASE("waits of any length end with an event or a signal") {
    for (const std::string& name : backends())
        for (const ev::Duration max_wait :
             {ev::Duration(0ns), ev::Duration(1ns), ev::Duration(1ms), ev::Duration(60 * 24h),
              ev::Duration::max() - 1ns, ev::Duration::max()}) {
            CAPTURE(name, max_wait.count());
            FakeLoop loop(name);
            auto pipe = make_pipe();
            Record record;
            const ev::Signal wakes(loop, SIGUSR1, [&] { pipe.put(); });
            const Watch watch(loop, pipe.out, ev::readable, std::ref(record));
            std::raise(SIGUSR1);
            loop.step(max_wait);
            CHECK(record.events.empty());
            loop.step(max_wait);
            CHECK(record.events == std::vector{ev::readable});
        }
}
