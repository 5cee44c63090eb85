#include "tests/ev/fixture.hpp"
#include "tests/support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

using namespace std::chrono_literals;

namespace {

// A loop, and objects that are made when they are first named: the timers t to v, the watches x
// and y of a pipe each, and the signals 1 and 2.
//   t5      starts the timer for 5 ms                 t-   cancels it
//   x+      wants the pipe to be readable             x-   wants nothing
//   x! x?   writes a byte into the pipe, or reads it  x^   closes its other end
//   1+ 1!   makes the signal; raises it
//   t~      destroys the object
//   stop    stops the loop                            throw  throws an exception
//   .       a turn                                    +5   a turn after 5 ms
class Scene {
public:
    // Performs the words in the callbacks of an object.
    void on(char name, const std::string& words) { callbacks_[name] = words; }

    void perform(const std::string& words) {
        std::istringstream in(words);
        for (std::string word; in >> word;) {
            INFO(word);
            const char name = word[0];
            const std::string what = word.substr(1);
            if (word == "stop") {
                loop_.stop();
            } else if (word == "throw") {
                throw std::runtime_error(word);
            } else if (name == '.' || name == '+') {
                turn(duration(what));
            } else if (what == "~") {
                timers_.erase(name);
                watches_.erase(name);
                signals_.erase(name);
            } else if (name >= 't' && name <= 'v') {
                ev::Timer& timer = timers_[name];
                if (!timer) timer = ev::Timer(loop_, [this, name] { call(name); });
                what == "-" ? timer.cancel() : timer.start(duration(what));
            } else if (name >= 'x') {
                change(name, what[0]);
            } else if (what == "!") {
                std::raise(name == '1' ? SIGUSR1 : SIGUSR2);
            } else {
                signals_[name] = ev::Signal(loop_, name == '1' ? SIGUSR1 : SIGUSR2,
                                            [this, name] { call(name); });
            }
        }
    }

    // A letter for each callback. After each turn a blank, behind | if the loop stopped, or !
    // if a callback threw.
    std::string calls;

private:
    static ev::Duration duration(const std::string& text) {
        return std::atoi(text.c_str()) * (text.ends_with("ns") ? 1ns : ev::Duration(1ms));
    }

    void call(char name) {
        calls += name;
        perform(callbacks_[name]);
    }

    void turn(ev::Duration after) {
        try {
            calls += loop_.turn_after(after) ? " " : "| ";
        } catch (const std::runtime_error&) {
            calls += "! ";
        }
    }

    void change(char name, char what) {
        Channel& pipe = pipes_.try_emplace(name, make_pipe()).first->second;
        if (what == '!') return pipe.put();
        if (what == '?') return static_cast<void>(pipe.take());
        if (what == '^') return pipe.in.close();
        ev::Watch& watch = watches_[name];
        if (!watch)
            watch =
                ev::Watch(loop_, pipe.out, ev::none, [this, name](ev::Events) { call(name); });
        watch.want(what == '+' ? ev::readable : ev::none);
    }

    FakeLoop loop_;
    std::map<char, std::string> callbacks_;
    std::map<char, Channel> pipes_;
    std::map<char, ev::Timer> timers_;
    std::map<char, ev::Watch> watches_;
    std::map<char, ev::Signal> signals_;
};

}  // namespace

