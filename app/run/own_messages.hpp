// The user's own messages for a run.
#pragma once

#include "app/protocol/framing.hpp"
#include "app/run/schedule.hpp"
#include "app/run/source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

using OwnMessages = std::shared_ptr<const std::vector<std::string>>;

// Reads the lines of a file, or of standard input if its name is "-". Each line is a message;
// there is at least one. Throws InputError if the file cannot be read, and FileError, with the
// number of the line, if a message cannot be sent.
OwnMessages read_own_messages(const std::string& file, const Framing& framing,
                              std::size_t max_frame, bool escapes);

// Message n of the run is line n modulo the number of lines. The connections of one thread
// share a source.
class OwnSource final : public Source {
public:
    OwnSource(OwnMessages messages, const Share& share)
        : messages_(std::move(messages)), share_(share), number_(share.thread) {}

    std::optional<Outgoing> next() override {
        if (over()) return std::nullopt;
        const std::string& message = (*messages_)[number_ % messages_->size()];
        number_ = share_.message_after(number_);
        --left_;
        return Outgoing{.payload = message};
    }
    bool over() const override { return left_ == 0; }
    void end_after(std::uint64_t count) override { left_ = count; }

private:
    const OwnMessages messages_;
    const Share share_;
    std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t number_;  // the next message's number in the run
};

}  // namespace yodel
