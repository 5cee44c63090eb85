// A log of all messages, with the wall clock's time:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` was sent, `<` received, and `-` is a remark. All bytes but plain text are made visible.
//
// The file may be a pipe or a terminal: it never blocks. Up to 1 MiB waits for a reader. If
// more would have to wait, or a write fails, the log has failed: trouble() gives the reason,
// and nothing more is written.
#pragma once

#include "app/text/output.hpp"

#include <string>
#include <string_view>

namespace yodel {

class LogFile {
public:
    // A log is appended, and a recording begins its file, which must be empty.
    enum class Content { log, recording };

    // Throws OutputError, also for a pipe that nobody reads.
    explicit LogFile(const std::string& path, Content content = Content::log);

    void add(char sign, std::string_view bytes);
    void add_line(std::string_view line);  // as it is
    // Writes all that the reader takes now. False: the log has failed.
    bool flush();
    // Writes the rest, and gives a slow reader a moment. Call it before the exit status is
    // reported anywhere. False: the log has failed.
    bool finish();
    // One clause with the file's name; empty while all is well.
    const std::string& trouble() const { return trouble_; }

private:
    void check();
    void fail(const std::string& why);

    std::string refusal_;  // the beginning of all troubles
    std::string trouble_;
    Output output_;
};

}  // namespace yodel
