#include "app/text/log_file.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "bufio/fd.hpp"
#include "ui/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Bytes handed over at once, and the most that may wait for a reader.
constexpr std::size_t batch = 16 * 1024;
constexpr std::size_t max_pending = 1024 * 1024;

std::string refusal(const std::string& path, LogFile::Content content) {
    const bool recording = content == LogFile::Content::recording;
    return std::string("cannot write the ") + (recording ? "recording " : "log ") + path;
}

// Without O_NONBLOCK, a pipe would be waited for until somebody reads it.
bufio::Fd open_without_waiting(const std::string& path, LogFile::Content content) {
    bufio::Fd file(::open(
        path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
    if (file) return file;
    const int code = errno;
    struct stat status {};
    const bool pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    if (pipe && code == ENXIO)
        throw OutputError(refusal(path, content) + ": nobody reads this pipe", code);
    throw OutputError(refusal(path, content), code);
}

bufio::Fd open_file(const std::string& path, LogFile::Content content) {
    bufio::Fd file = open_without_waiting(path, content);
    struct stat status {};
    const bool regular = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (content == LogFile::Content::recording && regular && status.st_size > 0)
        throw OutputError(refusal(path, content), EEXIST);
    return file;
}

}  // namespace

LogFile::LogFile(const std::string& path, Content content)
    : refusal_(refusal(path, content)), output_(open_file(path, content)) {}

void LogFile::add(char sign, std::string_view bytes) {
    if (!trouble_.empty()) return;
    add_line(precise_date_text(std::chrono::system_clock::now()) + ' ' + sign + ' ' +
             ui::printable(bytes));
}

void LogFile::add_line(std::string_view line) {
    if (!trouble_.empty()) return;
    output_.append_line(line);
    if (output_.pending() >= batch) flush();
}

bool LogFile::flush() {
    output_.flush();
    check();
    return trouble_.empty();
}

bool LogFile::finish() {
    if (trouble_.empty()) output_.drain(last_wait);
    check();
    if (output_.pending() > 0) fail("not all was written, because it is not read");
    return trouble_.empty();
}

void LogFile::check() {
    if (output_.error() != 0) fail(std::generic_category().message(output_.error()));
    if (output_.pending() > max_pending) fail("it is not read");
}

void LogFile::fail(const std::string& why) {
    trouble_ = refusal_ + ": " + why;
    output_.clear();
}

}  // namespace yodel
