// Generated messages, numbered from 1. The connections of one thread share a source.
#pragma once

#include "app/run/generated_text.hpp"
#include "app/run/source.hpp"

#include <cstddef>
#include <cstdint>

namespace yodel {

class GeneratedSource final : public Source {
public:
    // `count` messages of `size` bytes.
    GeneratedSource(std::size_t size, std::uint64_t count) : text_(size), count_(count) {}

    std::optional<Outgoing> next() override {
        if (over()) return std::nullopt;
        ++made_;
        return Outgoing{.payload = text_.text(made_)};
    }
    bool over() const override { return made_ == count_; }
    const SourceTrouble& trouble() const override { return none_; }

private:
    GeneratedText text_;
    const std::uint64_t count_;
    std::uint64_t made_ = 0;
    const SourceTrouble none_{};
};

}  // namespace yodel
