#include "tests/support/script.hpp"

namespace test {

ev::Duration duration(const std::string& text) {
    static const std::map<std::string, ev::Duration> units{
        {"ns", std::chrono::nanoseconds(1)},  {"us", std::chrono::microseconds(1)},
        {"ms", std::chrono::milliseconds(1)}, {"s", std::chrono::seconds(1)},
        {"min", std::chrono::minutes(1)},     {"h", std::chrono::hours(1)},
    };
    char* unit = nullptr;
    const long number = std::strtol(text.c_str(), &unit, 10);
    return number * units.at(unit);
}

std::string shown(ev::Duration time) {
    const std::pair<const char*, ev::Duration::rep> units[] = {
        {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
    const auto* const unit = std::find_if(std::begin(units), std::end(units), [&](auto each) {
        return time.count() % each.second == 0;
    });
    return std::to_string(time.count() / unit->second) + unit->first;
}

Script::Script() {
    on("+", [this](const std::string& time) { loop.pass(duration(time)); });
    on("turn", [this](const std::string&) { loop.step(ev::Duration::zero()); });
    on("reports", [this](const std::string& events) { expect_reports(events); });
}

void Script::report(const std::string& event) {
    reports_ += (reports_.empty() ? "" : ", ") + event;
}

void Script::play(std::string_view script) {
    play_steps(script);
    expect_reports("nothing");
}

void Script::play_steps(std::string_view script) {
    script.remove_prefix(std::min(script.find_first_not_of(" \n"), script.size()));
    while (!script.empty()) {
        const std::string step(next_step(script));
        played_ += step + "\n";
        INFO(played_);
        perform(step);
    }
}

std::string_view Script::next_step(std::string_view& script) {
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

void Script::perform(const std::string& step) {
    const std::size_t group = step.find(" ( ");
    if (group != std::string::npos)
        return repeat(step.substr(0, group), step.substr(group + 3, step.size() - group - 5));
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

void Script::repeat(const std::string& head, const std::string& steps) {
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

const std::string& Script::current() {
    collect();
    return reports_;
}

void Script::expect_reports(const std::string& events) {
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

bool Script::turned_until(const std::function<bool()>& condition) {
    const ev::Time limit = ev::Clock::now() + std::chrono::seconds(10);
    while (!condition()) {
        if (ev::Clock::now() >= limit) return false;
        loop.step(ev::Duration::zero());
    }
    return true;
}

}  // namespace test
