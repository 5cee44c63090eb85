#include "app/text/regex.hpp"

#include "app/text/exit_status.hpp"
#include "app/text/units.hpp"

#include <locale.h>

#include <algorithm>
#include <utility>

namespace yodel {

namespace {

// Bytes after which the expression is compiled again. This frees the states that the C library
// caches, and that a hostile text can multiply.
constexpr std::size_t max_bytes_since_compiled = 16 * 1024;

// While this object lives, its thread uses the C locale.
class ByteLocale {
public:
    ByteLocale() {
        static const locale_t bytes = ::newlocale(LC_ALL_MASK, "C", locale_t{});
        previous_ = ::uselocale(bytes);
    }
    ~ByteLocale() { ::uselocale(previous_); }
    ByteLocale(const ByteLocale&) = delete;
    ByteLocale& operator=(const ByteLocale&) = delete;

private:
    locale_t previous_;
};

UsageError refusal(const std::string& text, const std::string& reason) {
    return UsageError(in_quotes(text) + " is not an extended regular expression: " + reason);
}

}  // namespace

Regex::Regex(std::string text) : text_(std::move(text)) {
    // Matching a back-reference can take exponential time.
    for (std::size_t at = text_.find('\\'); at < text_.size(); at = text_.find('\\', at + 2))
        if (text_[at + 1] >= '1' && text_[at + 1] <= '9')
            throw refusal(text_, "back-references are not supported");
    compile();
}

void Regex::compile() const {
    const ByteLocale bytes;
    auto fresh = std::make_unique<regex_t>();
    if (const int error = ::regcomp(fresh.get(), text_.c_str(), REG_EXTENDED); error != 0) {
        char reason[128];
        ::regerror(error, fresh.get(), reason, sizeof reason);
        throw refusal(text_, reason);
    }
    compiled_ = {fresh.release(), [](regex_t* compiled) {
                     ::regfree(compiled);
                     delete compiled;
                 }};
    bytes_since_compiled_ = 0;
}

bool Regex::matches(std::string_view text) const {
    prepare(text);
    return search(text, 0, nullptr);
}

std::vector<Regex::Range> Regex::find_all(std::string_view text) const {
    prepare(text);
    std::vector<Range> all;
    regmatch_t found{};
    for (std::size_t from = 0; from < examined_.size() && search(text, from, &found);) {
        const std::size_t begin = from + static_cast<std::size_t>(found.rm_so);
        const std::size_t end = from + static_cast<std::size_t>(found.rm_eo);
        if (begin < end) all.push_back({begin, end});
        from = std::max(end, begin + 1);
    }
    for (const Regex& other : others_)
        for (const Range& range : other.find_all(text)) all.push_back(range);
    if (others_.empty()) return all;
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<Range> merged;
    for (const auto& [begin, end] : all) {
        if (merged.empty() || begin >= merged.back().end) merged.push_back({begin, end});
        merged.back().end = std::max(merged.back().end, end);
    }
    return merged;
}

std::string Regex::masked(std::string_view text) const {
    std::string all;
    std::size_t end = 0;
    for (const Range& range : find_all(text)) {
        all.append(text.substr(end, range.begin - end)) += '\0';
        end = range.end;
    }
    return all.append(text.substr(end));
}

std::size_t Regex::unmasked_offset(std::string_view text, std::size_t offset) const {
    for (const Range& range : find_all(text))
        if (range.begin < offset) offset += range.end - range.begin - 1;
    return offset;
}

void Regex::prepare(std::string_view text) const {
    examined_ = text.substr(0, max_examined);
    std::replace(examined_.begin(), examined_.end(), '\0', '\1');
    bytes_since_compiled_ += examined_.size();
    if (bytes_since_compiled_ > max_bytes_since_compiled) compile();
}

// Searches the examined text from `from` on. Sets `found`, unless null, to the first match
// if there is one, relative to `from`.
bool Regex::search(std::string_view text, std::size_t from, regmatch_t* found) const {
    const ByteLocale bytes;
    const int flags =
        (from > 0 ? REG_NOTBOL : 0) | (text.size() > max_examined ? REG_NOTEOL : 0);
    return ::regexec(compiled_.get(), examined_.c_str() + from, found ? 1 : 0, found, flags) ==
           0;
}

}  // namespace yodel
