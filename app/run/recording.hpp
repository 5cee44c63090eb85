// Reads a whole recording, of at most 256 MiB.
#pragma once

#include "app/run/recording_reader.hpp"
#include "app/text/exit_status.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace yodel {

class Recording final : public RecordedConversation {
public:
    // Opens the file without blocking; "-" is standard input. Reads a regular file. Any other
    // file requires fetch(). `shown`: next_event() is called instead of items().
    Recording(const std::string& path, std::size_t max_frame, bool shown = false);

    // Reads a file that is not regular. Runs the loop until this is done or there is trouble().
    // Returns false if the limit passes first, because the writer may be silent, or if the loop
    // is stopped.
    bool fetch(ev::Loop& loop, std::optional<ev::Duration> limit);
    // The path, or "standard input".
    const std::string& name() const override { return name_; }
    // Null until the first line is read.
    const Framing* framing() const { return reader_.framing(); }

    // Returns true if there is something to show, even if trouble() follows.
    bool begun() const { return reader_.begun(); }
    // Returns the recorded --expect mode; nullopt if the recording does not contain it.
    std::optional<Expect> expect() const { return reader_.expect(); }
    // Returns the time of the file if the recording does not contain its own.
    std::chrono::system_clock::time_point started() const override {
        return reader_.started().value_or(modified_);
    }
    const RecordedEvent* next_event() override;

    // The items that remain to be replayed.
    std::deque<RecordedItem>& items() { return reader_.items(); }
    // One sentence that names the file; empty if there is no error.
    const std::string& trouble() const override {
        return error_.empty() ? reader_.trouble() : error_;
    }
    // Returns the exit status for trouble(): a file error, or a mistake in the recording. To
    // show a recording, a mistake is a file error.
    int status() const { return error_.empty() && !shown_ ? usage_error : input_failed; }

private:
    bool readable() const { return !at_end_ && trouble().empty(); }
    void read();

    const std::string name_;
    const bool shown_;
    std::chrono::system_clock::time_point modified_;
    bufio::Fd file_;
    RecordingReader reader_;
    std::size_t size_ = 0;        // bytes read so far
    std::size_t next_event_ = 0;  // index
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
