#include "app/load/load.hpp"

#include "app/run/sources.hpp"
#include "app/text/escapes.hpp"
#include "app/text/exit_status.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <utility>

namespace yodel {

namespace {

using From = RunClient::Options::From;

// Returns the source of the messages. If no option asks for generated messages, a load without
// a length sends the lines of standard input unless it is a terminal.
From source_of(const LoadPlan& plan, const RunOptions& run) {
    if (run.probe) return From::none;
    const bool unread = run.session.max_time || ::isatty(STDIN_FILENO) == 1;
    return plan.generated || unread ? From::generator : From::input;
}

// Returns the pace. A climb needs a length.
std::optional<Pace> pace(const LoadPlan& plan, std::optional<ev::Duration> length) {
    if (!plan.rate_thousandths) return std::nullopt;
    const Pace first = Pace::per_second(*plan.rate_thousandths);
    if (!plan.last_rate_thousandths) return first;
    return first.climbing_to(static_cast<double>(*plan.last_rate_thousandths) / 1000, *length);
}

void plan_messages(const LoadPlan& plan, bool escapes, RunOptions& to) {
    const Session::Options& session = to.session;
    if (plan.messages_file.empty()) return;
    if (plan.reads_lines())
        return void(to.lines = {session.framing, session.max_frame, escapes, true, true});
    to.messages =
        read_own_messages(plan.messages_file, *session.framing, session.max_frame, escapes);
    for (const std::string& each : *to.messages) to.size = std::max(to.size, each.size());
}

// Uses at most one thread per connection. Throws UsageError if the user asked for several
// threads and standard input is sent, because only one thread can read it.
void check_threads(const LoadPlan& plan, From from, RunOptions& to) {
    const bool one = from == From::input || plan.reads_lines();
    if (one && to.threads > 1 && !plan.threads_auto)
        throw UsageError("--threads needs generated messages (-c, --size, --rate or -m), "
                         "because a single thread reads standard input");
    to.threads = one ? 1 : std::min(to.threads, to.connections);
}

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
            throw FileError("--messages: " + name + " is larger than " +
                            std::to_string(max_own_messages / 1024 / 1024) + " MiB");
    }
    if (!file || std::ferror(file.get()) != 0) throw InputError("--messages: " + name, errno);
    return text;
}

}  // namespace

OwnMessages read_own_messages(const std::string& file, const Framing& framing,
                              std::size_t max_frame, bool escapes) {
    const std::string text = read_file(file);
    if (text.empty()) throw FileError("--messages: " + file + " is empty");
    std::deque<std::string> messages;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::optional<std::string> message = text.substr(begin, end - begin);
        if (escapes) message = unescaped(*message);
        std::string fault;
        if (message) fault = message_refusal(*message, framing, max_frame);
        if (!message) fault.append(escapes_expected).append(" (--escapes)");
        if (!fault.empty())
            throw FileError("--messages: " + file + ": line " +
                            std::to_string(messages.size() + 1) + ": " + fault);
        messages.push_back(std::move(*message));
        begin = end + 1;
    }
    return std::make_shared<const std::deque<std::string>>(std::move(messages));
}

void plan_load(const LoadPlan& plan, std::optional<std::size_t> size,
               RunClient::Options& load) {
    RunOptions& to = load.run;
    load.report.load = !to.repeat;
    load.from = source_of(plan, to);
    check_threads(plan, load.from, to);
    to.window = plan.window;
    if (to.probe && !to.repeat) {
        to.length = std::exchange(to.session.max_time, std::nullopt);
        to.session.early_close = "closed before the end of the run";
    }
    if (load.from != From::generator) return;
    to.pace = pace(plan, to.session.max_time);
    if (plan.random_arrivals) to.seed = plan.seed.value_or(1);
    to.length = to.session.max_time;
    to.size = size.value_or(std::min(to.size, to.session.max_frame));
    plan_messages(plan, load.escapes, to);
}

}  // namespace yodel
