// Writes the file of -o: a transcript for people, or a recording that can be replayed; see
// app/protocol/recording.hpp. A transcript contains one line for each message, with the
// date and time:
//
//     2026-11-21 12:04:31.208113 > hello
//
// `>` marks a sent message, `<` a received one, and `-` a remark. Bytes that are not plain text
// are escaped.
//
// The file may be a pipe or a terminal. Writing never blocks, and up to 1 MiB is buffered for a
// slow reader. If the buffer overflows or a write fails, the journal has failed. trouble() then
// returns the reason, and nothing more is written.
#pragma once

#include "app/protocol/event_json.hpp"
#include "app/text/output.hpp"
#include "ev/loop.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace yodel {

// A file name that ends with .json selects a recording.
struct JournalFile {
    JournalFile(std::string name = {}) : path(std::move(name)) {}

    bool empty() const { return path.empty(); }
    const char* kind() const { return recording ? "recording" : "transcript"; }

    std::string path;  // empty: none
    bool recording = path.ends_with(".json");
};

// Returns a line of a transcript, without a newline.
std::string transcript_line(std::chrono::system_clock::time_point at, char sign,
                            std::string_view bytes);

class Journal {
public:
    // Opens the file. A transcript is appended to it; for a recording it must be empty or new.
    // Messages with ids below `first` are not recorded. Throws OutputError, also for a pipe
    // without a reader.
    Journal(const JournalFile& file, const SessionOptions& options, std::uint64_t first,
            ev::Time now);

    bool is_recording() const { return is_recording_; }
    // Adds a line to a transcript.
    void add_line(char sign, std::string_view bytes);
    // Adds an open connection to a recording. A replay supports only one connection.
    void add_connection(const Session& session) {
        if (is_recording_) put(connection_object(session).str());
    }
    // Adds the fate of a message to a recording. Returns false for a transcript, and for a
    // message sent before the recording began.
    bool add_event(const Event& event);
    // Writes what the reader accepts now. Returns false if the journal has failed.
    bool flush();
    // Writes the rest, and waits a moment for a slow reader. Call it before deciding the exit
    // status, because it returns false if the journal has failed.
    bool drain();
    // Adds the end object to a recording, and calls drain(). Call it once.
    bool finish(const std::string& end);
    // Returns the error as one clause with the file's name; empty if there is none.
    const std::string& trouble() const { return trouble_; }

private:
    void put(std::string_view line);
    void check();
    void fail(const std::string& why);

    const bool is_recording_;
    const std::string refusal_;  // beginning of each error text
    std::string trouble_;
    Output output_;
    const ev::Time start_;
    const std::uint64_t first_;  // id of the first recorded message
};

}  // namespace yodel
