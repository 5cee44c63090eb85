// Parses command lines that are written as for a shell.
#pragma once

#include "app/options/client/client_options.hpp"
#include "app/options/server/server_options.hpp"
#include "tests/app/refusal.hpp"
#include "tests/support/table.hpp"

#include <iomanip>

namespace test {

// Splits at spaces, but not within '...'. Removes these quotes.
inline std::vector<std::string> words_of(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; stream >> std::quoted(word, '\'', '\0');) words.push_back(word);
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

inline std::string refused(const std::string& line) {
    return refusal_by(yodel::parse_yodel_options, line);
}
inline std::string load_refused(const std::string& line) {
    return refusal_by(yodel::parse_load_options, line);
}
inline std::string server_refused(const std::string& line) {
    return refusal_by(yodel::parse_server_options, line);
}

}  // namespace test
