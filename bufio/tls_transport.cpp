#include "bufio/tls_internal.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>

namespace bufio {

namespace {

// The socket, as OpenSSL sees it.  Its own socket BIO writes without MSG_NOSIGNAL.
struct Socket {
    Fd fd;
    std::size_t budget = 0;  // bytes that this call may still receive
    std::size_t silent = 0;  // bytes received since the last data in them
    int error = 0;           // errno of the last call that failed for good
    bool more = false;       // what is written is followed at once by another record
    bool ended = false;
};

// Records that follow each other are sent as one piece where the system can wait for the last:
// each one alone would wake the peer.
#ifdef MSG_MORE
constexpr int send_more = MSG_NOSIGNAL | MSG_MORE;
#else
constexpr int send_more = MSG_NOSIGNAL;
#endif

int would_block(BIO* bio, int retry_flag) {
    BIO_clear_retry_flags(bio);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
    } else {
        static_cast<Socket*>(BIO_get_data(bio))->error = errno;
    }
    return -1;
}

// OpenSSL goes on reading as long as records bring no data, such as new keys, which take much
// work. Once the budget is spent it is told that nothing more is there; the descriptor stays
// readable, and the next turn goes on.
int bio_read(BIO* bio, char* to, int size) {
    auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
    if (socket.budget == 0) {
        errno = EAGAIN;
        return would_block(bio, BIO_FLAGS_READ);
    }
    const std::size_t most = std::min(static_cast<std::size_t>(size), socket.budget);
    const ssize_t count = ::recv(socket.fd.get(), to, most, 0);
    if (count < 0) return would_block(bio, BIO_FLAGS_READ);
    BIO_clear_retry_flags(bio);
    socket.ended = count == 0;
    socket.budget -= static_cast<std::size_t>(count);
    socket.silent += static_cast<std::size_t>(count);
    return static_cast<int>(count);
}

int bio_write(BIO* bio, const char* from, int size) {
    auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
    const ssize_t count = ::send(socket.fd.get(), from, static_cast<std::size_t>(size),
                                 socket.more ? send_more : MSG_NOSIGNAL);
    if (count < 0) return would_block(bio, BIO_FLAGS_WRITE);
    BIO_clear_retry_flags(bio);
    return static_cast<int>(count);
}

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF) return static_cast<Socket*>(BIO_get_data(bio))->ended;
    return command == BIO_CTRL_FLUSH;
}

