// A line about the state of a run, on the terminal that standard error is, in place of the one
// before it.
#pragma once

#include <cstddef>
#include <string>

namespace yodel {

class ProgressLine {
public:
    // Cut to the width of the terminal. In the background of the terminal nothing is shown.
    void show(std::string text);
    // Must be called before anything else is written.
    void clear();

private:
    std::size_t width_ = 0;  // columns to be cleared
};

}  // namespace yodel
