// A file beside a path, which takes the place of the file there when it is whole, so that
// nobody reads half of it, and no planted file is written to.
#pragma once

#include "bufio/fd.hpp"

#include <string>

namespace yodel {

// Returns false for a link, a FIFO, a device and a folder. They are more than their bytes, and
// must not be replaced.
bool replaceable(const std::string& path);

class Draft {
public:
    // Creates the file. If it cannot, the file is empty, and errno contains the reason.
    explicit Draft(std::string path);
    // Removes the file, unless it has taken its place.
    ~Draft();
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;

    bufio::Fd& file() { return file_; }  // may be moved from
    // Returns false if it cannot; errno contains the reason.
    bool take_place();

private:
    const std::string path_;
    const std::string name_;
    bufio::Fd file_;
    bool exists_;  // under its own name
};

}  // namespace yodel
