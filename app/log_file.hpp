// A file in which every message is noted with the wall clock's time:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` was sent, `<` received, and `-` is a remark. What is not plain text is made visible.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace yodel {

class LogFile {
public:
    // Appends to the file. Throws std::system_error.
    explicit LogFile(const std::string& path);
    void add(char sign, std::string_view bytes);
    // Hands over what is still kept back. False: not all could be written.
    bool flush() { return std::fflush(file_.get()) == 0 && !std::ferror(file_.get()); }
    // Writes what is left. False: not all could be written.
    bool finish();

private:
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace yodel
