// What the parts of TLS share.  Only bufio/tls*.cpp and a fuzz target include this, or OpenSSL.
#pragma once

#include "bufio/openssl.hpp"
#include "bufio/tls.hpp"

#include <map>
#include <memory>
#include <new>
#include <string>

namespace bufio {

template <auto& free_it>
struct Free {
    template <class T>
    void operator()(T* it) const {
        free_it(it);
    }
};
using Ssl = std::unique_ptr<SSL, Free<SSL_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using SslSession = std::unique_ptr<SSL_SESSION, Free<SSL_SESSION_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Names = std::unique_ptr<GENERAL_NAMES, Free<GENERAL_NAMES_free>>;
using MemoryBio = std::unique_ptr<BIO, Free<BIO_free>>;

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
    Fd key_log{};                // empty: none is kept; else OpenSSL's context points to it
    // Of the last connection to each host, for the next one to resume; null: there is none.
    std::map<std::string, SslSession> sessions{};
};

std::unique_ptr<Transport> make_tls_transport(std::shared_ptr<TlsState> state, Fd socket,
                                              const std::string& host);
// Wants an SSL of such a transport to belong to: what OpenSSL finds wrong with the certificate
// of its peer, a session to resume, a demand for our own certificate. OpenSSL, which calls
// them, can't be left by an exception.
int note_verification(int accepted, X509_STORE_CTX* store) noexcept;
int note_session(SSL* ssl, SSL_SESSION* session) noexcept;
int note_demand(SSL* ssl, void*) noexcept;

// OpenSSL's word for the error it noted first, and no more of its list.
std::string openssl_reason();

// sha256//BASE64 of a public key.
std::string pin_of(EVP_PKEY* key);
std::string name_text(const X509_NAME* name);
std::string date_text(const ASN1_TIME* time);
bool is_address(const std::string& host);
// Whether OpenSSL's code is that nobody trusted here stands for the certificate.
bool lacks_trust(int error);
// What is wrong with the certificate by OpenSSL's code, as the end of a sentence that begins
// with whose it is; empty if nothing is.
std::string objection(int error, int depth, const X509* certificate, const std::string& host);
// By the key itself, for `localhost` and the loopback addresses, a year from now.
Certificate make_certificate(EVP_PKEY* key);

}  // namespace bufio
