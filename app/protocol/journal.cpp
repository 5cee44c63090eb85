#include "app/protocol/journal.hpp"

#include "app/protocol/event_text.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "bufio/fd.hpp"
#include "ui/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>

namespace yodel {

namespace {

// Buffered bytes that trigger a write, and their maximum for a slow reader.
constexpr std::size_t batch = 16 * 1024;
constexpr std::size_t max_pending_bytes = 1024 * 1024;

std::string refusal(const JournalFile& file) {
    return std::string("cannot write the ") + file.kind() + " " + file.path;
}

// Without O_NONBLOCK, opening a FIFO would block until a reader opens it.
bufio::Fd open_file(const std::string& path, const std::string& refusal) {
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    bufio::Fd file(::open(path.c_str(), flags, 0600));
    if (file) return file;
    const int code = errno;
    struct stat status {};
    const bool pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    throw OutputError(refusal + (pipe && code == ENXIO ? ": the pipe has no reader" : ""),
                      code);
}

bufio::Fd open_journal(const JournalFile& journal) {
    bufio::Fd file = open_file(journal.path, refusal(journal));
    struct stat status {};
    const bool regular = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (journal.recording && regular && status.st_size > 0)
        throw OutputError(refusal(journal), EEXIST);
    return file;
}

}  // namespace

Journal::Journal(const JournalFile& file, const SessionOptions& options, std::uint64_t first,
                 ev::Time now)
    : is_recording_(file.recording),
      refusal_(refusal(file)),
      output_(open_journal(file)),
      start_(now),
      first_(first),
      records_sent_(options.expect == Expect::none) {
    if (is_recording_)
        put(recording_object(options, first_, 1, std::chrono::system_clock::now()).str() +
            "\n");
}

bool Journal::add_event(const Event& event) {
    if (!is_recording_) {
        put(lines(std::chrono::system_clock::now(), event));
        return false;
    }
    const bool earlier = has_message(event.fate) && event.message.id < first_;
    const bool no_fate = event.fate == Fate::note || event.fate == Fate::read ||
                         (event.fate == Fate::sent && !records_sent_);
    if (earlier || no_fate) return false;
    put(json(event, start_, {.max_payload = whole_payload}).str() + "\n");
    return true;
}

void Journal::put(std::string_view lines) {
    if (!trouble_.empty()) return;
    output_.append(lines);
    if (output_.pending() >= batch) flush();
}

bool Journal::flush() {
    output_.flush();
    check();
    return trouble_.empty();
}

bool Journal::drain() {
    if (trouble_.empty()) output_.drain(last_drain_time);
    check();
    if (output_.pending() > 0) fail("its reader did not keep up; output is incomplete");
    return trouble_.empty();
}

bool Journal::finish(const std::string& end) {
    if (is_recording_) put(end + "\n");
    return drain();
}

void Journal::check() {
    if (output_.error() != 0) fail(output_.error_text());
    if (output_.pending() > max_pending_bytes) fail("its reader did not keep up");
}

void Journal::fail(const std::string& why) {
    trouble_ = refusal_ + ": " + why;
    output_.clear();
}

}  // namespace yodel
