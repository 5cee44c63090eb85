// Bytes from a hostile peer that try to control the reader's terminal.
#pragma once

#include <string_view>

namespace test {

using namespace std::string_view_literals;

inline constexpr std::string_view attacks[] = {
    "\x1b[2J\x1b[H wipes the screen"sv,
    "\x1b]0;OWNED\x07 sets the title"sv,
    "\x1b]2;OWNED\x1b\\ sets the title"sv,
    "\x1b]8;;http://owned\x1b\\link\x1b]8;;\x1b\\"sv,
    "\x1b]52;c;T1dORUQ=\x07 writes the clipboard"sv,
    "\x1b]52;c;?\x07 reads the clipboard"sv,
    "\x1bP$q q\x1b\\ asks for a setting"sv,
    "\x1b_owned\x1b\\ \x1b^owned\x1b\\ \x1bXowned\x1b\\"sv,
    "\x1b[5n\x1b[6n\x1b[c\x1b[>c\x1b[=c asks who is there"sv,
    "\x1b[21t\x1b[14t asks for the title and the size"sv,
    "\x1b[?1049h\x1b[?47h alternate screen"sv,
    "\x1b[?1000h\x1b[?1002h\x1b[?1003h\x1b[?1006h\x1b[?2004l mouse and paste"sv,
    "\x1b[?25l\x1b[?7l\x1b[4h\x1b[20h hides and shifts"sv,
    "\x1b[8mhidden\x1b[0m\x1b[31;7mred"sv,
    "\x1b[3;1r\x1b[10S\x1b(0\x0e scrolls and changes the letters"sv,
    "\x1b%@\x1b[!p\x1b c resets"sv,
    "\x9b"
    "2J\x9d"
    "0;OWNED\x9c\x90q\x9c raw C1"sv,
    "\xc2\x9b"
    "2J\xc2\x9d"
    "0;OWNED\xc2\x9c C1 as UTF-8"sv,
    "over\roverwritten\nnext\x08\x08\x0b\x0c\x7f\x05\x00"sv,
    "\xe2\x80\xae"
    "desrever \xe2\x81\xa6isolated\xe2\x81\xa9 \xe2\x80\x8fmark"sv,
    "zero\xe2\x80\x8bwidth\xe2\x80\x8djoined\xef\xbb\xbf\xc2\xad"sv,
    "\xe2\x80\xa8line\xe2\x80\xa9paragraph"sv,
    "tag\xf3\xa0\x80\x81\xf3\xa0\x81\xbf selector\xef\xb8\x8f\xf3\xa0\x84\x80"sv,
    "z\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81 stacked"sv,
    "\xcc\x81\xcc\x81 marks on nothing"sv,
    "\xc0\x9b\xe0\x80\x9b\xed\xa0\x80\xf4\x90\x80\x80\xff\xfe\xf8\x88\x80\x80\x80 not UTF-8"sv,
    "\xef\xbf\xb9note\xef\xbf\xba\xef\xbf\xbb \xe3\x85\xa4 filler \xe1\xa0\x8e"sv,
    "\x1b"sv,
    "\x1b["sv,
};

}  // namespace test
