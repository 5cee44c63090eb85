#include "app/process/version.hpp"

#include "app/process/sandbox.hpp"
#include "app/text/system.hpp"
#include "bufio/tls.hpp"

namespace yodel {

namespace {

#define AS_TEXT(number) #number
#define DOTTED(major, minor, patch) AS_TEXT(major) "." AS_TEXT(minor) "." AS_TEXT(patch)

#if defined(__clang__)
constexpr auto compiler =
    "clang++ " DOTTED(__clang_major__, __clang_minor__, __clang_patchlevel__);
#elif defined(__GNUC__)
constexpr auto compiler = "g++ " DOTTED(__GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#else
constexpr auto compiler = "another compiler";
#endif

std::string standard_library() {
#if defined(_LIBCPP_VERSION)
    // 14000 is 14.0, and from 15 on 150000 is 15.0.
    constexpr int number = _LIBCPP_VERSION;
    return "libc++ " + std::to_string(number / (number < 100000 ? 1000 : 10000));
#elif defined(_GLIBCXX_RELEASE)
    return "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#else
    return "another C++ library";
#endif
}

#if YODEL_IS_PORTABLE
constexpr auto kind = ", portable";
#else
constexpr auto kind = "";
#endif

}  // namespace

std::string version_text(const std::string& program, std::string_view backends,
                         const std::string& libraries) {
    const bufio::TlsLibrary tls = bufio::tls_library();
    return program + " " YODEL_VERSION "\n" + "built with " + compiler + ", " +
           standard_library() + ", OpenSSL " + tls.compiled + libraries + kind + "\n" +
           "runs with OpenSSL " + tls.running + ", sandbox " + available_sandbox() + "\n" +
           "backends " + std::string(backends) + "; the first is the default\n";
}

}  // namespace yodel
