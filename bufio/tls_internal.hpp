// Declarations shared by the TLS files, which alone include OpenSSL.
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
#include <mutex>
#include <new>
#include <thread>
#include <utility>

namespace bufio {

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

// Throws std::bad_alloc for null, which OpenSSL returns for lack of memory.
template <class T>
T* check_allocated(T* object) {
    return object ? object : throw std::bad_alloc();
}

// The state that a context shares with its transports, on all threads. After construction,
// only the sessions and the certificates of the bundle change.
struct TlsState {
    // Sessions to resume, the newest last. Reusing a ticket of TLS 1.3 would let an
    // eavesdropper recognize the client, so such a session is used only once.
    using Sessions = std::vector<SslSession>;
    static constexpr std::size_t max_sessions = 1000;  // of a host and thread; about 5 MB

    // Returns this thread's sessions with the host; the reference stays valid. OpenSSL does not
    // document that two threads may use one session at the same time.
    Sessions& sessions_with(const std::string& host) {
        const std::lock_guard lock(mutex);
        Sessions& list = sessions[{std::this_thread::get_id(), host}];
        list.reserve(max_sessions);
        return list;
    }

    SslCtx ctx;
    TlsClientOptions options{};    // a server uses only key_log_file
    Fd key_log{};                  // empty if there is no log
    bool may_read_bundle = false;  // system authorities are trusted, and peers are verified
    std::once_flag bundle_read{};
    std::mutex mutex{};  // protects the map, not the sessions
    std::map<std::pair<std::thread::id, std::string>, Sessions> sessions{};
};

// Returns a context's state, with the callbacks that its transports need. An empty
// `key_log_file` stands for no log. Throws TlsError.
std::shared_ptr<TlsState> new_state(bool is_client, const std::string& key_log_file);

// The most informative error of OpenSSL's queue after a failed call: the last specific error of
// the SSL library, because earlier errors are its inner causes, or else the first error.
struct TlsFailure {
    int code;  // SSL_R_*, or 0 if the error is general or from another library
    std::string text;
};
TlsFailure take_failure();  // clears the queue

void describe_certificate(TlsFacts& facts, const X509* certificate,
                          const STACK_OF(X509) * chain);

// Adds a fault that OpenSSL found while verifying a chain, unless an earlier fault implies it.
// `error` is X509_V_*, `depth` the certificate's place in the chain; 0 is the peer's own.
void add_fault(TlsFacts& facts, int error, int depth, const X509* certificate,
               const std::string& host);

}  // namespace bufio
