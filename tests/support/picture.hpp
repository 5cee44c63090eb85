// Screens of a terminal as a picture, an SVG that needs nothing but a monospaced font.
//
// The text of the screens is text in the picture, in runs of one style, each with the width
// that its columns take. So a picture can be read back, and two pictures of one session can be
// compared in spite of the times in them.
#pragma once

#include "tests/support/tty.hpp"

#include <optional>
#include <string>
#include <vector>

namespace test {

// Cells of a row with one style.
struct PictureRun {
    int column = 0;
    int width = 0;  // columns
    std::string text;
    std::string style;  // classes: b bold, f faint, u underlined, r reverse, c1 a color

    bool operator==(const PictureRun&) const = default;
};

struct Picture {
    struct Cursor {
        int row = 0;
        int column = 0;
        bool operator==(const Cursor&) const = default;
    };

    std::string title;  // the command that was typed
    Tty::Size size;
    std::optional<Cursor> cursor;  // none: it is hidden
    std::vector<std::vector<PictureRun>> rows;
};

// The screen as it is. Blanks are left out, except in reverse video.
Picture picture_of(const Tty& tty, const std::string& title);

// One SVG: the first picture on top, the others side by side below it.
std::string to_svg(const std::vector<Picture>& pictures);

// The pictures from which to_svg() made the text. Throws if it is no such text.
std::vector<Picture> from_svg(const std::string& svg);

// The rows of a picture with their styles, without anything that is left to chance: each number
// is 0, each unit of time s, each bar one character. A row that is then empty, or the same as
// the one above it, is left out.
std::string without_chance(const Picture& picture);

}  // namespace test
