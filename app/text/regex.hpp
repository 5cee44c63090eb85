// A POSIX extended regular expression over bytes, as in the C locale.
//
// Examines only the beginning of a text, because a hostile text can make regexec() take
// quadratic time. ^ and $ match at the ends of the text, not of its lines. A NUL byte, at which
// regexec() would stop, counts as the byte 1.
#pragma once

#include <regex.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Use each object in one thread only, because searching changes it. Other threads may use its
// copies, because several threads may pass the same compiled expression to regexec().
class Regex {
public:
    static constexpr std::size_t max_examined = 4096;  // bytes
    struct Range {
        std::size_t begin;
        std::size_t end;
    };

    // Throws UsageError with the reason if the text is invalid or has a back-reference.
    explicit Regex(std::string text);
    // Adds an expression whose matches find_all() also returns. matches() ignores it.
    void add(const std::string& text) { others_.emplace_back(text); }

    const std::string& text() const { return text_; }
    bool matches(std::string_view text) const;  // true if a part of the text matches
    // Returns the non-empty matches from left to right. The matches of one expression are the
    // leftmost and longest. Merges overlapping matches of different expressions.
    std::vector<Range> find_all(std::string_view text) const;
    // Returns the text with each match replaced by a NUL byte.
    std::string masked(std::string_view text) const;
    // Converts an offset in masked(text) into an offset in the text.
    std::size_t unmasked_offset(std::string_view text, std::size_t offset) const;

private:
    void compile() const;
    void prepare(std::string_view text) const;  // for search()
    bool search(std::string_view text, std::size_t from, regmatch_t* found) const;

    std::string text_;
    std::vector<Regex> others_;
    mutable std::shared_ptr<regex_t> compiled_;
    mutable std::size_t bytes_since_compiled_ = 0;  // bytes examined since the last compile()
    mutable std::string examined_;                  // beginning of the text; 1 replaces NUL
};

// A text to compare: the masked text or, if `mask` is null, a view of the text itself.
struct ComparableText {
    ComparableText(const Regex* mask, std::string_view text)
        : masked(mask ? mask->masked(text) : ""), view(mask ? masked : text) {}
    ComparableText(const ComparableText&) = delete;

    const std::string masked;
    const std::string_view view;
};

}  // namespace yodel
