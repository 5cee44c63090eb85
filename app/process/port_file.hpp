// A file with the server's ports, for the program that started it; it is there as long as this
// object is.
//
// The file is made under a name of its own beside the path, so that nobody reads half of it and
// nothing that was planted is written to, and then renamed. The path itself may hold a plain
// file, which is replaced, but no link, FIFO, device or folder.
#pragma once

#include "bufio/fd.hpp"

#include <string>

namespace yodel {

class PortFile {
public:
    // Makes the file; without a path there is no file. Throws OutputError, and
    // std::runtime_error if the path is something else than a plain file.
    PortFile(std::string path, const std::string& text);
    // Removes the file, if the path still holds the one made here: another server may have
    // replaced it.
    ~PortFile();
    PortFile(const PortFile&) = delete;
    PortFile& operator=(const PortFile&) = delete;

private:
    std::string path_;  // empty: there is none
    bufio::Fd file_;    // stays open, so that no other file gets its inode
};

}  // namespace yodel
