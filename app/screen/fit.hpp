// A row of parts. As the width shrinks, the least important parts are omitted.
#pragma once

#include "ui/frame.hpp"

#include <string>
#include <vector>

namespace yodel {

struct Part {
    std::string text;  // any bytes
    int rank = 0;      // the highest is omitted first
    ui::Style style = ui::Style::normal;
    int group = 0;
};

struct Separators {
    std::string parts;
    std::string groups = {};
    ui::Style style = ui::Style::normal;
};

// Returns the parts that fit, in their order. If a part of a group does not fit, the group's
// parts of higher rank are omitted as well, because alone they mean little. The parts of rank 0
// stay; if they are too wide, the row is truncated.
ui::Row fit(const std::vector<Part>& parts, int width, const Separators& separators);

}  // namespace yodel
