// Tests as transcripts: a script plays a conversation over a virtual loop, one step after
// another.
//
//     send a; peer got a\n; +4999ms; reports nothing; +1ms; reports late a; peer sends a\n
//     reports right a=a late
//
// A semicolon and a blank, or the end of a line, separates steps. Text in double quotes is not
// split. A step is a verb and its argument. Fixtures derive from Script and add their verbs
// with on(), and settings, which stand before all other steps, with setting(). They pass the
// reports of the code under test to report(). Each script knows these verbs:
//
//     +5s                time passes; without such a step no time passes
//     turn               the loop makes one turn, in which no time passes
//     reports X, Y       exactly these reports came since the last `reports`. The script waits
//                        for what the system has not delivered yet. At its end, a script must
//                        leave no report unmentioned.
//     reports nothing    no report came, and none is about to come
//     reports ... X      the reports end with X
//     3 times ( a; b )   plays the steps in parentheses three times
//     until X ( a; b )   plays them until X is reported, at most 100 times, and drops all
//     reports
//
// In arguments, bytes() reads \n, \r, \\, \xNN, and x{1000} for a repeated character; shown()
// writes bytes like that. A failure shows the steps before it.
//
//     play_each<SessionScript>({{"an echo", "send a; peer answers a; reports right a=a"},
//     ...});
#pragma once

#include "tests/support/virtual_time.hpp"

#include <cctype>

namespace test {

inline std::string bytes(std::string_view text) {
    std::string to;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto rest = text.substr(at + 1);
        if (text[at] == '\\' && rest.starts_with('x')) {
            to += static_cast<char>(std::stoi(std::string(rest.substr(1, 2)), nullptr, 16));
            at += 3;
        } else if (text[at] == '\\' && !rest.empty()) {
            to += rest[0] == 'n' ? '\n' : rest[0] == 'r' ? '\r' : rest[0];
            ++at;
        } else if (text[at] == '{' && !to.empty() && std::isdigit(rest[0])) {
            to.append(std::stoul(std::string(rest)) - 1, to.back());
            at += rest.find('}') + 1;
        } else {
            to += text[at];
        }
    }
    return to;
}

inline std::string shown(std::string_view from) {
    std::string to;
    while (!from.empty()) {
        const char byte = from[0];
        const std::size_t run = std::min(from.find_first_not_of(byte), from.size());
        const std::size_t taken = run < 20 ? 1 : run;
        const char* const hex = "0123456789abcdef";
        if (byte == '\n' || byte == '\r' || byte == '\\') {
            to += std::string("\\") + (byte == '\n' ? 'n' : byte == '\r' ? 'r' : '\\');
        } else if (std::isprint(static_cast<unsigned char>(byte))) {
            to += byte;
        } else {
            to += std::string("\\x") + hex[(byte >> 4) & 15] + hex[byte & 15];
        }
        if (taken > 1) to += "{" + std::to_string(taken) + "}";
        from.remove_prefix(taken);
    }
    return to;
}

// Reads a duration such as 500ms.
inline ev::Duration duration(const std::string& text) {
    static const std::map<std::string, ev::Duration> units{
        {"ns", std::chrono::nanoseconds(1)},  {"us", std::chrono::microseconds(1)},
        {"ms", std::chrono::milliseconds(1)}, {"s", std::chrono::seconds(1)},
        {"min", std::chrono::minutes(1)},     {"h", std::chrono::hours(1)},
    };
    char* unit = nullptr;
    const long number = std::strtol(text.c_str(), &unit, 10);
    return number * units.at(unit);
}

// Writes a duration with the largest unit in which it is a whole number.
inline std::string shown(ev::Duration time) {
    const std::pair<const char*, ev::Duration::rep> units[] = {
        {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
    const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](auto each) {
        return time.count() % each.second == 0;
    });
    return std::to_string(time.count() / unit->second) + unit->first;
}

class Script {
public:
    using Step = std::function<void(const std::string& argument)>;

    Script() {
        on("+", [this](const std::string& time) { loop.pass(duration(time)); });
        on("turn", [this](const std::string&) { loop.step(ev::Duration::zero()); });
        on("reports", [this](const std::string& events) { expect_reports(events); });
    }
    virtual ~Script() = default;
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    // The longest verb that begins a step performs it.
    void on(const std::string& verb, Step step) { verbs_[verb] = {std::move(step), false}; }
    void setting(const std::string& verb, Step step) { verbs_[verb] = {std::move(step), true}; }
    void report(const std::string& event) {
        reports_ += (reports_.empty() ? "" : ", ") + event;
    }

