#include "app/text/expression.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <locale.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace yodel {

namespace {

// Bytes after which the expression is compiled again. This frees the states that the C library
// caches, and that a hostile text can multiply.
constexpr std::size_t max_bytes_since_compiled = 16 * 1024;

// Selects the C locale for this thread while it lives.
class ByteLocale {
public:
    ByteLocale() {
        static const locale_t bytes = ::newlocale(LC_ALL_MASK, "C", locale_t{});
        before_ = ::uselocale(bytes);
    }
    ~ByteLocale() { ::uselocale(before_); }
    ByteLocale(const ByteLocale&) = delete;
    ByteLocale& operator=(const ByteLocale&) = delete;

private:
    locale_t before_;
};

// Limit of expanded_size(). Compiling an expression of this size takes at most two seconds.
constexpr double max_expanded_size = 1000;

UsageError refusal(const std::string& text, const std::string& reason) {
    return UsageError(in_quotes(text) + " is not an extended regular expression: " + reason);
}

using Ranges = std::vector<Expression::Range>;

Ranges merged(Ranges ranges) {
    std::sort(ranges.begin(), ranges.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    Ranges all;
    for (const auto& [begin, end] : ranges) {
        if (all.empty() || begin >= all.back().end) all.push_back({begin, end});
        all.back().end = std::max(all.back().end, end);
    }
    return all;
}

// Returns the index of the bracket that closes the one at `begin`.
std::size_t bracket_end(const std::string& text, std::size_t begin) {
    std::size_t at = begin + (text.compare(begin + 1, 1, "^") == 0 ? 2 : 1);
    if (text.compare(at, 1, "]") == 0) ++at;
    while (at < text.size() && text[at] != ']') {
        const char kind = text[at] == '[' ? text[at + 1] : '\0';
        const bool nested = kind == ':' || kind == '.' || kind == '=';  // as in [[:alpha:]]
        at = nested ? text.find(std::string{kind, ']'}, at + 2) : at;
        if (at == text.npos) break;
        at += nested ? 2 : 1;
    }
    if (at >= text.size()) throw refusal(text, "a bracket [ is not closed");
    return at;
}

// Returns the greatest number in the braces at `at`, and moves `at` to their end.
double count_at(const std::string& text, std::size_t& at) {
    double greatest = 1;
    double number = 0;
    for (; at + 1 < text.size() && text[at] != '}'; ++at) {
        const char next = text[at + 1];
        number = next >= '0' && next <= '9' ? number * 10 + (next - '0') : 0;
        greatest = std::max(greatest, number);
    }
    return greatest;
}

// Returns the index of the last character of the part at `at`: a bracket expression, an escape
// or a character. Throws for a back-reference, because matching it can take exponential time.
std::size_t part_end(const std::string& text, std::size_t at) {
    if (text[at] == '[') return bracket_end(text, at);
    if (text[at] != '\\') return at;
    if (text[at + 1] >= '1' && text[at + 1] <= '9')
        throw refusal(text, "back-references are not supported");
    return at + 1;
}

// Returns the length of the expression with all repetitions written out, as the library does:
// a+ becomes aa*, and a{3} becomes aaa. A bracket expression counts as one character.
double expanded_size(const std::string& text) {
    std::vector<double> groups{0};
    double last = 0;  // expanded length of the last part, which a + or {} repeats
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char sign = text[at];
        if (sign == '+' || sign == '{') {
            const double more = last * (sign == '+' ? 1 : count_at(text, at) - 1);
            groups.back() += more;
            last += more;
            continue;
        }
        if (sign == '(') groups.push_back(0);
        at = part_end(text, at);
        const bool optional = sign == '*' || sign == '?';
        if (!optional) last = 1;
        if (sign == ')') last += groups.back();
        if (sign == ')' && groups.size() > 1) groups.pop_back();
        groups.back() += optional ? 1 : last;
    }
    return std::accumulate(groups.begin(), groups.end(), 0.0);
}

void release(regex_t* compiled) {
    ::regfree(compiled);
    delete compiled;
}

}  // namespace

Expression::Expression(std::string text) : text_(std::move(text)) {
    if (expanded_size(text_) > max_expanded_size)
        throw UsageError("the expression is too long: it exceeds 1000 characters after its "
                         "repetitions are expanded");
    compile();
}

void Expression::compile() const {
    const ByteLocale bytes;
    auto fresh = std::make_unique<regex_t>();
    if (const int error = ::regcomp(fresh.get(), text_.c_str(), REG_EXTENDED); error != 0) {
        char reason[128];
        ::regerror(error, fresh.get(), reason, sizeof reason);
        throw refusal(text_, reason);
    }
    compiled_ = {fresh.release(), release};
    bytes_since_compiled_ = 0;
}

bool Expression::matches(std::string_view text) const {
    examine(text);
    return search(0, nullptr);
}

std::vector<Expression::Range> Expression::find_all(std::string_view text) const {
    examine(text);
    std::vector<Range> all;
    regmatch_t found{};
    for (std::size_t from = 0; from < examined_.size() && search(from, &found);) {
        const std::size_t begin = from + static_cast<std::size_t>(found.rm_so);
        const std::size_t end = from + static_cast<std::size_t>(found.rm_eo);
        if (begin < end) all.push_back({begin, end});
        from = std::max(end, begin + 1);
    }
    for (const Expression& other : others_)
        for (const Range& range : other.find_all(text)) all.push_back(range);
    return others_.empty() ? all : merged(std::move(all));
}

std::string Expression::masked(std::string_view text) const {
    std::string all;
    std::size_t end = 0;
    for (const Range& range : find_all(text)) {
        all.append(text.substr(end, range.begin - end)) += '\0';
        end = range.end;
    }
    return all.append(text.substr(end));
}

std::size_t Expression::unmasked(std::string_view text, std::size_t offset) const {
    for (const Range& range : find_all(text))
        if (range.begin < offset) offset += range.end - range.begin - 1;
    return offset;
}

void Expression::examine(std::string_view text) const {
    examined_truncated_ = text.size() > max_examined;
    examined_ = text.substr(0, max_examined);
    std::replace(examined_.begin(), examined_.end(), '\0', '\1');
    bytes_since_compiled_ += examined_.size();
    if (bytes_since_compiled_ > max_bytes_since_compiled) compile();
}

// Searches from `from` on. Sets `found`, unless null, to the first match, relative to `from`.
bool Expression::search(std::size_t from, regmatch_t* found) const {
    const ByteLocale bytes;
    const int flags = (from > 0 ? REG_NOTBOL : 0) | (examined_truncated_ ? REG_NOTEOL : 0);
    return ::regexec(compiled_.get(), examined_.c_str() + from, found ? 1 : 0, found, flags) ==
           0;
}

std::string_view comparable_text(const Expression* mask, std::string_view text,
                                 std::string& space) {
    if (!mask) return text;
    space = mask->masked(text);
    return space;
}

}  // namespace yodel
