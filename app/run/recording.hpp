// Reads a recording from a file of any length, piece by piece.
//
// Copies a file that is not regular, such as a pipe, to a temporary file first, because its
// next line must not come later than the server's messages.
#pragma once

#include "app/run/recording_reader.hpp"
#include "app/text/exit_status.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

namespace yodel {

class Recording {
public:
    // Opens the file without blocking; "-" is standard input. Reads a regular file until its
    // framing is known or there is trouble(), and a regular file below 64 KiB to its end. Any
    // other file requires fetch().
    Recording(const std::string& path, std::size_t max_frame);

    // Runs the loop until a whole pipe is copied and checked, or there is trouble(). Returns
    // false if the limit passes first, because the writer may be silent, or if the loop is
    // stopped.
    bool fetch(ev::Loop& loop, std::optional<ev::Duration> limit);
    // The path, or "standard input".
    const std::string& name() const { return name_; }
    // Null until the first line is read.
    const Framing* framing() const { return reader_->framing(); }

    // Returns the item at this place among the remaining items, valid until the next call.
    // Reads more if necessary. Null at the end of the recording and after an error.
    RecordedItem* item(std::size_t place);
    void remove(std::size_t place);
    // Returns true at the end of the recording, once all items were removed.
    bool over() const { return at_end_ && reader_->items().empty(); }
    // One sentence that names the file; empty if there is no error.
    const std::string& trouble() const { return error_.empty() ? reader_->trouble() : error_; }
    // Returns the exit status for trouble(): a file error, or a mistake in the recording.
    int status() const { return error_.empty() ? usage_error : input_failed; }

private:
    bool readable() const { return !at_end_ && trouble().empty(); }
    void read_head();
    void read(std::FILE* copy = nullptr);
    void fail(const std::string& what);  // prefix of errno's text

    const std::string name_;
    const std::size_t max_frame_;
    bufio::Fd file_;
    bool regular_ = false;
    std::optional<RecordingReader> reader_;
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
