// Includes Catch2, version 2 or 3, and the standard headers that most tests use. They are
// precompiled.
#pragma once

#ifdef YODEL_CATCH2_V3
#    include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#    include <catch2/catch.hpp>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
