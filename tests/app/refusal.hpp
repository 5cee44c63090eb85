// The sentence of a refusal.
#pragma once

#include <exception>
#include <string>

namespace test {

// Returns the text of the exception that the call throws, or an empty text if it throws none.
template <class Call>
std::string refusal(Call call) {
    try {
        call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace test
