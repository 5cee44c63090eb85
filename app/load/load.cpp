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

using From = RunClient::Options::From;

constexpr std::size_t max_own_messages = 64 * 1024 * 1024;  // bytes

std::string read_file(const std::string& name) {
    errno = 0;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "re"),
                                                               std::fclose);
    std::string text;
    char bytes[65536];
    for (std::size_t count = sizeof bytes; file && count > 0;) {
        count = std::fread(bytes, 1, sizeof bytes, file.get());
        text.append(bytes, count);
        if (text.size() > max_own_messages)
            throw FileError(usage_error, "--messages: " + name + " is larger than " +
                                             std::to_string(max_own_messages / 1024 / 1024) +
                                             " MiB");
    }
    if (!file || std::ferror(file.get()) != 0)
        throw FileError(input_failed, "--messages: " + name, errno);
    return text;
}

}  // namespace

OwnMessages read_own_messages(const std::string& file, const Framing& framing,
                              std::size_t max_frame, bool escapes) {
    const std::string text = read_file(file);
    if (text.empty()) throw FileError(usage_error, "--messages: " + file + " is empty");
    std::deque<std::string> messages;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::optional<std::string> message = text.substr(begin, end - begin);
        if (escapes) message = unescaped(*message);
        std::string fault;
        if (message) fault = message_refusal(*message, framing, max_frame);
        if (!message) fault.append(escapes_expected).append(" (--escapes)");
        if (!fault.empty())
            throw FileError(usage_error, "--messages: " + file + ": line " +
                                             std::to_string(messages.size() + 1) + ": " +
                                             fault);
        messages.push_back(std::move(*message));
        begin = end + 1;
    }
    return std::make_shared<const std::deque<std::string>>(std::move(messages));
}

void plan_load(const LoadPlan& plan, std::optional<std::size_t> size,
               RunClient::Options& load) {
    RunOptions& to = load.run;
    const Session::Options& session = to.session;
    load.report.load = !to.repeat;
    // If no option asks for generated messages, a load without a length sends the lines of
    // standard input unless it is a terminal.
    const bool unread = session.max_time || ::isatty(STDIN_FILENO) == 1;
    load.from = to.probe                   ? From::none
                : plan.generated || unread ? From::generator
                                           : From::input;
    const bool one_thread = load.from == From::input || plan.reads_lines();
    if (one_thread && to.threads > 1 && !plan.threads_auto)
        throw UsageError("--threads needs generated messages (-c, --size, --rate or -m), "
                         "because a single thread reads standard input");
    to.threads = one_thread ? 1 : std::min(to.threads, to.connections);
    to.window = plan.window;
    if (to.probe && !to.repeat) {
        to.length = std::exchange(to.session.max_time, std::nullopt);
        to.session.early_close = "closed before the end of the run";
    }
    if (load.from != From::generator) return;
    to.length = session.max_time;
    if (plan.rate_thousandths) to.pace = Pace::per_second(*plan.rate_thousandths);
    if (plan.last_rate_thousandths)  // a climb has a length
        to.pace = to.pace->climbing_to(static_cast<double>(*plan.last_rate_thousandths) / 1000,
                                       *to.length);
    if (plan.random_arrivals) to.seed = plan.seed.value_or(1);
    to.size = size.value_or(std::min(to.size, session.max_frame));
    if (plan.reads_lines())
        to.lines = {session.framing, session.max_frame, load.escapes, true};
    else if (!plan.messages_file.empty())
        to.messages = read_own_messages(plan.messages_file, *session.framing, session.max_frame,
                                        load.escapes);
    if (to.messages)
        for (const std::string& each : *to.messages) to.size = std::max(to.size, each.size());
}

}  // namespace yodel
