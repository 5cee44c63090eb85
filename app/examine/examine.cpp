#include "app/examine/examine.hpp"

#include "app/examine/examination.hpp"
#include "app/text/json.hpp"
#include "ui/text.hpp"

#include <optional>

namespace yodel {

namespace {

using Failure = std::optional<Failed>;

// Repeats the check while it may have failed only because this process was late.
Failure perform(const Check& check, Examination& examination) {
    for (int repetitions = 0;; ++repetitions) {
        examination.reset();
        try {
            check.perform(examination);
            return std::nullopt;
        } catch (const Failed& failed) {
            const bool repeats = failed.timed_out && examination.was_late() && repetitions < 5;
            if (!repeats) return failed;
        }
    }
}

std::string tap_lines(std::size_t number, const Check& check, const Failure& failure,
                      const std::vector<std::string>& trace) {
    std::string lines;
    for (const std::string& each : trace) lines += "# " + each + '\n';
    lines += (failure ? "not ok " : "ok ") + std::to_string(number) + " - " + check.name;
    if (!failure) return lines + '\n';
    std::string text = ui::printable(failure->text);
    for (std::size_t at = 0; (at = text.find('#', at)) != text.npos; at += 2)
        text.insert(at, "\\");
    const std::string cause(check.cause);
    return lines + ": " + text + (cause.empty() ? "" : " (" + cause + ")") + '\n';
}

std::string json_line(std::size_t number, const Check& check, const Failure& failure,
                      const std::vector<std::string>& trace) {
    JsonObject object;
    object.text("type", "check").number("number", number).text("name", check.name);
    object.flag("ok", !failure);
    if (failure) object.text("came", failure->text).text("cause", check.cause);
    JsonArray array;
    for (const std::string& each : trace) array.text(each);
    if (!trace.empty()) object.array("trace", array);
    return object.str() + '\n';
}

// Returns why the other checks make no sense; empty if they do.
std::string reason_to_bail_out(std::size_t number, const Failed& failed, bool over) {
    if (over) return "the time is over (-m)";
    if (number == 1 && failed.hint.empty())
        return "this is no echo server, or its messages have another framing (-f)";
    if (number == 1) return failed.hint;
    return failed.end.reason == bufio::Reason::connect ? "the server has gone" : "";
}

}  // namespace

Trouble examine(ev::Loop& loop, const ExamineOptions& options) {
    const std::vector<Check> checks = checks_of(options.target);
    const ev::Duration limit = options.target.max_time.value_or(std::chrono::seconds(15));
    Examination examination(loop, options.target, limit, options.verbose);
    int status = success;
    for (std::size_t number = 1; number <= checks.size(); ++number) {
        const Check& check = checks[number - 1];
        options.check_begins(number, checks.size());
        Failure failure;
        try {
            failure = perform(check, examination);
        } catch (const Stopped&) {
            return {cannot_run, {}};
        }
        if (number == 1 && failure && failure->end)
            return {exit_status(failure->end), failure->text};
        if (number == 1 && !options.json)
            options.print("1.." + std::to_string(checks.size()) + '\n');
        options.print((options.json ? json_line : tap_lines)(number, check, failure,
                                                             examination.trace()));
        if (!failure) continue;
        status = reply_bad_or_lost;
        const std::string reason = reason_to_bail_out(number, *failure, examination.over());
        if (reason.empty()) continue;
        options.print(options.json
                          ? JsonObject().text("type", "end").text("reason", reason).str() + '\n'
                          : "Bail out! " + reason + '\n');
        break;
    }
    return {status, {}};
}

}  // namespace yodel
