#include "app/stats/reports.hpp"

#include "app/stats/figures.hpp"
#include "app/text/json.hpp"
#include "app/text/units.hpp"

#include <algorithm>
#include <cctype>

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

}  // namespace yodel
