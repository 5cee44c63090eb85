#include "app/options/crowd_options.hpp"

#include "app/options/option_values.hpp"
#include "app/text/quotes.hpp"
#include "app/text/units.hpp"

#include <cmath>
#include <string>
#include <string_view>

namespace yodel {

namespace {

std::uint64_t thousandths_a_second(const std::string& text) {
    const auto rate = parse_rate(text);
    const bool possible = rate && *rate >= 0.001 && *rate <= 10e6;
    return checked(possible
                       ? std::optional(static_cast<std::uint64_t>(std::llround(*rate * 1000)))
                       : std::nullopt,
                   text, "a number a second from 0.001 to 10M, such as 50, 2.5 or 20k");
}

std::chrono::system_clock::time_point start_time(const std::string& text) {
    const auto now = std::chrono::system_clock::now();
    const auto delay = text.starts_with('+') ? parse_duration(text.substr(1)) : std::nullopt;
    const auto start =
        delay ? now + std::chrono::duration_cast<std::chrono::system_clock::duration>(*delay)
              : checked(parse_timestamp(text), text,
                        "a time such as 2026-12-01T10:00:00Z, or +5s");
    if (start < now) throw UsageError(in_quotes(text) + " has passed");
    return start;
}

void set_rate(CrowdOptions& to, const std::string& text) {
    static constexpr std::string_view search = "max@";
    to.rate.reset();
    to.rate_while.reset();
    if (!text.starts_with(search)) {
        to.rate = thousandths_a_second(text);
        return;
    }
    std::string trouble;
    to.rate_while = Requirement::parse(text.substr(search.size()), trouble);
    if (!to.rate_while) throw UsageError(trouble);
}

}  // namespace

std::vector<Option> crowd_options(CrowdOptions& to) {
    return {
        {.name = "connections",
         .argument = "N",
         .help = "so many connections, each with its messages (1)",
         .apply = [&](auto& text) { to.connections = positive_value(text, 1'000'000); }},
        {.name = "connect-rate",
         .argument = "R",
         .help = "new connections a second (all at once)",
         .apply = [&](auto& text) { to.connect_rate = thousandths_a_second(text); }},
        {.name = "rate",
         .argument = "R",
         .help = "messages a second in all; max@p99<5ms: the highest",
         .apply = [&](auto& text) { set_rate(to, text); }},
        {.name = "churn",
         .argument = "N",
         .help = "replace each connection after N messages (off)",
         .apply = [&](auto& text) { to.churn = positive_value(text, 4'000'000'000); }},
        {.name = "threads",
         .argument = "N|auto",
         .help = "deal them out to threads; auto: one a core (1)",
         .apply =
             [&](auto& text) {
                 to.threads = threads_value(text);
                 to.threads_by_system = text == "auto";
             },
         .values = {"auto"}},
        {.name = "start-at",
         .argument = "TIME|+D",
         .help = "the first message at this time, in UTC",
         .apply = [&](auto& text) { to.start = start_time(text); }},
    };
}

}  // namespace yodel
