// TLS by OpenSSL, client and server side: contexts that are made once and turn sockets into
// transports.  At least TLS 1.2, renegotiation refused, partial writes retried from wherever
// the bytes have moved to, a peer's end without close_notify told as a truncation.
#pragma once

#include "bufio/end.hpp"
#include "bufio/fd.hpp"
#include "bufio/tls_facts.hpp"
#include "bufio/transport.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bufio {

// The settings can't be used: a file is missing, holds no certificate, and the like.
class TlsError : public std::runtime_error {
public:
    explicit TlsError(End end) : std::runtime_error(end.text), end_(std::move(end)) {}
    const End& end() const { return end_; }

private:
    End end_;
};

enum class TlsVersion { v1_2, v1_3 };

struct TlsClientOptions {
    // With both of these empty the system's are trusted: what SSL_CERT_FILE and SSL_CERT_DIR
    // name, or OpenSSL's own; the file is read once the directory lacks an authority.
    std::string ca_file;            // PEM
    std::string ca_directory;       // certificates by hashed name
    std::string certificate;        // PEM file, our own; with its chain
    std::string key;                // PEM file; empty: in the certificate's
    std::vector<std::string> alpn;  // protocols offered, the preferred first
    std::vector<std::string> pins;  // sha256//BASE64: one of these keys, instead of a chain
    bool verify = true;             // the chain and the name
    std::string server_name;        // sent as SNI; empty: the host
    std::string verify_name;        // what the certificate must name; empty: the host
    // PEM: the revocation lists of all authorities of the chain, the root's own included.
    std::string crl_file;
    // The connections' secrets are appended, for analysers. Not a FIFO. A line that can't be
    // written ends the handshake with Reason::output.
    std::string key_log_file;
    TlsVersion min_version = TlsVersion::v1_2;
    std::optional<TlsVersion> max_version;  // empty: the latest that OpenSSL speaks
};

struct TlsServerOptions {
    std::string certificate;  // PEM file with its chain
    std::string key;          // PEM file; empty: in the certificate's
    std::string client_ca;    // PEM file; not empty: clients must show a certificate by these
    // Nothing may block, as it would at a reload: no pass phrase is asked for, and no FIFO is
    // waited for.
    bool unattended = false;
};

struct TlsState;

// Cheap to copy. A server that is to show another certificate makes another context; what was
// accepted by the old one goes on. A client's remembers sessions, so that connecting again to
// the same host takes a shorter handshake.
class TlsContext {
public:
    // These throw TlsError.
    static TlsContext client(const TlsClientOptions& options);
    static TlsContext server(const TlsServerOptions& options);
    // A server with a key and certificate made on the spot, for `localhost` and the loopback
    // addresses; its pin is what a client that trusts it asks for. With `client_ca`, as above.
    static TlsContext self_signed_server(const std::string& client_ca = {});

    // The host is what the user named: it is sent as SNI, and verified, unless the options
    // name another. Empty: this host, over a unix-domain socket. Throws TlsError if it is
    // neither an address nor a name (bufio/host_name.hpp).
    std::unique_ptr<Transport> connect(Fd socket, const std::string& host) const;
    std::unique_ptr<Transport> accept(Fd socket) const;

    // sha256//BASE64 of our own public key; empty without one.
    std::string pin() const;

private:
    explicit TlsContext(std::shared_ptr<TlsState> state) : state_(std::move(state)) {}
    std::shared_ptr<TlsState> state_;
};

}  // namespace bufio
