#include "app/process/port_file.hpp"

#include "app/text/draft.hpp"
#include "app/text/exit_status.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace yodel {

namespace {

bool write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(fd, text.data(), text.size());
        if (count < 0 && errno != EINTR) return false;
        if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

}  // namespace

PortFile::PortFile(std::string path, const std::string& text) : path_(std::move(path)) {
    if (path_.empty()) return;
    const std::string refusal = "--port-file: cannot write " + path_;
    if (!replaceable(path_)) throw std::runtime_error(refusal + ": it is not a regular file");
    Draft draft(path_);
    const bool whole =
        draft.file() && write_all(draft.file().get(), text) && draft.take_place();
    if (!whole) throw OutputError(refusal, errno);
    file_ = std::move(draft.file());
}

PortFile::~PortFile() {
    struct stat made {};
    struct stat found {};
    const bool ours = file_ && ::fstat(file_.get(), &made) == 0 &&
                      ::lstat(path_.c_str(), &found) == 0 && made.st_dev == found.st_dev &&
                      made.st_ino == found.st_ino;
    if (ours) ::unlink(path_.c_str());
}

}  // namespace yodel
