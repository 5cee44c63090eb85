// A file in which every message is noted with the wall clock's time:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` was sent, `<` received, and `-` is a remark. What is not plain text is made visible.
#pragma once

#include <fstream>
#include <string>
#include <string_view>

namespace yodel {

class LogFile {
public:
    // Appends to the file. Throws std::system_error.
    explicit LogFile(const std::string& path);
    void add(char sign, std::string_view bytes);
    // Hands over what is still kept back. False: not all could be written.
    bool flush() { return !file_.flush().fail(); }
    // Writes what is left. False: not all could be written.
    bool finish();

private:
    std::ofstream file_;
};

}  // namespace yodel
