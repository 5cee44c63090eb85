// Returns the text of a row without its styles.
#pragma once

#include "ui/frame.hpp"

#include <string>

namespace test {

inline std::string plain_text(const ui::Row& row) {
    std::string text;
    for (const ui::Span& span : row) text += span.text;
    return text;
}

}  // namespace test
