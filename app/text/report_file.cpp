#include "app/text/report_file.hpp"

#include "app/text/exit_status.hpp"
#include "bufio/fd.hpp"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace yodel {

namespace {

// Without O_NONBLOCK, a pipe would be waited for until somebody reads it.
bufio::Fd open_file(const std::string& path) {
    bufio::Fd file(::open(
        path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666));
    if (file) return file;
    if (errno == ENXIO)
        throw OutputError("cannot write " + path + ": nobody reads this pipe", errno);
    throw OutputError("cannot write " + path, errno);
}

}  // namespace

ReportFile::ReportFile(const std::string& path) : path_(path), output_(open_file(path)) {}

std::string ReportFile::write(std::string_view text) {
    output_.write(text);
    output_.drain(last_wait);
    const std::string cannot = "cannot write " + path_ + ": ";
    if (output_.error() != 0) return cannot + std::generic_category().message(output_.error());
    return output_.pending() == 0 ? "" : cannot + "not all was written, because it is not read";
}

}  // namespace yodel
