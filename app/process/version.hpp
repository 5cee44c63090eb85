// The lines that -V prints: the version, and the compiler and libraries behind the program.
#pragma once

#include <string>
#include <string_view>

namespace yodel {

// The lines of -V. `libraries` are named after those that both programs have, each with a
// comma and a blank before it. Nothing in them is of the time or the place of the build.
std::string version_text(const std::string& program, std::string_view backends,
                         const std::string& libraries = "");

}  // namespace yodel
