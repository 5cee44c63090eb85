// Terminal screens as a picture, an SVG that needs only a monospaced font.
//
// The text of the screens is text in the picture, in runs of one style, each with the width of
// its columns. So two pictures of the same session can be compared despite different times.
#pragma once

#include "tests/support/tty.hpp"

#include <optional>
#include <string>
#include <vector>

namespace test {

// Consecutive cells of a row with one style.
struct PictureRun {
    int column = 0;
    int width = 0;  // columns
    std::string text;
    std::string style;  // classes: b bold, f faint, u underlined, r reverse, c1 a color
};

struct Picture {
    struct Cursor {
        int row = 0;
        int column = 0;
    };

    std::string title;  // the command that was typed
    Tty::Size size;
    std::optional<Cursor> cursor;  // none: hidden
    std::vector<std::vector<PictureRun>> rows;
};

// Returns the screen's contents, without blanks unless they are in reverse video.
Picture picture_of(const Tty& tty, const std::string& title);

// Returns one SVG: the first picture on top, the others side by side below it.
std::string to_svg(const std::vector<Picture>& pictures);

// Returns the texts of each picture in an SVG with their styles, without random parts: each
// number is 0, each unit of time s, each bar one character. Omits rows that are then empty or
// equal to the row above.
std::vector<std::string> without_chance(const std::string& svg);

}  // namespace test
