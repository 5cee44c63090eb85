// The lines that -V prints: the version, and the compiler and libraries behind the program.
#pragma once

#include <string>
#include <string_view>

namespace yodel {

// Returns the lines of -V. `libraries`: further libraries of the program, each with a comma
// and a blank before it. The lines do not depend on the time or the place of the build.
std::string version_text(const std::string& program, std::string_view backends,
                         const std::string& libraries = "");

}  // namespace yodel
