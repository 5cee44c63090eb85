// The file of a recording, read in pieces so that it may be of any length.
//
// If the file is regular(), a copy reads on by itself from the position of the original, over
// the same descriptor. So several connections can read the file at once.
#pragma once

#include "app/run/recording_reader.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace yodel {

class Recording {
public:
    // Opens the file without blocking; "-" is standard input. Reads a regular file until its
    // framing is known or there is trouble(), and a regular file below 64 KiB to its end. Any
    // other file requires read_head().
    Recording(const std::string& path, std::size_t max_frame);

    // Runs the loop until the framing is known or there is trouble(), because a pipe may have
    // a silent writer, or none yet. Returns false if the limit passes first or the loop is
    // stopped.
    bool read_head(ev::Loop& loop, std::optional<ev::Duration> limit);
    // Reads the next piece. Blocks unless the file is regular or the descriptor is readable.
    void read();
    // The path, or "standard input".
    const std::string& name() const { return name_; }
    int fd() const { return file_->get(); }
    bool regular() const { return regular_; }

    std::deque<RecordedItem>& items() { return reader_.items(); }
    const std::deque<RecordedItem>& items() const { return reader_.items(); }
    const Framing* framing() const { return reader_.framing(); }
    // True if nothing more can be read: at the end of the recording, or after an error.
    bool over() const { return at_end_ || !trouble().empty(); }
    // One sentence that names the file; empty if there is no error.
    const std::string& trouble() const { return error_.empty() ? reader_.trouble() : error_; }

private:
    bool head_complete() const { return framing() || over(); }
    void fail(int code);

    std::string name_;
    std::shared_ptr<const bufio::Fd> file_;  // shared by all copies
    bool regular_ = false;
    std::uint64_t offset_ = 0;  // position of the next piece in a regular file
    RecordingReader reader_;
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
