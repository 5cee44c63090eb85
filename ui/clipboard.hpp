// The clipboard of the terminal, by its sequence OSC 52.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

// Terminals ignore a longer text: the whole sequence is at most 100,000 bytes, in base64.
constexpr std::size_t longest_copy = 74'991;  // bytes

// The sequence that puts a text into the clipboard. The text is made printable: it has no
// control character, not even a newline, so that a shell into which it is pasted waits for
// Enter. Empty: the printable text is longer than longest_copy.
std::string clipboard_sequence(std::string_view text);

// The bytes as letters, digits, + and /, padded with = (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace ui
