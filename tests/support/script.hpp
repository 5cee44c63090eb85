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
//     reports X, Y       exactly these reports were made since the last `reports`. The script
//                        waits for what the system has not delivered yet. At its end, a script
//                        must leave no report unmentioned.
//     reports nothing    no report was made, and none is pending
//     reports ... X      the reports end with X
//     3 times ( a; b )   plays the steps in parentheses three times
//     until X ( a; b )   plays them until X is reported, at most 100 times, and drops the
//                        reports
//
// Bytes in arguments are written as in escapes.hpp. A failure shows the steps before it.
//
//     play_each<SessionScript>({{"an echo", "send a; peer answers a; reports right a=a"}});
#pragma once

#include "tests/support/escapes.hpp"
#include "tests/support/virtual_time.hpp"

namespace test {

// Reads a duration such as 500ms.
ev::Duration duration(const std::string& text);
// Writes a duration with the largest unit in which it is a whole number.
std::string shown(ev::Duration time);

class Script {
public:
    using Step = std::function<void(const std::string& argument)>;

    Script();
    virtual ~Script() = default;
    Script(const Script&) = delete;
    Script& operator=(const Script&) = delete;

    // The longest verb that begins a step performs it.
    void on(const std::string& verb, Step step) { verbs_[verb] = {std::move(step), false}; }
    void setting(const std::string& verb, Step step) { verbs_[verb] = {std::move(step), true}; }
    void report(const std::string& event);

    void play(std::string_view script);
    // Makes turns, in which no time passes, until the condition holds.
    void await(const std::function<bool()>& condition) { REQUIRE(turned_until(condition)); }

    VirtualLoop loop;

protected:
    void play_steps(std::string_view script);
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
    static std::string_view next_step(std::string_view& script);

    void perform(const std::string& step);
    void repeat(const std::string& head, const std::string& steps);

    const std::string& current();
    void expect_reports(const std::string& events);
    bool turned_until(const std::function<bool()>& condition);

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
