// A file that contains the server's ports, for the program that started the server. The file
// exists as long as this object.
//
// It is written under another name and then renamed, so that nobody reads an incomplete file.
// It may replace a plain file, but not a link, FIFO, device or folder.
#pragma once

#include "bufio/listen.hpp"

#include <string>

namespace yodel {

class PortFile {
public:
    // Creates the file; without a path there is no file. Throws OutputError, and
    // std::runtime_error if the path exists and is not a plain file.
    PortFile(const std::string& path, const std::string& text);

private:
    bufio::Fd file_;
    bufio::OwnedPath path_;  // removed with this object, unless another server has replaced it
};

}  // namespace yodel
