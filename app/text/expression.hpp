// A POSIX extended regular expression over bytes, as in the C locale. It is compiled once.
//
// Only the beginning of a text is examined, because a hostile text can make regexec() take a
// time that grows with the square of its length. ^ and $ match at the ends of the text, not of
// its lines. A NUL byte counts as the byte 1, because regexec() would end there.
#pragma once

#include <regex.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace yodel {

// Belongs to one thread, because searching changes it. A copy is compiled again.
class Expression {
public:
    static constexpr std::size_t max_examined = 4096;  // bytes
    struct Range {
        std::size_t begin;
        std::size_t end;
    };

    // Throws UsageError with the reason if the text is not an expression.
    explicit Expression(std::string text);
    Expression(const Expression& other) : text_(other.text_), others_(other.others_) {
        compile();
    }
    Expression& operator=(const Expression& other) {
        text_ = other.text_;
        others_ = other.others_;
        compile();
        return *this;
    }
    // Adds an expression, whose parts find_all() then returns as well.
    void add(const std::string& text) { others_.emplace_back(text); }

    const std::string& text() const { return text_; }
    // True if a part of the text matches.
    bool matches(std::string_view text) const;
    // Returns the parts that match, from left to right, but no empty ones. Of parts of one
    // expression that overlap, the leftmost and longest counts; of several, all together.
    std::vector<Range> find_all(std::string_view text) const;
    // Returns the text with a NUL byte in place of each of these parts.
    std::string masked(std::string_view text) const;
    // Converts an offset in masked(text) into one in the text.
    std::size_t unmasked(std::string_view text, std::size_t offset) const;

private:
    void compile() const;
    void examine(std::string_view text) const;
    bool search(std::size_t from, regmatch_t* found) const;

    std::string text_;
    std::vector<Expression> others_;
    mutable std::shared_ptr<regex_t> compiled_;
    mutable std::size_t since_compiled_ = 0;  // bytes examined
    mutable std::string examined_;            // the beginning of the text
    mutable bool cut_ = false;                // more of the text follows
};

// Returns the text as it is compared with others: without a mask as it is, otherwise masked, in
// `space`.
std::string_view comparable(const Expression* mask, std::string_view text, std::string& space);

}  // namespace yodel
