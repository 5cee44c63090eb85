#include "app/process/port_file.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <utility>

namespace yodel {

PortFile::PortFile(std::string path, const std::string& text) : path_(std::move(path)) {
    if (path_.empty()) return;
    const std::string refusal = "--port-file: cannot write " + path_;
    struct stat found {};
    if (::lstat(path_.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
        throw std::runtime_error(refusal + ": it is not a regular file");
    const std::string draft = path_ + "." + std::to_string(std::random_device{}());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    bufio::Fd file(::open(draft.c_str(), flags, 0666));
    if (!file) throw OutputError(refusal, errno);
    Output output(file.get());
    output.write(text);
    int error = output.error();
    if (error == 0 && std::rename(draft.c_str(), path_.c_str()) != 0) error = errno;
    if (error != 0) {
        ::unlink(draft.c_str());
        throw OutputError(refusal, error);
    }
    file_ = std::move(file);
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
