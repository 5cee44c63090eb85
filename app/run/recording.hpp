// The file of a recording, read in pieces, so that its length does not matter.
//
// A copy continues by itself at the position of the original, over the same descriptor, if the
// file is regular(). So several connections can read it at once.
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
    // Opens the file without waiting for it; "-" is standard input. After this the framing of a
    // regular file is known, unless there is trouble(), and a file of less than 64 KiB is read
    // whole. Any other file needs read_head().
    Recording(const std::string& path, std::size_t max_frame);

    // Reads on, in turns of the loop, until the framing is known or there is trouble: a pipe
    // may have a silent writer, or none yet. Returns false if the limit passes first, or the
    // loop was stopped.
    bool read_head(ev::Loop& loop, std::optional<ev::Duration> limit);
    // Reads the next piece. Blocks unless the file is regular or the descriptor is readable.
    void read();
    // The path, or "standard input".
    const std::string& name() const { return name_; }
    int fd() const { return file_->get(); }
    bool regular() const { return regular_; }

    std::deque<RecordedItem>& items() { return reader_.items(); }
    const Framing* framing() const { return reader_.framing(); }
    // Nothing more can be read: the recording was complete, or there is trouble.
    bool over() const { return at_end_ || !trouble().empty(); }
    // One sentence that names the file; empty if nothing is wrong.
    const std::string& trouble() const { return error_.empty() ? reader_.trouble() : error_; }

private:
    bool head_known() const { return framing() || over(); }
    void fail(int code);

    std::string name_;
    std::shared_ptr<const bufio::Fd> file_;  // the copies have the same
    bool regular_ = false;
    std::uint64_t offset_ = 0;  // position of the next piece in a regular file
    RecordingReader reader_;
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
