// TLS by OpenSSL, for clients and servers: contexts are made once and turn sockets into
// transports. At least TLS 1.2 is spoken, renegotiation is refused, and a peer's end without
// close_notify is reported as a truncation.
//
// A context, or copies of it, may be used by several threads at once; a transport belongs to
// one thread. Sessions are resumed by connections of the same thread.
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

// Thrown for settings that can't be used: a file is missing, holds no certificate, and the
// like.
class TlsError : public std::runtime_error {
public:
    explicit TlsError(End end) : std::runtime_error(end.text), end_(std::move(end)) {}
    const End& end() const { return end_; }

private:
    End end_;
};

enum class TlsVersion { v1_2, v1_3 };

struct TlsClientOptions {
    // The trusted authorities. If both are empty, the system's are trusted: those that
    // SSL_CERT_FILE and SSL_CERT_DIR name, or OpenSSL's own. The system's file is read once the
    // directory lacks an authority.
    std::string ca_file;            // PEM
    std::string ca_directory;       // of certificates by hashed name
    std::string certificate;        // a PEM file: our own certificate with its chain
    std::string key;                // a PEM file; empty: the key is in the certificate's file
    std::vector<std::string> alpn;  // the protocols offered, the preferred first
    std::vector<std::string> pins;  // sha256//BASE64: one of these keys replaces the chain
    bool verify = true;             // the chain and the name must be right
    std::string server_name;        // sent as SNI; empty: the host
    std::string verify_name;        // the certificate must name it; empty: the host
    // A PEM file: the revocation lists of all authorities of the chain, including the root's.
    std::string crl_file;
    // The secrets of the connections are appended to this file, for analysers. It can't be a
    // FIFO. A line that can't be written ends the handshake with Reason::output.
    std::string key_log_file;
    // The key exchange groups to offer, the preferred first, as in "X25519:P-256"; empty: those
    // of OpenSSL. See knows_groups().
    std::string groups;
    TlsVersion min_version = TlsVersion::v1_2;
    std::optional<TlsVersion> max_version;  // empty: the latest that OpenSSL speaks
};

struct TlsServerOptions {
    std::string certificate;  // a PEM file: our own certificate with its chain
    std::string key;          // a PEM file; empty: the key is in the certificate's file
    std::string client_ca;    // a PEM file; not empty: clients must show a certificate by these
    // True if making the context must not block, as at a reload: then no pass phrase is asked
    // for, and files that are not regular ones are refused.
    bool unattended = false;
};

// The version of OpenSSL that this was compiled with, and that of the one in use, as in
// "3.0.15".
struct TlsLibrary {
    std::string compiled;
    std::string running;
};
TlsLibrary tls_library();

struct TlsState;

// Copies are cheap and share their state, which lives as long as one of them or a transport. A
// server that is to show another certificate makes another context; connections of the old one
// go on. A client's context remembers sessions, so that connecting again to the same host takes
// a shorter handshake.
class TlsContext {
public:
    // These throw TlsError. They read files, and may ask for a pass phrase at the terminal.
    static TlsContext client(const TlsClientOptions& options);
    static TlsContext server(const TlsServerOptions& options);
    // Makes a key and a certificate for `localhost` and the loopback addresses. A client can
    // trust the server by its pin(). `client_ca` is that of TlsServerOptions.
    static TlsContext self_signed_server(const std::string& client_ca = {});

    // These take over a non-blocking socket. The host is the one that the user named: it is
    // sent as SNI, and the certificate must name it, unless the options name others. An empty
    // host means this one, for a unix-domain socket. connect() throws TlsError if the host is
    // neither an address nor a name (bufio/host_name.hpp).
    std::unique_ptr<Transport> connect(Fd socket, const std::string& host) const;
    std::unique_ptr<Transport> accept(Fd socket) const;

    // Returns true if OpenSSL knows every key exchange group of the list.
    static bool knows_groups(const std::string& list);

    // Returns sha256//BASE64 of our own public key, or an empty text if there is none.
    std::string pin() const;

private:
    explicit TlsContext(std::shared_ptr<TlsState> state) : state_(std::move(state)) {}
    std::shared_ptr<TlsState> state_;
};

}  // namespace bufio
