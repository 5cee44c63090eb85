#include "app/process/port_file.hpp"

#include "app/text/exit_status.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace yodel {

namespace {

// A file beside the path, removed unless it is renamed.
class Draft {
public:
    explicit Draft(const std::string& path)
        : name_(path + "." + std::to_string(std::random_device{}())),
          fd_(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0666)) {}
    ~Draft() {
        if (made() && !renamed_) ::unlink(name_.c_str());
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    bool made() const { return static_cast<bool>(fd_); }
    bool write(std::string_view text) {
        while (!text.empty()) {
            const ssize_t count = ::write(fd_.get(), text.data(), text.size());
            if (count < 0 && errno != EINTR) return false;
            if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }
    bool rename_to(const std::string& path) {
        renamed_ = std::rename(name_.c_str(), path.c_str()) == 0;
        return renamed_;
    }
    bufio::Fd release() { return std::move(fd_); }

private:
    std::string name_;
    bufio::Fd fd_;
    bool renamed_ = false;
};

// A link, a FIFO or a device is more than its bytes, and must not be replaced.
void check_replaceable(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
    throw std::runtime_error("--port-file: cannot write " + path +
                             (S_ISLNK(status.st_mode) ? ": it is a link, not a regular file"
                                                      : ": it is not a regular file"));
}

}  // namespace

PortFile::PortFile(std::string path, const std::string& text) : path_(std::move(path)) {
    if (path_.empty()) return;
    check_replaceable(path_);
    Draft draft(path_);
    const bool whole = draft.made() && draft.write(text) && draft.rename_to(path_);
    if (!whole) throw OutputError("--port-file: cannot write " + path_, errno);
    file_ = draft.release();
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
