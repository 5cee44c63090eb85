// Identities for tests of TLS, and the contexts of a client and a server that use them.
#pragma once

#include "tests/bufio/certificates.hpp"
#include "tests/bufio/pair.hpp"

namespace test {

using bufio::TlsClientOptions;
using bufio::TlsContext;
using bufio::TlsVersion;
constexpr TlsVersion tls12 = TlsVersion::v1_2;
constexpr TlsVersion tls13 = TlsVersion::v1_3;

// Made once, because making keys takes time.
struct World {
    Certificates files;
    Identity ca = files.authority("Test Authority");
    Identity stranger = files.authority("Stranger");
    Identity server = files.make("localhost", {.issuer = &ca});
    Identity client = files.make("client", {.issuer = &ca});
};

inline World& world() {
    static World made;
    return made;
}

inline TlsClientOptions trusting(std::optional<TlsVersion> max_version = {}) {
    TlsClientOptions options;
    options.ca_file = world().ca.certificate;
    options.max_version = max_version;
    return options;
}

// Options that also name a certificate of our own.
inline TlsClientOptions certified(std::optional<TlsVersion> max_version = {},
                                  const Identity& own = world().client) {
    TlsClientOptions options = trusting(max_version);
    options.certificate = own.certificate;
    options.key = own.key;
    return options;
}

// A server with this identity. With `authorities`, it requires a client's certificate.
inline TlsContext server_of(const Identity& identity = world().server,
                            const std::string& authorities = {}) {
    return TlsContext::server({identity.certificate, identity.key, authorities});
}

}  // namespace test
