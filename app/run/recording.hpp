// Reads a recording from a file of any length, piece by piece.
//
// Copies a file that is not regular, such as a pipe, to a temporary file first, because a
// replay cannot wait for its next line.
#pragma once

#include "app/run/recording_reader.hpp"
#include "app/text/exit_status.hpp"
#include "bufio/fd.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>

namespace yodel {

class Recording final : public RecordedConversation {
public:
    // Opens the file without blocking; "-" is standard input. Reads a regular file until its
    // framing is known or there is trouble(), and for a replay, a file below 64 KiB to its end.
    // Any other file requires fetch(). `shown`: next_event() is called instead of item().
    // `target`: see RecordingReader.
    Recording(const std::string& path, std::size_t max_frame, bool shown = false,
              const std::string& target = "a");

    // Copies and, for a replay, checks a file that is not regular. Runs the loop until this is
    // done or there is trouble(). Returns false if the limit passes first, because the writer
    // may be silent, or if the loop is stopped.
    bool fetch(ev::Loop& loop, std::optional<ev::Duration> limit);
    // The path, or "standard input".
    const std::string& name() const override { return name_; }
    // Null until the first line is read.
    const Framing* framing() const { return reader_->framing(); }

    // Returns true if there is something to show, even if trouble() follows.
    bool begun() const { return reader_->begun(); }
    // Returns the recorded --expect mode; nullopt if the recording does not contain it.
    std::optional<Expect> expect() const { return reader_->expect(); }
    // Returns the time of the file if the recording does not contain its own.
    std::chrono::system_clock::time_point started() const override {
        return reader_->started().value_or(modified_);
    }
    const RecordedEvent* next_event() override;

    // Returns the item at this place among the remaining items, valid until the next call.
    // Reads more if necessary. Null at the end of the recording and after an error.
    RecordedItem* item(std::size_t place);
    void remove(std::size_t place);
    // Returns true at the end of the recording, once all items were removed.
    bool over() const { return at_end_ && reader_->items().empty(); }
    // One sentence that names the file; empty if there is no error.
    const std::string& trouble() const override {
        return error_.empty() ? reader_->trouble() : error_;
    }
    // Returns the exit status for trouble(): a file error, or a mistake in the recording. To
    // show a recording, a mistake is a file error.
    int status() const { return error_.empty() && !shown_ ? usage_error : input_failed; }

private:
    bool readable() const { return !at_end_ && trouble().empty(); }
    void read_head();
    void read(std::FILE* copy = nullptr);
    void fail(const std::string& prefix);  // prefix of errno's text

    const std::string name_;
    const std::size_t max_frame_;
    const bool shown_;
    const std::string target_;
    std::chrono::system_clock::time_point modified_;
    bufio::Fd file_;
    bool is_regular_ = false;
    std::optional<RecordingReader> reader_;
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
