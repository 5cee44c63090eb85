#include "app/process/port_file.hpp"

#include "app/text/draft.hpp"
#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

namespace yodel {

PortFile::PortFile(std::string path, const std::string& text) : path_(std::move(path)) {
    if (path_.empty()) return;
    const std::string refusal = "--port-file: cannot write " + path_;
    if (!replaceable(path_)) throw std::runtime_error(refusal + ": it is not a regular file");
    Draft draft(path_);
    if (!draft.file()) throw OutputError(refusal, errno);
    Output output(draft.file().get());
    output.write(text);
    if (output.error() != 0) throw OutputError(refusal, output.error());
    if (!draft.take_place()) throw OutputError(refusal, errno);
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
