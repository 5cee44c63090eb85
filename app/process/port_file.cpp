#include "app/process/port_file.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <stdexcept>

namespace yodel {

PortFile::PortFile(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    const std::string refusal = "--port-file: cannot write " + path;
    struct stat found {};
    if (::lstat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
        throw std::runtime_error(refusal + ": it is not a regular file");
    const std::string draft = path + "." + std::to_string(std::random_device{}());
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    file_.reset(::open(draft.c_str(), flags, 0666));
    if (!file_) throw OutputError(refusal, errno);
    path_.own(draft);
    Output output(file_.get());
    output.write(text);
    if (output.error() != 0) throw OutputError(refusal, output.error());
    if (std::rename(draft.c_str(), path.c_str()) != 0) throw OutputError(refusal, errno);
    path_.renamed(path);
}

}  // namespace yodel
