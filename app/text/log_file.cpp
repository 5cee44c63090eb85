#include "app/text/log_file.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"
#include "bufio/fd.hpp"
#include "ui/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Bytes written at once, and the limit of bytes that wait for a reader.
constexpr std::size_t batch = 16 * 1024;
constexpr std::size_t max_waiting = 1024 * 1024;

using Content = LogFile::Content;

std::string refusal(const std::string& path, Content content) {
    return (content == Content::log ? "cannot write the log " : "cannot write the recording ") +
           path;
}

// Without O_NONBLOCK, opening a pipe would block until somebody reads it.
bufio::Fd open_file(const std::string& path, const std::string& refusal) {
    constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    bufio::Fd file(::open(path.c_str(), flags, 0666));
    if (file) return file;
    const int code = errno;
    struct stat status {};
    const bool pipe = ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
    throw OutputError(refusal + (pipe && code == ENXIO ? ": the pipe has no reader" : ""),
                      code);
}

bufio::Fd open_log(const std::string& path, Content content) {
    bufio::Fd file = open_file(path, refusal(path, content));
    struct stat status {};
    const bool regular = ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
    if (content == Content::recording && regular && status.st_size > 0)
        throw OutputError(refusal(path, content), EEXIST);
    return file;
}

}  // namespace

LogFile::LogFile(const std::string& path, Content content)
    : refusal_(refusal(path, content)), output_(open_log(path, content)) {}

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
    if (output_.pending() > 0) fail("its reader did not keep up; output is incomplete");
    return trouble_.empty();
}

void LogFile::check() {
    if (output_.error() != 0) fail(output_.error_text());
    if (output_.pending() > max_waiting) fail("its reader did not keep up");
}

void LogFile::fail(const std::string& why) {
    trouble_ = refusal_ + ": " + why;
    output_.clear();
}

}  // namespace yodel
