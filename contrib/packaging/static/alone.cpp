// What a statically linked program must contain or choose by itself, because it also runs on
// systems without Debian's files, and must not load libraries that need another C library.
#define NCURSES_INTERNALS  // for the functions that read a description
#include <curses.h>
#include <nss.h>
#include <term.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

namespace {

struct Description {
    std::string_view terminal;
    std::string_view bytes;  // compiled by tic
};

using namespace std::literals;
constexpr std::array descriptions{
#include "terminals.inc"
};

// The C library would load a module for each source of names in /etc/nsswitch.conf. Only files
// and dns are built in.
void choose_name_services() {
    ::__nss_configure_lookup("hosts", "files dns");
    ::__nss_configure_lookup("services", "files");
}

// OpenSSL looks for authorities in Debian's directory. Elsewhere this chooses the file that
// other systems provide.
void choose_authorities() {
    if (::access("/usr/lib/ssl/certs", R_OK) == 0) return;
    for (const char* const file :
         {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
          "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
        if (::access(file, R_OK) != 0) continue;
        ::setenv("SSL_CERT_FILE", file, 0);  // unless the user has set it
        return;
    }
}

[[gnu::constructor]] void choose() {
    choose_name_services();
    choose_authorities();
}

}  // namespace

// ncurses calls this for a terminal that no database describes. This definition replaces the
// empty one of the library. The caller owns the memory in the description.
extern "C" const TERMTYPE2* _nc_fallback2(const char* terminal) {
    static TERMTYPE2 found;
    for (const Description& each : descriptions) {
        if (each.terminal != terminal) continue;
        char* const bytes = const_cast<char*>(each.bytes.data());  // only read
        const int size = static_cast<int>(each.bytes.size());
        return ::_nc_read_termtype(&found, bytes, size) == 1 ? &found : nullptr;
    }
    return nullptr;
}

// The older form, which nothing calls.
extern "C" const TERMTYPE* _nc_fallback(const char*) { return nullptr; }
