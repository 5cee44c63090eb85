// Helpers for text in tests.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace test {

// Splits a row of a table, "left => right".
inline std::pair<std::string, std::string> halves(const std::string& row) {
    constexpr std::string_view arrow = " => ";
    const std::size_t at = row.find(arrow);
    return {row.substr(0, at), row.substr(at + arrow.size())};
}

inline bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Returns all bytes of a file, or an empty string if it can't be read.
inline std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace test
