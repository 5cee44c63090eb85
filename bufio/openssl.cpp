#include "bufio/openssl.hpp"

#include "bufio/tls.hpp"

#include <dlfcn.h>

namespace bufio {

namespace {

// The version that the headers are of, and no other.
#define TEXT(macro) TEXT_OF_TOKEN(macro)
#define TEXT_OF_TOKEN(token) #token
constexpr const char* file = "libssl.so." TEXT(OPENSSL_SHLIB_VERSION);

[[noreturn]] void refuse() {
    throw TlsError({Reason::tls, std::string("TLS needs OpenSSL: ") + ::dlerror()});
}

template <class Function>
void find(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(library, name));
    if (!function) refuse();
}

// What is in libcrypto is found as well, since libssl needs it.
void* load() {
    void* const library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) refuse();
#define X(name) find(library, #name, name);
    BUFIO_OPENSSL_FUNCTIONS(X)
#undef X
    return library;
}

}  // namespace

void load_openssl() { [[maybe_unused]] static void* const library = load(); }

}  // namespace bufio
