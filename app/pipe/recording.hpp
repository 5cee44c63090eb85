// The file of a recording, read in pieces, so that its length does not matter.
//
// A copy goes on for itself from where the original is, over the same descriptor, if the file
// is regular(): it may be read many times at once.
#pragma once

#include "app/pipe/recording_reader.hpp"
#include "bufio/fd.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace yodel {

class Recording {
public:
    // Opens the file and reads a first piece of it, waiting for that where the file is a pipe:
    // its framing is known then, unless there is trouble(). A regular file of less than 64 KiB
    // is read whole.
    Recording(const std::string& path, std::size_t max_frame);

    // Reads the next piece. Waits for it, unless the file is regular, or the loop reports the
    // descriptor as readable.
    void read();
    int fd() const { return file_->get(); }
    bool regular() const { return regular_; }

    std::deque<RecordedItem>& items() { return reader_.items(); }
    const Framing* framing() const { return reader_.framing(); }
    // There is no more to read: all of it is right, or there is trouble.
    bool over() const { return at_end_ || !trouble().empty(); }
    // One sentence that names the file, about what can't be read or is not right.
    const std::string& trouble() const { return error_.empty() ? reader_.trouble() : error_; }

private:
    ssize_t read_into(char* bytes, std::size_t size);
    void fail(int code);

    std::string path_;
    std::shared_ptr<const bufio::Fd> file_;  // the copies have the same
    bool regular_ = false;
    std::uint64_t offset_ = 0;  // of the next piece, in a regular file
    RecordingReader reader_;
    std::string error_;
    bool at_end_ = false;
};

}  // namespace yodel
