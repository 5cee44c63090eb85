// What the parts of TLS share.  Only bufio/tls*.cpp and a fuzz target include this, or OpenSSL.
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
#include <new>
#include <string>

namespace bufio {

// Gives an object of OpenSSL back by the function that its manual names.
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

// What OpenSSL makes, if it has the memory.
template <class T>
T* needed(T* made) {
    return made ? made : throw std::bad_alloc();
}

// What a context's transports share.
struct TlsState {
    SslCtx ctx;
    bool client = false;
    TlsClientOptions options{};  // of a client
    Fd key_log{};                // empty: none is kept
    // Of the last connection to each host, for the next one to resume; null: there is none.
    std::map<std::string, SslSession> sessions{};
};

std::unique_ptr<Transport> make_tls_transport(std::shared_ptr<TlsState> state, Fd socket,
                                              const std::string& host);
// OpenSSL calls these for an SSL that belongs to such a transport; no exception may leave them.
// Verifies the certificate of the peer. OpenSSL goes on after each fault, so that all are
// found, and any one refuses the certificate.
int verify_chain(X509_STORE_CTX* store, void*) noexcept;
int note_verification(int accepted, X509_STORE_CTX* store) noexcept;
// A session to resume, and a demand for our own certificate.
int note_session(SSL* ssl, SSL_SESSION* session) noexcept;
int note_demand(SSL* ssl, void*) noexcept;
// A line for the key log. A failure to write it fails the handshake.
void log_key(const SSL* ssl, const char* line) noexcept;

// OpenSSL's word for the error it noted first, and no more of its list.
std::string openssl_reason();

// sha256//BASE64 of a public key.
std::string pin_of(EVP_PKEY* key);
std::string name_text(const X509_NAME* name);  // clipped
std::string date_text(const ASN1_TIME* time);

// Something wrong with a certificate of a chain.
struct Fault {
    int error;  // OpenSSL's code
    int depth;  // in the chain; 0: the peer's own certificate
    const X509* certificate;
    const X509_CRL* list = nullptr;  // the revocation list concerned, if it is one
};
// The fault is that no authority trusted here stands for the certificate.
bool lacks_trust(int error);
// The same, and the peer has sent no more than its own certificate: a missing intermediate is
// likely. After one intermediate a missing root is, which servers need not send.
bool lacks_issuer(const Fault& fault);
// A clause that goes on after the name of the certificate; empty if nothing is wrong.
std::string objection(const Fault& fault, const TlsClientOptions& options,
                      const std::string& host);
// The most certificates of a chain that are described, and the most faults of one that are:
// peers choose how many there are.
constexpr int longest_chain = 10;
constexpr int most_faults = 5;
// By the key itself, for `localhost` and the loopback addresses, a year from now.
Certificate make_certificate(EVP_PKEY* key);

}  // namespace bufio
