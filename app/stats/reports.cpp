#include "app/stats/reports.hpp"

#include "app/stats/figures.hpp"
#include "app/text/escapes.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"

#include <algorithm>

namespace yodel {

namespace {

// An integer below 10^15, or a time below ten days in nanoseconds, is exact.
constexpr int metric_digits = 15;

// Adds the unit to the name, without the unit of the end object.
std::string metric_name(std::string path, const std::string& unit) {
    if (const std::size_t at = path.find("_us"); at != path.npos) path.erase(at, 3);
    std::replace(path.begin(), path.end(), '.', '_');
    return "yodel_" + path + (unit.empty() ? "" : "_") + unit;
}

std::string metric(const RunReport& run, const std::string& path, const std::string& unit,
                   const std::string& help, double value) {
    const std::string name = metric_name(path, unit);
    std::string text = "# TYPE " + name + " gauge\n";
    if (!unit.empty()) text += "# UNIT " + name + " " + unit + "\n";
    text += "# HELP " + name + " " + help + ".\n" + name;
    if (!run.target.empty()) text += "{target=" + json_string(run.target) + "}";
    return text + " " + significant_text(value, metric_digits) + "\n";
}

std::string attribute(const char* name, std::string_view value) {
    return std::string(" ") + name + "=\"" + xml_text(value) + "\"";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The text is the first line and the details.
std::string failure_element(const std::string& text) {
    if (text.empty()) return "";
    return "<failure" + attribute("message", first_line(text)) + ">" + xml_text(text) +
           "</failure>";
}

// `content`: an element, or nothing.
std::string test_case(const char* kind, const std::string& name, const std::string& content,
                      ev::Duration time = {}) {
    return std::string("<testcase classname=\"yodel.") + kind + "\"" + attribute("name", name) +
           attribute("time", seconds_text(time)) + ">" + content + "</testcase>\n";
}

// Counts elements: no other text contains a "<".
std::string count(std::string_view cases, std::string_view element) {
    unsigned found = 0;
    for (std::size_t at = cases.find(element); at != cases.npos;
         at = cases.find(element, at + 1))
        ++found;
    return std::to_string(found);
}

}  // namespace

std::string metrics_text(const RunReport& run) {
    std::string text;
    for (const Figure& figure : figures()) {
        const auto value = figure.value(run.results);
        if (!value) continue;
        const bool time = figure.kind == Figure::Kind::time;
        const bool ratio = figure.kind == Figure::Kind::count && !figure.whole;
        text += metric(run, figure.path, time ? "seconds" : (ratio ? "ratio" : ""), figure.help,
                       time ? *value / 1e9 : *value);
    }
    const std::chrono::duration<double> elapsed = run.results.elapsed();
    text += metric(run, "duration", "seconds", "Time from the first message to the last reply",
                   elapsed.count());
    return text + metric(run, "exit_status", "", "Exit status", run.status) + "# EOF\n";
}

std::string junit_text(const RunReport& run) {
    const ev::Duration elapsed = run.results.elapsed();
    std::string cases = test_case("run", "run", failure_element(run.failure), elapsed);
    for (const Requirement::Judged& each : run.verdict.requirements)
        cases += test_case("require", each.clause, failure_element(each.failure));
    for (const std::string& each : run.differences)
        cases += test_case("replay", first_line(each), failure_element(each));
    std::string suite = attribute("name", run.target.empty() ? "yodel" : "yodel " + run.target);
    if (run.results.first_sent)
        suite += attribute("timestamp", timestamp_text(run.results.began()).substr(0, 19));
    suite += attribute("tests", count(cases, "<testcase")) +
             attribute("failures", count(cases, "<failure")) + attribute("errors", "0") +
             attribute("skipped", "0") + attribute("time", seconds_text(elapsed));
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite" + suite +
           ">\n" + cases + "</testsuite>\n</testsuites>\n";
}

}  // namespace yodel
