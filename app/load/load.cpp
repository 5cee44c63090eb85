#include "app/load/load.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace yodel {

namespace {

using From = RunOptions::From;

constexpr std::size_t max_own_messages = 64 * 1024 * 1024;  // bytes

}  // namespace

OwnMessages read_own_messages(const std::string& file, const LineReader::Options& lines) {
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> input(std::fopen(file.c_str(), "re"),
                                                                std::fclose);
    LineReader reader(lines);
    std::deque<std::string> messages;
    for (std::size_t size = 0; input && !reader.over();) {
        constexpr std::size_t chunk = 64 * 1024;
        const std::size_t count =
            std::fread(reader.bytes().reserve(chunk), 1, chunk, input.get());
        reader.bytes().commit(count);
        if (count == 0) reader.end();
        size += count;
        if (size > max_own_messages)
            throw FileError(usage_error, "--messages: " + file + " is larger than " +
                                             std::to_string(max_own_messages / 1024 / 1024) +
                                             " MiB");
        while (const auto message = reader.next()) {
            messages.emplace_back(message->payload);
            reader.pop(*message);
        }
    }
    if (!input || std::ferror(input.get()) != 0)
        throw FileError(input_failed, "--messages: " + file, errno);
    if (const Trouble trouble = reader.trouble(); !trouble.text.empty())
        throw FileError(trouble.status, trouble.text);
    return std::make_shared<const std::deque<std::string>>(std::move(messages));
}

void plan_load(const LoadPlan& plan, std::optional<std::size_t> size,
               RunClient::Options& load) {
    RunOptions& to = load.run;
    const Session::Options& session = to.session;
    load.report.load = !to.probe_interval;
    // If no option asks for generated messages, a load without a length sends the lines of
    // standard input unless it is a terminal.
    const bool unread = session.max_time || ::isatty(STDIN_FILENO) == 1;
    to.from = plan.reads_lines()                     ? From::shared_input
              : to.probe || plan.generated || unread ? From::generator
                                                     : From::input;
    const bool one_thread = to.from != From::generator;
    if (one_thread && to.threads > 1 && !plan.threads_auto)
        throw UsageError("--threads needs generated messages (-c, --size, --rate or -m), "
                         "because a single thread reads standard input");
    to.threads = one_thread ? 1 : std::min(to.threads, to.connections);
    to.window = plan.window;
    if (to.probe && !to.probe_interval) {
        to.length = std::exchange(to.session.max_time, std::nullopt);
        to.session.early_close = "closed before the end of the run";
    }
    if (!to.shares_source()) return;
    to.length = session.max_time;
    if (plan.rate_thousandths) to.pace = Pace::per_second(*plan.rate_thousandths);
    if (plan.last_rate_thousandths)  // a climb has a length
        to.pace = to.pace->climbing_to(static_cast<double>(*plan.last_rate_thousandths) / 1000,
                                       *to.length);
    if (plan.random_arrivals) to.seed = plan.seed.value_or(1);
    to.size = size.value_or(std::min(to.size, session.max_frame));
    if (to.from == From::generator && !plan.messages_file.empty()) {
        LineReader::Options lines = to.line_options();
        lines.messages_file = plan.messages_file;
        to.messages = read_own_messages(plan.messages_file, lines);
    }
    if (to.messages)
        for (const std::string& each : *to.messages) to.size = std::max(to.size, each.size());
}

}  // namespace yodel
