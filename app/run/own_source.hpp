// The source of the user's own messages, read from a file or from standard input.
#pragma once

#include "app/run/schedule.hpp"
#include "app/run/source.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace yodel {

using OwnMessages = std::shared_ptr<const std::vector<std::string>>;

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
    std::uint64_t number_;  // number of the next message in the run
};

}  // namespace yodel
