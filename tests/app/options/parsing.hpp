// Parses command lines that are written as for a shell.
#pragma once

#include "tests/app/refusal.hpp"
#include "tests/support/table.hpp"

namespace test {

// Splits at spaces, but not within '...'. Removes these quotes.
inline std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    bool quoted = false;
    bool inside = false;
    for (const char letter : text) {
        const bool ends = letter == ' ' && !quoted;
        if (!ends && !inside) words.emplace_back();
        inside = !ends;
        if (letter == '\'') {
            quoted = !quoted;
        } else if (!ends) {
            words.back() += letter;
        }
    }
    return words;
}

template <class Options>
Options parse_by(Options (*parser)(int, char*[]), const std::string& line) {
    std::vector<std::string> words = words_of("program " + line);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parser(static_cast<int>(words.size()), argv.data());
}

// Returns the sentence of the refusal, or an empty text if the line is accepted.
template <class Options>
std::string refusal_by(Options (*parser)(int, char*[]), const std::string& line) {
    return refusal([&] { parse_by(parser, line); });
}

}  // namespace test
