#include "app/text/draft.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <utility>

namespace yodel {

bool replaceable(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

Draft::Draft(std::string path)
    : path_(std::move(path)),
      name_(path_ + "." + std::to_string(std::random_device{}())),
      file_(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)),
      exists_(file_) {}

Draft::~Draft() {
    if (exists_) ::unlink(name_.c_str());
}

bool Draft::take_place() {
    if (std::rename(name_.c_str(), path_.c_str()) != 0) return false;
    exists_ = false;
    return true;
}

}  // namespace yodel
