// Sets the locale of the process during its lifetime.
#pragma once

#include "tests/support/catch.hpp"

#include <clocale>

namespace test {

class Locale {
public:
    explicit Locale(const char* name) { REQUIRE(std::setlocale(LC_ALL, name) != nullptr); }
    ~Locale() { std::setlocale(LC_ALL, "C"); }
    Locale(const Locale&) = delete;
    Locale& operator=(const Locale&) = delete;
};

}  // namespace test
