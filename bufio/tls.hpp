// TLS 1.2 and later with OpenSSL, for clients and servers. A context is made once and turns
// sockets into transports. Renegotiation is refused, and a close without close_notify is
// reported as a truncation.
//
// Several threads may use a context or its copies at the same time; a transport belongs to one
// thread. A session is resumed only by connections of the thread that made it.
#pragma once

#include "bufio/fd.hpp"
#include "bufio/transport.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bufio {

// Thrown for unusable settings, such as a file that is missing or contains no certificate.
struct TlsError : std::runtime_error {
    TlsError(Reason cause, const std::string& text) : std::runtime_error(text), reason(cause) {}
    Reason reason;
};

enum class TlsVersion { v1_2 = 0x303, v1_3 = 0x304 };  // as in the protocol

struct TlsClientOptions {
    // A PEM file with the trusted authorities. With neither file nor pins, the system's are
    // trusted: SSL_CERT_FILE and SSL_CERT_DIR or, for each that is unset, OpenSSL's default.
    std::string ca_file = {};
    std::string certificate = {};  // a PEM file with our certificate and its chain
    std::string key = {};          // a PEM file; empty if the key is in the certificate file
    std::vector<std::string> alpn = {};  // the protocols to offer, the preferred first
    std::vector<std::string> pins = {};  // accepted keys, sha256//BASE64; replace verification
    bool must_verify = true;             // verify the chain and the name
    // The file to append the connections' secrets to; not a FIFO. A failed write ends the
    // handshake with Reason::output.
    std::string key_log_file = {};
    // The key exchange groups to offer, the preferred first, as in "X25519:P-256"; OpenSSL's
    // defaults if empty. See knows_groups().
    std::string groups = {};
    TlsVersion min_version = TlsVersion::v1_2;
    std::optional<TlsVersion> max_version = {};  // OpenSSL's latest if empty
    bool may_resume = true;                      // resume sessions of earlier connections
};

struct TlsServerOptions {
    // A PEM file with our certificate and its chain. If no file is given, makes a self-signed
    // certificate for `localhost` and the loopback addresses, which clients can trust by pin().
    std::string certificate = {};
    std::string key = {};  // a PEM file; empty if the key is in the certificate file
    // A PEM file of authorities; makes client certificates mandatory.
    std::string client_ca = {};
    std::string key_log_file = {};  // as for clients
    // Never asks for a pass phrase, and refuses files that are not regular, because a reload
    // must not block.
    bool must_not_block = false;
};

std::string tls_library_version();  // OpenSSL's at run time, as in "3.0.15"

struct TlsState;

// Copies are cheap and share their state, which lives as long as any copy or transport. A
// client's context stores the latest sessions of each host, so that the next connections to it
// need a shorter handshake.
class TlsContext {
public:
    // Both throw TlsError. They read files, and may ask for a pass phrase at the terminal.
    static TlsContext client(const TlsClientOptions& options);
    static TlsContext server(const TlsServerOptions& options = {});

    // Both take ownership of a non-blocking socket. connect() looks for `host` in the peer's
    // certificate and, if `host` is a name, sends it as SNI. An empty host means localhost.
    // Throws TlsError for any other text that is neither an address nor a name.
    std::unique_ptr<Transport> connect(Fd socket, const std::string& host) const;
    std::unique_ptr<Transport> accept(Fd socket) const;

    static bool knows_groups(const std::string& list);

    std::string pin() const;  // sha256//BASE64 of our public key; empty if there is none

private:
    explicit TlsContext(std::shared_ptr<TlsState> state) : state_(std::move(state)) {}
    std::shared_ptr<TlsState> state_;
};

// OpenSSL's functions for protocols above the transports. Both throw std::bad_alloc if OpenSSL
// fails.
std::string sha1(std::string_view bytes);     // 20 bytes
std::string random_bytes(std::size_t count);  // that no peer can predict

}  // namespace bufio
