// The declarations that the parts of TLS share.  Only bufio/tls* and a fuzz target include
// this, or OpenSSL.
#pragma once

#include "bufio/host_name.hpp"
#include "bufio/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

namespace bufio {

// Frees an object of OpenSSL by the function that OpenSSL has for its type.
template <auto free_object>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        free_object(object);
    }
};
using Ssl = std::unique_ptr<SSL, Deleter<SSL_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using SslSession = std::unique_ptr<SSL_SESSION, Deleter<SSL_SESSION_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using MemoryBio = std::unique_ptr<BIO, Deleter<BIO_free>>;

// Returns an object that OpenSSL has made. OpenSSL returns null only if it has no memory; that
// throws std::bad_alloc.
template <class T>
T* check_allocated(T* object) {
    return object ? object : throw std::bad_alloc();
}

// The sessions of the last connections, for the next ones to resume. A session is resumed by
// the thread that made it only: OpenSSL does not say that two connections on different threads
// may have one session at the same time.
class TlsSessions {
public:
    // Returns the place of this thread's session for the host; it holds null if there is none.
    // The place stays valid and belongs to the calling thread.
    SslSession& of(const std::string& host) {
        const std::lock_guard lock(mutex_);
        return sessions_[{std::this_thread::get_id(), host}];
    }

private:
    std::mutex mutex_;  // of the map, not of what it holds
    std::map<std::pair<std::thread::id, std::string>, SslSession> sessions_;
};

// The state that a context shares with its transports, on all threads. All of it but the
// sessions stays as it was made; lines of the key log are single writes.
struct TlsState {
    explicit TlsState(SslCtx context) : ctx(std::move(context)) {}
    SslCtx ctx;
    bool client = false;
    TlsClientOptions options{};  // of a client
    Fd key_log{};                // empty if no log is kept
    TlsSessions sessions{};
};

// tls_socket.cpp

// A socket as OpenSSL reads and writes it: a BIO. OpenSSL's own socket BIO writes without
// MSG_NOSIGNAL, and sets no bounds to what one call receives.
struct TlsSocket {
    Fd fd;
    std::size_t budget = 0;  // bytes that the present call may still receive
    std::size_t silent = 0;  // bytes received since the last that brought data
    int burden = 0;          // handshake messages received, less one for each call
    int error = 0;           // errno of the last call that failed for good
    bool more = false;       // true while another record follows the one that is written
    bool ended = false;      // the peer has closed its side
};

// Returns a BIO that works on the socket, which must outlive it. Throws std::bad_alloc.
BIO* new_socket_bio(TlsSocket& socket);

// tls_transport.cpp

std::unique_ptr<Transport> make_tls_transport(std::shared_ptr<TlsState> state, Fd socket,
                                              const std::string& host);

// OpenSSL calls the following functions for an SSL that belongs to such a transport. They are
// set in the context, and must not let an exception pass.

// Verifies the certificate of the peer. OpenSSL goes on after each fault, so that all of them
// are found; any one refuses the certificate.
int verify_chain(X509_STORE_CTX* store, void*) noexcept;
int on_verified(int accepted, X509_STORE_CTX* store) noexcept;
// Stores a session for the next connection.
int on_new_session(SSL* ssl, SSL_SESSION* session) noexcept;
// Notes that the peer has asked for our certificate.
int on_certificate_request(SSL* ssl, void*) noexcept;
// Notes a message of TLS that was sent or received.
void on_message(int sent, int version, int type, const void* bytes, std::size_t size, SSL* ssl,
                void*) noexcept;
// Appends a line to the key log. If that fails, the handshake fails.
void log_key(const SSL* ssl, const char* line) noexcept;

// tls_errors.cpp

// Returns the first error of OpenSSL's list as text, and clears the list.
std::string openssl_reason();

// The error of OpenSSL's list that says most about a failed call for a connection: SSL's own
// last one if there is any, because it names what the inner causes before it are about.
struct TlsFailure {
    int code;  // SSL_R_*; 0 for errors of other libraries, which use the same numbers
    std::string text;
};
// Clears the list.
TlsFailure take_failure();

// The facts, beside OpenSSL's code, on which the meaning of an error depends.
struct TlsSituation {
    bool client;  // we are the client
    bool handshake_done = false;
    bool peer_speaks_tls = false;        // one of its handshake messages was accepted
    bool certificate_requested = false;  // the peer has asked for a certificate of ours
    bool has_certificate;                // and we have one
    bool certificate_withheld = false;   // but it suits none of the peer's algorithms
    bool renegotiation_refused = false;  // the peer has asked for another handshake
    const std::string& host;             // that the peer's certificate must name
    const TlsFacts& facts;
};

// True if the error means that the peer does not speak TLS at all.
bool is_not_tls(int code, const TlsSituation& situation);
End protocol_failure(const TlsFailure& failure, Reason reason, const TlsSituation& situation);
// The end for a system call that has failed with the errno `error`.
End system_failure(int error, Reason reason, bool handshake_done);
// The end for a peer that has closed the connection during the handshake.
End closed_in_handshake();

// tls_certificate.cpp

// Returns sha256//BASE64 of a public key; nothing if it can't be encoded, as for want of
// memory.
std::string pin_of(EVP_PKEY* key);
// Returns the name in one line, cut to a bounded length.
std::string name_text(const X509_NAME* name);
// Returns the date as YYYY-MM-DD.
std::string date_text(const ASN1_TIME* time);

// An error that OpenSSL has found in verifying a chain.
struct Fault {
    int error;  // OpenSSL's code
    int depth;  // the place in the chain; 0 is the peer's own certificate
    const X509* certificate;
    const X509_CRL* list = nullptr;  // the revocation list, if the fault concerns one
};
// True if no authority trusted here has issued the certificate.
bool lacks_trust(int error);
// True if, in addition, the peer has sent only its own certificate. Then probably an
// intermediate certificate is missing. After one intermediate it is the root, which servers
// need not send.
bool lacks_issuer(const Fault& fault);
// Returns a clause that continues "the certificate of HOST", or an empty text if nothing is
// wrong.
std::string verification_error(const Fault& fault, const TlsClientOptions& options,
                               const std::string& host);
// Fills the facts about the peer's certificate and the chain that it has sent.
void describe_certificate(TlsFacts& facts, const X509* certificate,
                          const STACK_OF(X509) * chain);
// Adds a fault to the facts, unless it follows from one that they have.
void add_fault(TlsFacts& facts, const Fault& fault, const TlsClientOptions& options,
               const std::string& host);
// Returns a certificate signed by the key itself, for `localhost` and the loopback addresses,
// that is valid for a year.
Certificate make_certificate(EVP_PKEY* key);

}  // namespace bufio
