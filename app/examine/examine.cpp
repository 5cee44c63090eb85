#include "app/examine/examine.hpp"

#include "app/examine/examination.hpp"
#include "app/text/json.hpp"
#include "ui/text.hpp"

#include <optional>
#include <utility>

namespace yodel {

namespace {

using namespace std::chrono_literals;

// Repeats the check while it may have failed only because this process was late.
std::optional<Failed> perform(const Check& check, Examination& examination) {
    for (int repetitions = 0;; ++repetitions) {
        examination.begin_check();
        try {
            check.perform(examination);
            return std::nullopt;
        } catch (const Failed& failed) {
            if (failed.how != Failed::How::silent || !examination.was_late() ||
                repetitions == 5)
                return failed;
        }
    }
}

// Tries several times, because the server may still be busy with the connections of a check.
bool still_answers(Examination& examination) {
    const Check echo = checks_of(examination.options()).front();
    for (int tries = 0; tries < 3; ++tries) {
        if (tries > 0) examination.sleep(100ms);
        if (!perform(echo, examination)) return true;
    }
    return false;
}

// Finds the cause of a failure, or the earlier failure with the same cause (`roots`). `able`:
// the abilities that other checks have proven. Returns the reason to end the examination; empty
// if there is none.
std::string judge(Failed& failed, const Check& check, std::vector<Failed>& roots, unsigned able,
                  Examination& examination) {
    if (failed.number == 1)
        return "examinations are for echo servers; this is none, or its messages have another "
               "framing (-f)";
    if (!still_answers(examination) && !examination.over()) {
        failed.cause = {check.fatal};
        return "the server is gone since check " + std::to_string(failed.number);
    }
    for (const Failed& each : roots) {
        const bool same = each.how == failed.how || each.cause.lacks == size;
        if (!same || (each.cause.lacks & check.needs) == 0) continue;
        failed.see = each.number;
        failed.cause = {};
        return {};
    }
    try {
        if (failed.cause.text.empty()) failed.cause = cause_of(failed, examination);
    } catch (const Failed&) {
    }
    if (examination.was_late() || examination.over()) failed.cause = {};
    if (failed.cause.text.empty()) failed.cause.lacks = check.needs & ~able;
    roots.push_back(failed);
    return {};
}

std::string json_line(const Check& check, std::size_t number,
                      const std::optional<Failed>& failed,
                      const std::vector<std::string>& trace) {
    JsonObject object;
    object.text("type", "check").number("number", number).text("name", check.name);
    object.flag("ok", !failed);
    if (failed) object.text("came", failed->text);
    if (failed && failed->see != 0) object.number("see", failed->see);
    if (failed && !failed->cause.text.empty()) object.text("cause", failed->cause.text);
    JsonArray array;
    for (const std::string& each : trace) array.text(each);
    if (!trace.empty()) object.array("trace", array);
    return object.str() + '\n';
}

std::string tap_lines(const Check& check, std::size_t number,
                      const std::optional<Failed>& failed,
                      const std::vector<std::string>& trace) {
    std::string lines;
    for (const std::string& each : trace) lines += "# " + each + '\n';
    lines += (failed ? "not ok " : "ok ") + std::to_string(number) + " - " + check.name;
    if (!failed) return lines + '\n';
    lines += ": ";
    for (const char each : ui::printable(failed->text))
        lines += (each == '#' ? "\\" : "") + std::string(1, each);
    const std::size_t see = failed->see;
    const std::string why = see != 0 ? "see " + std::to_string(see) : failed->cause.text;
    return lines + (why.empty() ? "" : " (" + why + ")") + '\n';
}

}  // namespace

Trouble examine(ev::Loop& loop, const ExamineOptions& options) {
    const std::vector<Check> checks = checks_of(options.target);
    Examination examination(loop, options.target, options.verbose);
    const auto report = options.json ? json_line : tap_lines;
    std::string plan = options.json ? "" : "1.." + std::to_string(checks.size()) + '\n';
    std::vector<Failed> roots;
    unsigned able = 0;
    int status = success;
    std::string reason;  // why the examination ends early
    try {
        for (std::size_t number = 1; number <= checks.size() && reason.empty(); ++number) {
            const Check& check = checks[number - 1];
            options.check_begins(number, checks.size());
            std::optional<Failed> failed = perform(check, examination);
            if (failed && failed->end && number == 1)
                return {exit_status(failed->end), failed->text};
            if (failed && examination.over()) {
                if (status == success) status = timed_out;
                reason = "the time is over (-m)";
                break;
            }
            const std::vector<std::string> trace = examination.trace();
            if (!failed) {
                able |= check.needs;
            } else {
                status = reply_bad_or_lost;
                failed->number = number;
                reason = judge(*failed, check, roots, able, examination);
            }
            options.print(std::exchange(plan, {}) + report(check, number, failed, trace));
        }
    } catch (const Stopped&) {
        return {cannot_run, {}};
    }
    if (reason.empty()) return {status, {}};
    const std::string end = JsonObject().text("type", "end").text("reason", reason).str();
    options.print((options.json ? end : "Bail out! " + reason) + '\n');
    return {status, {}};
}

}  // namespace yodel
