// Declarations shared by the TLS files. Only bufio/tls* and tests include this header or
// OpenSSL.
#pragma once

#include "bufio/address.hpp"
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
#include <vector>

namespace bufio {

// Frees an OpenSSL object with the function for its type.
template <auto free_object>
struct Deleter {
    template <class T>
    void operator()(T* object) const {
        free_object(object);
    }
};
inline void free_chain(STACK_OF(X509) * chain) { sk_X509_pop_free(chain, X509_free); }
using Ssl = std::unique_ptr<SSL, Deleter<SSL_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Deleter<SSL_CTX_free>>;
using SslSession = std::unique_ptr<SSL_SESSION, Deleter<SSL_SESSION_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using Chain = std::unique_ptr<STACK_OF(X509), Deleter<free_chain>>;
using MemoryBio = std::unique_ptr<BIO, Deleter<BIO_free>>;

// Returns the object. Throws std::bad_alloc if it is null, because OpenSSL returns null only
// for lack of memory.
template <class T>
T* check_allocated(T* object) {
    return object ? object : throw std::bad_alloc();
}

// Sessions of earlier connections, to be resumed. Only the thread that made a session resumes
// it, because OpenSSL does not document that two threads may use one session at the same time.
class TlsSessions {
public:
    // The newest is the last. Reusing a ticket of TLS 1.3 would let an eavesdropper recognize
    // the client, so each connection of a load needs its own.
    using List = std::vector<SslSession>;
    static constexpr std::size_t max_count = 1000;  // about 5 MB

    // Returns this thread's sessions with the host, with capacity for max_count. The reference
    // stays valid and belongs to the calling thread.
    List& for_host(const std::string& host) {
        const std::lock_guard lock(mutex_);
        List& list = lists_[{std::this_thread::get_id(), host}];
        list.reserve(max_count);
        return list;
    }

private:
    std::mutex mutex_;  // protects the map, not the sessions
    std::map<std::pair<std::thread::id, std::string>, List> lists_;
};

// The state that a context shares with its transports, on all threads. After construction,
// only the sessions and the certificates of the bundle change. A single system call writes each
// line of the key log.
struct TlsState {
    explicit TlsState(SslCtx context) : ctx(std::move(context)) {}
    SslCtx ctx;
    bool client = false;
    TlsClientOptions options{};  // unused by a server
    Fd key_log{};                // empty: no log
    TlsSessions sessions{};
    bool may_read_bundle = false;  // the system's certificates are trusted and verified
    std::once_flag bundle_read{};
};

// tls_socket.cpp

// A BIO for a socket. OpenSSL's own socket BIO writes without MSG_NOSIGNAL, and does not limit
// the bytes received by one call.
struct TlsSocket {
    Fd fd;
    std::size_t budget = 0;        // bytes that the current call may still receive
    std::size_t silent_bytes = 0;  // bytes received since the last application data
    int handshake_burden = 0;      // handshake messages received, minus one per call
    int error = 0;                 // errno of the last permanent failure
    bool record_follows = false;   // after the current record
    bool ended = false;            // the peer closed its side
};

// Returns a BIO for the socket, which must outlive it. Throws std::bad_alloc.
BIO* new_socket_bio(TlsSocket& socket);

// tls_transport.cpp

// Returns the host in the form that certificates use. An empty host, as with a unix-domain
// socket, becomes the local host, because OpenSSL would verify no name at all for an empty one.
// Throws TlsError if the host is neither a name nor an address.
std::string name_of_host(const std::string& host);
std::unique_ptr<Transport> make_tls_transport(std::shared_ptr<TlsState> state, Fd socket,
                                              const std::string& host);

// Callbacks that the context registers with OpenSSL, for an SSL that belongs to a TLS
// transport. No exception may leave them.

// Verifies the peer's certificate and records all faults, because on_verified() lets OpenSSL
// continue after each. Returns 0 if there are any, which ends the handshake unless verification
// is off (SSL_VERIFY_NONE).
int verify_chain(X509_STORE_CTX* store, void*) noexcept;
int on_verified(int accepted, X509_STORE_CTX* store) noexcept;
// Stores a session for a later connection.
int on_new_session(SSL* ssl, SSL_SESSION* session) noexcept;
// Records that the peer has requested our certificate.
int on_certificate_request(SSL* ssl, void*) noexcept;
// Records a TLS message that was sent or received.
void on_message(int sent, int version, int type, const void* bytes, std::size_t size, SSL* ssl,
                void*) noexcept;
// Appends a line to the key log. If the write fails, the handshake fails.
void log_key(const SSL* ssl, const char* line) noexcept;

// tls_errors.cpp

// Returns the first error of OpenSSL's error queue as text, and clears the queue.
std::string openssl_reason();

// The most informative error of OpenSSL's queue after a failed call for a connection: the last
// error of the SSL library, because earlier errors are its inner causes, or else the first
// error.
struct TlsFailure {
    int code;  // SSL_R_*; 0 for errors of other libraries, which use the same numbers
    std::string text;
};
// Returns the most informative error, and clears the queue.
TlsFailure take_failure();

// Facts that determine the meaning of an error in addition to OpenSSL's code.
struct TlsSituation {
    bool client;  // we are the client
    bool handshake_done = false;
    bool peer_speaks_tls = false;        // a handshake message from it was accepted
    bool certificate_requested = false;  // the peer requested our certificate
    bool has_certificate;                // we have a certificate
    bool certificate_withheld = false;   // our certificate suits none of the peer's algorithms
    bool renegotiation_refused = false;  // the peer requested a renegotiation
    const std::string& host;             // name required in the peer's certificate
    const TlsFacts& facts;
};

// True if the error means that the peer does not speak TLS.
bool is_not_tls(int code, const TlsSituation& situation);
End protocol_failure(const TlsFailure& failure, Reason reason, const TlsSituation& situation);
// Returns the end for a peer that closed the connection during the handshake.
End closed_in_handshake();

// tls_certificate.cpp

// Returns sha256//BASE64 of a public key; empty if it can't be encoded, for example for lack
// of memory.
std::string pin_of(EVP_PKEY* key);
// Returns the name in one line of bounded length.
std::string name_text(const X509_NAME* name);
// Returns the date as YYYY-MM-DD.
std::string date_text(const ASN1_TIME* time);

// An error that OpenSSL found while verifying a chain.
struct Fault {
    int error;  // OpenSSL's code
    int depth;  // the index in the chain; 0 is the peer's own certificate
    const X509* certificate;
};
// Returns a clause that continues "the certificate of HOST", or an empty text if there is no
// fault.
std::string verification_error_text(const Fault& fault, const std::string& host);
// Fills in the facts about the peer's certificate and chain.
void describe_certificate(TlsFacts& facts, const X509* certificate,
                          const STACK_OF(X509) * chain);
// Adds a fault to the facts, unless a recorded fault implies it.
void add_fault(TlsFacts& facts, const Fault& fault, const std::string& host);
// Returns a self-signed certificate for `localhost` and the loopback addresses, valid for a
// year.
Certificate make_certificate(EVP_PKEY* key);

}  // namespace bufio
