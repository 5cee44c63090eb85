// The sentence of a refusal.
#pragma once

#include "app/text/exit_status.hpp"

#include <string>

namespace test {

// Returns the sentence of the UsageError that `parse` throws; empty if it throws none.
template <class Parse>
std::string refusal(Parse parse) {
    try {
        parse();
    } catch (const yodel::UsageError& error) {
        return error.what();
    }
    return {};
}

}  // namespace test