    void play(std::string_view script) {
        play_steps(script);
        expect_reports("nothing");
    }
    // Makes turns, in which no time passes, until the condition holds.
    void await(const std::function<bool()>& condition) { REQUIRE(turned_until(condition)); }

    VirtualLoop loop;

protected:
    void play_steps(std::string_view script) {
        script.remove_prefix(std::min(script.find_first_not_of(" \n"), script.size()));
        while (!script.empty()) {
            const std::string step(next_step(script));
            played_ += step + "\n";
            INFO(played_);
            perform(step);
        }
    }
    // Called once, before the first step that is not a setting.
    virtual void begin() {}
    // Called before reports are compared, for code that does not report by itself.
    virtual void collect() {}

private:
    struct Verb {
        Step step;
        bool is_setting = false;
    };

    // Splits off the first step. Steps in parentheses belong to the step before them.
    static std::string_view next_step(std::string_view& script) {
        int depth = 0;
        bool quoted = false;
        std::size_t at = 0;
        for (; at < script.size(); ++at) {
            const std::string_view rest = script.substr(at);
            if (rest[0] == '"') quoted = !quoted;
            if (quoted) continue;
            depth += rest.starts_with(" ( ") ? 1 : 0;
            depth -= rest.starts_with(" )") ? 1 : 0;
            if (depth == 0 && (rest[0] == '\n' || rest.starts_with("; "))) break;
        }
        const std::string_view step = script.substr(0, at);
        script.remove_prefix(std::min(at + 1, script.size()));
        script.remove_prefix(std::min(script.find_first_not_of(" \n"), script.size()));
        return step;
    }

    void perform(const std::string& step) {
        const std::size_t group = step.find(" ( ");
        if (group != std::string::npos)
            return repeat(step.substr(0, group),
                          step.substr(group + 3, step.size() - group - 5));
        std::size_t size = step[0] == '+' ? 1 : step.size();
        while (verbs_.count(step.substr(0, size)) == 0) {
            size = step.substr(0, size).rfind(' ');
            if (size == std::string::npos) FAIL("no verb: " << step);
        }
        const Verb& verb = verbs_.at(step.substr(0, size));
        if (verb.is_setting) REQUIRE_FALSE(begun_);
        if (!verb.is_setting && !std::exchange(begun_, true)) begin();
        const std::size_t argument = step[0] == '+' ? 1 : size + 1;
        verb.step(argument < step.size() ? step.substr(argument) : "");
    }
    void repeat(const std::string& head, const std::string& steps) {
        if (head.starts_with("until ")) {
            const std::string event = head.substr(6);
            int rounds = 0;
            while (current().find(event) == std::string::npos) {
                REQUIRE(++rounds <= 100);
                play_steps(steps);
                loop.settle();
            }
            reports_.clear();
            return;
        }
        for (int left = std::stoi(head); left > 0; --left) play_steps(steps);
    }

    const std::string& current() {
        collect();
        return reports_;
    }
    void expect_reports(const std::string& events) {
        if (events == "nothing") {
            loop.settle();
            REQUIRE(current() == "");
        } else if (events.starts_with("... ")) {
            const std::string end = events.substr(4);
            turned_until([&] { return current().ends_with(end); });
            REQUIRE(reports_.substr(reports_.size() - std::min(reports_.size(), end.size())) ==
                    end);
        } else {
            turned_until([&] { return current() == events || !events.starts_with(reports_); });
            REQUIRE(reports_ == events);
        }
        reports_.clear();
    }
    bool turned_until(const std::function<bool()>& condition) {
        const ev::Time limit = ev::Clock::now() + std::chrono::seconds(10);
        while (!condition()) {
            if (ev::Clock::now() >= limit) return false;
            loop.step(ev::Duration::zero());
        }
        return true;
    }

    std::map<std::string, Verb> verbs_;
    std::string reports_;
    std::string played_;
    bool begun_ = false;
};

struct ScriptRow {
    std::string name;
    std::string script;
};

// Plays each script in a section of its own.
template <class Fixture>
void play_each(const std::vector<ScriptRow>& rows) {
    for (const ScriptRow& row : rows) DYNAMIC_SECTION(row.name) {
            Fixture().play(row.script);
        }
}

}  // namespace test
