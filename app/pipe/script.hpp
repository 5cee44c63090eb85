// The messages that every connection of a crowd says, in their order: the lines of an input.
// All of them are kept, because a connection that opens late begins with the first.
#pragma once

#include "app/protocol/framing.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

class Script {
public:
    // A script holds no more bytes than this, with their overhead.
    static constexpr std::size_t most_bytes = 256 * 1024 * 1024;

    struct Options {
        const Framing* framing = find_framing("line");
        std::size_t max_frame = 32 * 1024 * 1024;  // bytes of a message
        bool escapes = false;                      // lines hold \n, \xNN and the like
    };
    explicit Script(const Options& options) : options_(options) {}

    // Takes the next bytes of the input, and its end. Neither has an effect once the script has
    // ended, as it does before a line that can't be sent.
    void append(std::string_view bytes);
    void end();

    bool ended() const { return ended_; }
    // The sentence about the line that can't be sent; empty if there is none.
    const std::string& trouble() const { return trouble_; }
    std::size_t size() const { return messages_.size(); }  // messages so far
    // Views are valid until the next append() or end().
    const std::string& message(std::size_t i) const { return messages_[i]; }

private:
    void add(std::string_view line);
    void refuse(std::string trouble);

    Options options_;
    std::string rest_;  // the beginning of a line
    std::vector<std::string> messages_;
    std::size_t bytes_ = 0;
    bool ended_ = false;
    std::string trouble_;
};

}  // namespace yodel