BIO* new_bio(Socket& socket) {
    static BIO_METHOD* const method = [] {
        BIO_METHOD* const made =
            needed(BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket"));
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    BIO* const bio = needed(BIO_new(method));
    BIO_set_data(bio, &socket);
    BIO_set_init(bio, 1);
    return bio;
}

// One write for each line: several programs may append to the file. The error, or 0.
int append_line(int fd, const char* line) {
    char end[] = "\n";
    const std::size_t size = std::strlen(line) + 1;
    const iovec whole[] = {{const_cast<char*>(line), size - 1}, {end, 1}};
    const ssize_t written = ::writev(fd, whole, 2);
    if (written < 0) return errno;
    return static_cast<std::size_t>(written) == size ? 0 : ENOSPC;
}

// What one call may receive: a little more than the records for one read of a stream.
constexpr std::size_t call_budget = 80 * 1024;

// Records that one read takes in: each has its cost, also where it brings a single byte.
constexpr int most_records = 256;

// A peer that sends so many bytes of new keys, tickets and the like without any data means
// harm: the few of an honest one are small.
constexpr std::size_t most_silent = 1024 * 1024;

bool names_our_certificate(int alert) {
    switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_CERTIFICATE_REQUIRED: return true;
    default: return false;
    }
}

std::string alert_name(int alert) {
    switch (alert) {  // OpenSSL has forgotten these in its list
    case SSL_AD_MISSING_EXTENSION: return "missing extension";
    case SSL_AD_CERTIFICATE_REQUIRED: return "certificate required";
    case SSL_AD_NO_APPLICATION_PROTOCOL: return "no application protocol";
    default: return SSL_alert_desc_string_long(alert);
    }
}

// Above the alerts are OpenSSL's own troubles, such as the want of memory.
bool is_alert(int code) {
    return code >= SSL_AD_REASON_OFFSET && code < SSL_AD_REASON_OFFSET + 256;
}

// A unix-domain socket, which has no host, is on this one. OpenSSL would verify no name at all
// if it was given an empty one.
std::string name_of_host(const std::string& host) {
    if (host.empty()) return "localhost";
    std::string name = certified_name(host);
    if (name.empty())
        throw TlsError({Reason::tls, host + " is neither a host name nor an address"});
    return name;
}

class TlsTransport final : public Transport {
public:
    TlsTransport(std::shared_ptr<TlsState> state, Fd fd, const std::string& host)
        : socket_{std::move(fd)},
          state_(std::move(state)),
          ssl_(needed(SSL_new(state_->ctx.get()))),
          host_(name_of_host(host)) {
        BIO* const bio = new_bio(socket_);
        SSL_set_bio(ssl_.get(), bio, bio);
        if (SSL_set_app_data(ssl_.get(), this) != 1) throw std::bad_alloc();
        if (state_->client) {
            start_client();
        } else {
            SSL_set_accept_state(ssl_.get());
        }
    }

    // Without a word of an end, OpenSSL would spoil the session for those who resume it; but a
    // connection that was lost is the one to take up again.
    ~TlsTransport() override {
        SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
    TlsTransport(const TlsTransport&) = delete;
    TlsTransport& operator=(const TlsTransport&) = delete;

    static TlsTransport& of(const SSL* ssl) {
        return *static_cast<TlsTransport*>(SSL_get_app_data(ssl));
    }

    static TlsTransport& of(X509_STORE_CTX* store) {
        return of(static_cast<const SSL*>(
            X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())));
    }

    int descriptor() const override { return socket_.fd.get(); }
    bool buffers_input() const override { return SSL_has_pending(ssl_.get()) == 1; }
    const TlsFacts* tls() const override { return &facts_; }

    IoResult handshake() override {
        socket_.budget = call_budget;
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl_.get());
        if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
        if (key_log_error_ != 0)
            return fail(system_end(Reason::output, "key log " + options().key_log_file,
                                   key_log_error_));
        if (result == 1) {
            ready_ = true;
            socket_.silent = 0;
            learn();
            return check_pin();
        }
        const IoResult outcome = classify_error(result, Reason::tls);
        if (outcome.status == IoStatus::end_of_input) return fail(early_end());
        if (outcome.status == IoStatus::failed && facts_.subject.empty()) learn_certificate();
        return outcome;
    }

    IoResult read(char* to, std::size_t size) override {
        socket_.budget = call_budget;
        IoResult all{IoStatus::done};
        for (int records = 0; records < most_records && all.count < size; ++records) {
            const IoResult one = read_record(to + all.count, size - all.count);
            all = {one.status, all.count + one.count};
            if (all.status != IoStatus::done || !buffers_input()) break;
        }
        return all;
    }

    IoResult write(const char* from, std::size_t size) override {
        std::size_t count = 0;
        socket_.budget = call_budget;
        socket_.more = size > SSL3_RT_MAX_PLAIN_LENGTH;
        ERR_clear_error();
        const int result = SSL_write_ex(ssl_.get(), from, size, &count);
        socket_.more = false;
        return result == 1 ? IoResult{IoStatus::done, count}
                           : classify_error(result, Reason::send);
    }

    IoResult close_output() override {
        socket_.budget = call_budget;
        ERR_clear_error();
        const int result = SSL_shutdown(ssl_.get());
        return result >= 0 ? IoResult{IoStatus::done} : classify_error(result, Reason::send);
    }

    // Called by OpenSSL, in a handshake.

    int verify_chain(X509_STORE_CTX* store) {
        first_fault_ = X509_V_OK;
        const int result = X509_verify_cert(store);
        // The cause of a fault would stand before the word that the certificate is refused.
        ERR_clear_error();
        if (result <= 0 && first_fault_ == X509_V_OK) note_fault(store);
        if (first_fault_ == X509_V_OK) return result;
        X509_STORE_CTX_set_error(store, first_fault_);  // which the alert names to the peer
        return 0;
    }

    void note_fault(X509_STORE_CTX* store) {
        if (first_fault_ == X509_V_OK) first_fault_ = X509_STORE_CTX_get_error(store);
        try {
            learn_fault(store);
        } catch (...) {
            thrown_ = std::current_exception();
        }
    }

    void log_key(const char* line) {
        const int error = append_line(state_->key_log.get(), line);
        if (error != 0) key_log_error_ = error;
    }

    // It has had its place since resume().
    void note_session(SSL_SESSION* session) { state_->sessions[host_].reset(session); }

    void note_demand() { demanded_ = true; }

private:
    const TlsClientOptions& options() const { return state_->options; }

    IoResult read_record(char* to, std::size_t size) {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(ssl_.get(), to, size, &count);
        if (result == 1) socket_.silent = 0;
        if (result == 1) return {IoStatus::done, count};
        const IoResult outcome = classify_error(result, Reason::receive);
        const bool waits =
            outcome.status == IoStatus::wants_read || outcome.status == IoStatus::wants_write;
        if (waits && socket_.silent > most_silent)
            return fail({Reason::receive, "the peer goes on sending TLS records without data"});
        return outcome;
    }

    void start_client() {
        const std::string sni =
            options().server_name.empty() ? host_ : name_of_host(options().server_name);
        if (!is_address(sni))
            SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     const_cast<char*>(sni.c_str()));
        if (!options().verify_name.empty()) host_ = name_of_host(options().verify_name);
        X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl_.get());
        X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if (X509_VERIFY_PARAM_set1_ip_asc(verify, host_.c_str()) != 1 &&
            X509_VERIFY_PARAM_set1_host(verify, host_.c_str(), 0) != 1)
            throw std::bad_alloc();
        SSL_set_connect_state(ssl_.get());
        resume();
    }

    void resume() {
        SslSession& known = state_->sessions[host_];
        if (!known) return;
        SSL_set_session(ssl_.get(), known.get());
        // A ticket shown twice tells a listener that it is the same client.
        if (SSL_SESSION_get_protocol_version(known.get()) == TLS1_3_VERSION) known.reset();
    }

    // Once the peer has said that it is done, OpenSSL says so of a write that fails, too.
    IoResult classify_error(int result, Reason reason) {
        switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ: return {IoStatus::wants_read};
        case SSL_ERROR_WANT_WRITE: return {IoStatus::wants_write};
        case SSL_ERROR_ZERO_RETURN:
            return reason == Reason::send ? fail(system_failure(reason))
                                          : IoResult{IoStatus::end_of_input};
        case SSL_ERROR_SYSCALL: return fail(system_failure(reason));
        default: return fail(protocol_failure(reason));
        }
    }

    End system_failure(Reason reason) const {
        if (!ready_)
            return system_end(Reason::handshake_interrupted, "TLS handshake", socket_.error);
        return system_end(reason, reason == Reason::receive ? "receiving" : "sending",
                          socket_.error);
    }

    End early_end() const {
        return {Reason::handshake_interrupted,
                "the peer closed the connection during the TLS handshake"};
    }

    End protocol_failure(Reason reason) {
        const int code = ERR_GET_REASON(ERR_peek_error());
        if (code == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return ready_ ? End{Reason::truncated, "the peer closed without TLS's close_notify"}
                          : early_end();
        if (code == SSL_R_CERTIFICATE_VERIFY_FAILED)
            return {Reason::certificate, whose() + facts_.unverified};
        if (!ready_ && is_not_tls(code)) {
            if (!state_->client) refuse_plain();
            return {Reason::tls, "the peer does not speak TLS"};
        }
        if (is_alert(code)) return alerted(code - SSL_AD_REASON_OFFSET, reason);
        return {reason, "TLS: " + openssl_reason()};
    }

    std::string whose() const {
        return state_->client ? "the certificate of " + host_ + " "
                              : "the client's certificate ";
    }

    // OpenSSL has no word for those who did not say one of TLS: this alert, protocol version,
    // tells their users where they are.
    void refuse_plain() {
        static constexpr unsigned char alert[] = {
            SSL3_RT_ALERT, 3, 1, 0, 2, SSL3_AL_FATAL, TLS1_AD_PROTOCOL_VERSION};
        BIO_write(SSL_get_wbio(ssl_.get()), alert, sizeof alert);
    }

    // A service that echoes sends the greeting of TLS back, before any certificate.
    bool is_not_tls(int code) const {
        return code == SSL_R_WRONG_VERSION_NUMBER || code == SSL_R_PACKET_LENGTH_TOO_LONG ||
               code == SSL_R_HTTP_REQUEST ||
               (code == SSL_R_UNEXPECTED_MESSAGE && facts_.subject.empty());
    }

    // With TLS 1.3 a demand for our certificate that was not met shows at the first read; with
    // TLS 1.2 as a handshake that failed.
    End alerted(int alert, Reason reason) const {
        const std::string name = " (TLS alert: " + alert_name(alert) + ")";
        const bool shown = SSL_get_certificate(ssl_.get()) != nullptr;
        if (demanded_ && shown && names_our_certificate(alert))
            return {Reason::own_certificate, "the peer refuses our certificate" + name};
        if (demanded_ && !shown &&
            (names_our_certificate(alert) || alert == SSL_AD_HANDSHAKE_FAILURE))
            return {Reason::own_certificate, "the peer demands a client certificate" + name};
        return {reason, "the peer gave up" + name};
    }

    void learn() {
        facts_.version = SSL_get_version(ssl_.get());
        facts_.cipher = SSL_get_cipher_name(ssl_.get());
        facts_.resumed = SSL_session_reused(ssl_.get()) == 1;
        const unsigned char* protocol = nullptr;
        unsigned int size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
        facts_.alpn.assign(reinterpret_cast<const char*>(protocol), size);
        learn_certificate();
    }

    void learn_certificate() {
        const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
        if (!certificate) return;
        learn(certificate, SSL_get_peer_cert_chain(ssl_.get()));
        // A resumed session has been judged when it began.
        if (facts_.resumed)
            add(Fault{static_cast<int>(SSL_get_verify_result(ssl_.get())), 0, certificate});
    }

    void learn_fault(X509_STORE_CTX* store) {
        if (facts_.subject.empty())
            learn(X509_STORE_CTX_get0_cert(store), X509_STORE_CTX_get0_untrusted(store));
        add(Fault{X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_error_depth(store),
                  X509_STORE_CTX_get_current_cert(store),
                  X509_STORE_CTX_get0_current_crl(store)});
    }

    // The want of an issuer is found twice, and that of its revocation list follows from it.
    void add(const Fault& fault) {
        const bool trust = lacks_trust(fault.error);
        if (facts_.untrusted && (trust || fault.error == X509_V_ERR_UNABLE_TO_GET_CRL)) return;
        const std::string text = objection(fault, options(), host_);
        if (text.empty() || facts_.unverified.find(text) != std::string::npos) return;
        facts_.untrusted |= trust;
        facts_.incomplete |= lacks_issuer(fault);
        ++facts_.faults;
        if (facts_.faults > most_faults) return;
        facts_.unverified += (facts_.unverified.empty() ? "" : "; it also ") + text;
        if (facts_.faults == most_faults) facts_.unverified += "; and so on";
    }

    void learn(const X509* certificate, const STACK_OF(X509) * chain) {
        facts_.subject = name_text(X509_get_subject_name(certificate));
        facts_.issuer = name_text(X509_get_issuer_name(certificate));
        facts_.not_before = date_text(X509_get0_notBefore(certificate));
        facts_.not_after = date_text(X509_get0_notAfter(certificate));
        int days = 0;
        int seconds = 0;
        ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
        facts_.days_left = seconds < 0 ? days - 1 : days;
        facts_.pin = pin_of(X509_get0_pubkey(certificate));
        facts_.chain.clear();
        const int count = sk_X509_num(chain);
        for (int i = 0; i < std::min(count, longest_chain); ++i) {
            const X509* const link = sk_X509_value(chain, i);
            facts_.chain.push_back(name_text(X509_get_subject_name(link)) + ", until " +
                                   date_text(X509_get0_notAfter(link)));
        }
        if (count > longest_chain)
            facts_.chain.push_back(std::to_string(count - longest_chain) + " more");
    }

    // A pinned key stands in for a chain of certificates; another key is refused in any case.
    IoResult check_pin() {
        const auto& pins = options().pins;
        if (pins.empty()) return {IoStatus::done};
        if (std::find(pins.begin(), pins.end(), facts_.pin) == pins.end())
            return fail({Reason::pin, "the public key of " + host_ +
                                          " is not the pinned one but " + facts_.pin});
        facts_.unverified.clear();
        facts_.faults = 0;
        facts_.untrusted = facts_.incomplete = false;
        return {IoStatus::done};
    }

    Socket socket_;
    std::shared_ptr<TlsState> state_;
    Ssl ssl_;
    std::string host_;  // that the peer's certificate must name
    TlsFacts facts_;
    std::exception_ptr thrown_;    // in a call by OpenSSL
    int first_fault_ = X509_V_OK;  // OpenSSL's code
    int key_log_error_ = 0;        // errno of a write to the key log
    bool ready_ = false;
    bool demanded_ = false;  // the peer wants to see a certificate of ours
};

}  // namespace

std::unique_ptr<Transport> make_tls_transport(std::shared_ptr<TlsState> state, Fd socket,
                                              const std::string& host) {
    return std::make_unique<TlsTransport>(std::move(state), std::move(socket), host);
}

int verify_chain(X509_STORE_CTX* store, void*) noexcept {
    return TlsTransport::of(store).verify_chain(store);
}

int note_verification(int accepted, X509_STORE_CTX* store) noexcept {
    if (accepted != 1) TlsTransport::of(store).note_fault(store);
    return 1;
}

void log_key(const SSL* ssl, const char* line) noexcept { TlsTransport::of(ssl).log_key(line); }

int note_session(SSL* ssl, SSL_SESSION* session) noexcept {
    TlsTransport::of(ssl).note_session(session);
    return 1;  // it is ours now
}

int note_demand(SSL* ssl, void*) noexcept {
    TlsTransport::of(ssl).note_demand();
    return 1;
}

}  // namespace bufio