TEST_CASE("callbacks may change, stop, throw and destroy, and each turn keeps its order") {
    const struct {
        std::string name;
        std::vector<std::pair<char, std::string>> callbacks;
        std::string words, calls;
    } rows[] = {
        {"a stop by a signal leaves the turn its other callbacks",
         {{'1', "stop"}},
         "1+ x+ y+ t0 u0 1! x! y! .",
         "1xytu| "},
        {"a stop by a watch", {{'x', "stop"}}, "1+ x+ y+ t0 u0 1! x! y! .", "1xytu| "},
        {"a stop by a timer", {{'t', "stop"}}, "1+ x+ y+ t0 u0 1! x! y! .", "1xytu| "},
        {"a stop between turns is consumed by one turn without callbacks",
         {},
         "1+ x+ t0 x! 1! stop stop . .",
         "| 1xt "},
        {"a stop outlives the exception that ends its turn",
         {{'t', "stop"}, {'u', "throw"}},
         "t0 u0 v0 . . .",
         "tu! | v "},
        {"an exception leaves the other watch and the timer to the next turn",
         {{'x', "x? throw"}, {'y', "y?"}},
         "x+ y+ t0 x! y! . .",
         "x! yt "},
        {"an exception leaves the other signal to the next turn",
         {{'1', "throw"}},
         "1+ 2+ 1! 2! . .",
         "1! 2 "},
        {"a signal ends all", {{'1', "t~ x~ 1~"}}, "t0 x+ 1+ x! 1! . .", "1 | "},
        {"a watch ends all", {{'x', "t~ x~ 1~"}}, "t0 x+ 1+ x! . .", "x | "},
        {"a timer ends all", {{'t', "t~ x~ 1~"}}, "t0 x+ 1+ . .", "t | "},

        {"a timer never fires early, whatever wakes the loop",
         {},
         "x+ x! t80 u900 . +79999999ns +1ns",
         "x x xt "},
        {"a timer started by a watch waits for the next turn",
         {{'x', "x? t0"}},
         "x+ x! . .",
         "x t "},
        {"a timer cancels, restarts and destroys others that are due",
         {{'t', "u- v1 x~"}},
         "t1 u2 v2 x+ +5 +1",
         "t v "},
        {"a timer destroys one that is due", {{'t', "u~"}}, "t1 u2 +5 .", "t | "},

        {"a signal raised in its own callback is delivered again",
         {{'1', "1!"}},
         "1+ 1! . . .",
         "1 1 1 "},
        {"a signal does not starve a higher one", {{'1', "1!"}}, "1+ 2+ 1! 2! . .", "12 1 "},
        {"a signal does not starve a lower one", {{'2', "2!"}}, "1+ 2+ 1! 2! . .", "12 2 "},
        {"a signal from before its object was made", {}, "1+ 1! 1~ 1+ . 1! .", " 1 "},
        {"a signal destroys another", {{'1', "2~"}, {'2', "1~"}}, "1+ 2+ 1! 2! .", "1 "},

        {"a watch destroys another", {{'x', "y~"}, {'y', "x~"}}, "x+ y+ x! y! .", "x "},
        {"a watch puts another to sleep", {{'x', "y-"}, {'y', "x-"}}, "x+ y+ x! y! .", "x "},
        {"after a hang-up, a watch destroys another",
         {{'x', "y~"}, {'y', "x~"}},
         "x+ y+ x^ y^ .",
         "x "},
        {"after a hang-up, a watch puts another to sleep",
         {{'x', "y-"}, {'y', "x-"}},
         "x+ y+ x^ y^ .",
         "x "},
    };
    for (const auto& row : rows) {
        INFO(row.name << ": " << row.words);
        Scene scene;
        for (const auto& [name, words] : row.callbacks) scene.on(name, words);
        scene.perform(row.words);
        CHECK(scene.calls == row.calls);
    }
}

TEST_CASE("run() continues until a stop, or until there is nothing to wait for") {
    FakeLoop loop;
    loop.run();
    int fired = 0;
    ev::Timer timer(loop, [&] {
        if (++fired < 5) timer.start(0ms);
        if (fired == 2) loop.stop();
    });
    timer.start(0ms);
    loop.run();
    CHECK(fired == 2);
    loop.run();
    CHECK(fired == 5);
    CHECK_FALSE(loop.step());
}

TEST_CASE("reads the time once a turn") {
    FakeLoop loop;
    ev::Time times[2];
    ev::Timer timer(loop, [&] {
        times[0] = loop.now();
        loop.time += 1h;
        times[1] = loop.now();
    });
    timer.start(0ms);
    loop.turn();
    CHECK(times[0] == times[1]);
    CHECK(loop.now() == loop.time);
}

TEST_CASE("a step waits until the nearest deadline, or its limit") {
    TickingLoop loop;
    auto pipe = make_pipe();
    ev::Watch watch(loop, pipe.out, ev::readable, [](ev::Events) {});
    CHECK(loop.step(2ms));
    CHECK(loop.waits().back() == 2ms);
    ev::Timer timer(loop, [] {});
    timer.start(1h);
    CHECK(loop.step(2ms));
    CHECK(loop.waits().back() == 2ms);
    timer.start(1ms);
    CHECK(loop.step(1h));
    CHECK(loop.waits().back() == 1ms - 1us);  // the clock has moved since the start
}

TEST_CASE("an object may be destroyed in its own callback, which keeps what it owns") {
    FakeLoop loop;
    struct Connection {
        ev::Timer timer;
        ev::Watch watch;
    };
    auto pipe = make_pipe();
    pipe.put();
    auto connection = std::make_shared<Connection>();
    connection->timer = ev::Timer(loop, [] {});
    connection->timer.start(1h);
    connection->watch = ev::Watch(loop, pipe.out, ev::readable, [connection](ev::Events) {
        connection->watch = {};  // now only the callback owns the connection
        CHECK(connection.use_count() == 1);
    });
    const std::weak_ptr<Connection> watched = std::exchange(connection, nullptr);
    loop.turn();
    CHECK(watched.expired());
    CHECK_FALSE(loop.turn());
}

TEST_CASE("a member of an empty object is a bug") {
    const auto aborts = [](auto call) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::signal(SIGABRT, SIG_DFL);
            ::close(STDERR_FILENO);
            call();
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    };
    CHECK(aborts([] { ev::Watch().want(ev::readable); }));
    CHECK(aborts([] { return ev::Watch().wanted(); }));
    CHECK(aborts([] { ev::Timer().start(1s); }));
    CHECK(aborts([] { ev::Timer().start_at({}); }));
    CHECK(aborts([] { ev::Timer().cancel(); }));
    CHECK(aborts([] { return ev::Timer().pending(); }));
    CHECK(aborts([] { return ev::Timer().deadline(); }));
}
