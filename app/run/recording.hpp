// The file of a recording, read in pieces so that it may be of any length.
//
// A recording that is no regular file, such as a pipe, is copied to a temporary file first,
// because its next line must never come later than what the server sends.
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

    // Runs the loop until all of a pipe has been copied and checked or there is trouble().
    // Returns false if the limit passes first or the loop is stopped, because a pipe may have
    // a silent writer, or none yet.
    bool fetch(ev::Loop& loop, std::optional<ev::Duration> limit);
    // The path, or "standard input".
    const std::string& name() const { return name_; }
    // Null until the first line is read.
    const Framing* framing() const { return reader_->framing(); }

    // Returns the item at this place among those not removed yet, valid until the next call.
    // Reads on if necessary. Null at the end of the recording and after an error.
    RecordedItem* item(std::size_t place);
    void remove(std::size_t place);
    // True at the end of the recording, once all items were removed.
    bool over() const { return at_end_ && reader_->items().empty(); }
    // One sentence that names the file; empty if there is no error.
    const std::string& trouble() const { return error_.empty() ? reader_->trouble() : error_; }
    // The exit status for the trouble: a file that cannot be read is no mistake in it.
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
