// Parses command lines, and returns the sentence of a refusal.
#pragma once

#include "tests/app/refusal.hpp"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace test {

template <class Options>
Options parse_by(Options (*parser)(int, char*[]), std::vector<std::string> words) {
    words.insert(words.begin(), "program");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parser(static_cast<int>(words.size()), argv.data());
}

inline std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace test
