// The transport of a TLS connection, on a BIO that bounds the work of one call.
#include "bufio/system.hpp"
#include "bufio/tls_internal.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>

namespace bufio {

namespace {

// Bytes that one call may receive: slightly more than the records of one read of a stream.
constexpr std::size_t call_budget = 80 * 1024;

// Key updates cost a thousand times more than data of the same length. A peer whose burden
// exceeds the handshake messages that an honest peer sends in a row gets a smaller budget. The
// burden falls by one per call, whatever data arrives.
constexpr int max_burden = 32;
constexpr std::size_t burdened_budget = 2 * 1024;

// Limits the records of one read, because each has a cost, even if it contains one byte.
constexpr int max_records = 256;

// Maximum bytes of key updates, tickets and the like that a peer may send without any data. An
// honest peer sends few of them, and they are small.
constexpr std::size_t max_silent_bytes = 1024 * 1024;

// Consecutive records are sent in one piece if the system can delay all but the last.
// Otherwise each record would wake the peer.
#if BUFIO_HAS_MSG_MORE
constexpr int send_more = MSG_NOSIGNAL | MSG_MORE;
#else
constexpr int send_more = MSG_NOSIGNAL;
#endif

// A socket for OpenSSL. OpenSSL's own socket BIO writes without MSG_NOSIGNAL, and does not
// limit the bytes received by one call. OpenSSL continues to read while records contain no
// data, such as key updates, which cost much work. Once the budget is spent, the BIO pretends
// that there is no more input. The descriptor stays readable, and the next turn continues.
struct TlsSocket {
    Fd fd;
    std::size_t budget = 0;        // bytes that the current call may still receive
    std::size_t silent_bytes = 0;  // bytes received since the last application data
    int handshake_burden = 0;      // handshake messages received, minus one per call
    int error = 0;                 // errno of the last permanent failure
    bool record_follows = false;   // after the current record
    bool ended = false;            // the peer closed its side

    static TlsSocket& of(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

    // Translates the result of a system call. OpenSSL tries again if the retry flags are set.
    int outcome(BIO* bio, ssize_t result, int retry_flag) {
        BIO_clear_retry_flags(bio);
        if (result >= 0) return static_cast<int>(result);
        if (would_block(errno) || errno == EINTR) {
            BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
        } else {
            error = errno;
        }
        return -1;
    }

    static int read(BIO* bio, char* to, int size) {
        TlsSocket& self = of(bio);
        const std::size_t allowed = std::min(static_cast<std::size_t>(size), self.budget);
        errno = EAGAIN;
        const ssize_t count = allowed > 0 ? ::recv(self.fd.get(), to, allowed, 0) : -1;
        self.ended = count == 0;
        if (count > 0) self.budget -= static_cast<std::size_t>(count);
        if (count > 0) self.silent_bytes += static_cast<std::size_t>(count);
        return self.outcome(bio, count, BIO_FLAGS_READ);
    }

    static int write(BIO* bio, const char* from, int size) {
        TlsSocket& self = of(bio);
        const int flags = self.record_follows ? send_more : MSG_NOSIGNAL;
        return self.outcome(bio,
                            ::send(self.fd.get(), from, static_cast<std::size_t>(size), flags),
                            BIO_FLAGS_WRITE);
    }

    static long control(BIO* bio, int command, long, void*) {
        return command == BIO_CTRL_EOF ? of(bio).ended : command == BIO_CTRL_FLUSH;
    }

    // Returns a BIO for this socket, which must outlive it. Throws std::bad_alloc.
    BIO* new_bio() {
        static BIO_METHOD* const method = [] {
            const int type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
            BIO_METHOD* const made = check_allocated(BIO_meth_new(type, "socket"));
            BIO_meth_set_read(made, read);
            BIO_meth_set_write(made, write);
            BIO_meth_set_ctrl(made, control);
            return made;
        }();
        BIO* const bio = check_allocated(BIO_new(method));
        BIO_set_data(bio, this);
        BIO_set_init(bio, 1);
        return bio;
    }
};

class TlsTransport final : public Transport {
public:
    TlsTransport(std::shared_ptr<TlsState> state, Fd fd, const std::string& host)
        : socket_{std::move(fd)},
          state_(std::move(state)),
          ssl_(check_allocated(SSL_new(state_->ctx.get()))),
          host_(host),
          situation_{.is_client = SSL_is_server(ssl_.get()) == 0,
                     .has_certificate = SSL_get_certificate(ssl_.get()) != nullptr} {
        BIO* const bio = socket_.new_bio();
        SSL_set_bio(ssl_.get(), bio, bio);
        if (SSL_set_app_data(ssl_.get(), this) != 1) throw std::bad_alloc();
        if (situation_.is_client) {
            start_client();
        } else {
            SSL_set_accept_state(ssl_.get());
        }
    }

    // SSL_free() without a shutdown marks the session as not resumable. To resume the session
    // of a lost connection, the destructor pretends that the shutdown has happened.
    ~TlsTransport() override {
        SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    }
    TlsTransport(const TlsTransport&) = delete;

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

    bool has_handshake() const override { return true; }
    IoResult handshake() override {
        begin_call();
        const int result = SSL_do_handshake(ssl_.get());
        if (callback_exception_)
            std::rethrow_exception(std::exchange(callback_exception_, nullptr));
        if (key_log_error_ != 0)
            return fail({Reason::output, By::system, "key log",
                         options().key_log_file + ": " +
                             std::generic_category().message(key_log_error_)});
        if (result == 1) {
            situation_.handshake_done = true;
            socket_.silent_bytes = 0;
            collect_facts();
            return check_pin();
        }
        IoResult outcome = classify_error(result, Reason::tls);
        if (outcome.status == IoStatus::end_of_input)
            outcome = fail(
                failure_end({SSL_R_UNEXPECTED_EOF_WHILE_READING, {}}, Reason::tls, situation_));
        if (outcome.status == IoStatus::failed) collect_certificate_facts();
        return outcome;
    }

    IoResult read(char* to, std::size_t size) override {
        begin_call();
        std::size_t total = 0;
        for (int records = 0; records < max_records && total < size; ++records) {
            std::size_t count = 0;
            if (records > 0) ERR_clear_error();
            const int result = SSL_read_ex(ssl_.get(), to + total, size - total, &count);
            if (result != 1) {
                IoResult outcome = classify_error(result, Reason::receive);
                const bool waits = outcome.status == IoStatus::wants_read ||
                                   outcome.status == IoStatus::wants_write;
                if (waits && socket_.silent_bytes > max_silent_bytes)
                    outcome = fail(
                        {Reason::receive, By::peer, "keeps sending TLS records without data"});
                return {outcome.status, total};
            }
            socket_.silent_bytes = 0;
            total += count;
            if (!buffers_input()) break;
        }
        return {IoStatus::done, total};
    }

    IoResult write(const char* from, std::size_t size) override {
        std::size_t count = 0;
        begin_call();
        socket_.record_follows = size > SSL3_RT_MAX_PLAIN_LENGTH;
        const int result = SSL_write_ex(ssl_.get(), from, size, &count);
        socket_.record_follows = false;
        return result == 1 ? IoResult{IoStatus::done, count}
                           : classify_error(result, Reason::send);
    }

    // OpenSSL refuses a shutdown inside a handshake message, so process the rest of it first.
    IoResult close_output() override {
        begin_call();
        const int handshake_result = SSL_in_init(ssl_.get()) ? SSL_do_handshake(ssl_.get()) : 1;
        if (handshake_result != 1) return classify_error(handshake_result, Reason::send);
        const int result = SSL_shutdown(ssl_.get());
        return result >= 0 ? IoResult{IoStatus::done} : classify_error(result, Reason::send);
    }

    // --- Called by OpenSSL during a handshake.

    // Verifies the peer's certificate and records all faults, because OpenSSL continues after
    // each. Returns 0 if there are any, which ends the handshake unless verification is off
    // (SSL_VERIFY_NONE).
    static int verify_chain(X509_STORE_CTX* store, void*) noexcept {
        TlsTransport& self = of(store);
        // Reads the system's bundle if the certificates sent and the directory form no chain.
        // Other threads wait meanwhile. A bundle that can't be read contains no issuer.
        if (TlsState& state = *self.state_; state.may_read_bundle) {
            STACK_OF(X509)* const chain = X509_build_chain(
                X509_STORE_CTX_get0_cert(store), X509_STORE_CTX_get0_untrusted(store),
                X509_STORE_CTX_get0_store(store), 1, nullptr, nullptr);
            if (!chain)
                std::call_once(state.bundle_read,
                               [&] { SSL_CTX_set_default_verify_file(state.ctx.get()); });
            sk_X509_pop_free(chain, X509_free);
            ERR_clear_error();
        }
        X509_STORE_CTX_set_verify_cb(store, [](int accepted, X509_STORE_CTX* at) noexcept {
            if (accepted != 1) of(at).record_fault(at);
            return 1;
        });
        const int result = X509_verify_cert(store);
        // Drop the errors of verification, which would hide the refusal of the certificate.
        ERR_clear_error();
        if (result <= 0 && self.first_fault_ == X509_V_OK) self.record_fault(store);
        if (self.first_fault_ == X509_V_OK) return result;
        X509_STORE_CTX_set_error(store, self.first_fault_);  // sent to the peer in the alert
        return 0;
    }

    // Appends the line with a single write, because several programs may append to the file. If
    // the write fails, the handshake fails.
    static void log_key(const SSL* ssl, const char* line) noexcept {
        TlsTransport& self = of(ssl);
        const std::size_t size = std::strlen(line);
        char end[] = "\n";
        const iovec whole[] = {{const_cast<char*>(line), size}, {end, 1}};
        ssize_t written = -1;
        do {
            written = ::writev(self.state_->key_log.get(), whole, 2);
        } while (written < 0 && errno == EINTR);  // a signal may interrupt the write
        if (written < 0) {
            self.key_log_error_ = errno;
        } else if (static_cast<std::size_t>(written) <= size) {
            self.key_log_error_ = ENOSPC;
        }
    }

    // A session of TLS 1.2 can be resumed any number of times, so the newest is enough.
    static int store_session(SSL* ssl, SSL_SESSION* session) noexcept {
        TlsState::Sessions& all = *of(ssl).sessions_;
        const bool is_reusable = SSL_version(ssl) < TLS1_3_VERSION;
        if (is_reusable) all.clear();
        if (all.size() == TlsState::max_sessions) all.erase(all.begin());
        all.emplace_back(session);
        return 1;  // the transport owns the session now
    }

    // A client sends a list of certificates only if the server has requested it. Without a
    // suitable certificate the list is empty: three bytes after the message header and, in TLS
    // 1.3, after the request context.
    void on_sent(int type, const unsigned char* bytes, std::size_t size) {
        const int message = type == SSL3_RT_HANDSHAKE && size > 4 ? bytes[0] : -1;
        if (message == SSL3_MT_CLIENT_HELLO) facts_.unanswered_hello_size = size;
        if (message == SSL3_MT_CERTIFICATE) {
            const bool has_context = SSL_version(ssl_.get()) >= TLS1_3_VERSION;
            const std::size_t empty = 4 + (has_context ? 1 + bytes[4] : 0) + 3;
            situation_.certificate_requested = situation_.is_client;
            situation_.certificate_withheld = situation_.has_certificate && size == empty;
        }
        if (type == SSL3_RT_ALERT) alert_sent_ = true;
        if (type == SSL3_RT_ALERT && size == 2 && bytes[1] == SSL_AD_NO_RENEGOTIATION)
            situation_.renegotiation_refused = true;
    }

    // OpenSSL reports a handshake message once its type is accepted. Above max_burden, the
    // current call receives no more bytes, but processes the bytes already received.
    void on_received(int type) {
        facts_.unanswered_hello_size = 0;
        if (type != SSL3_RT_HANDSHAKE) return;
        situation_.peer_speaks_tls = true;
        if (++socket_.handshake_burden > max_burden) socket_.budget = 0;
    }

private:
    void begin_call() {
        ERR_clear_error();
        if (socket_.handshake_burden > 0) --socket_.handshake_burden;
        socket_.budget = socket_.handshake_burden > max_burden ? burdened_budget : call_budget;
    }

    const TlsClientOptions& options() const { return state_->options; }

    // Called by OpenSSL, so no exception may leave it. OpenSSL reports some faults twice.
    void record_fault(X509_STORE_CTX* store) {
        const std::pair fault(X509_STORE_CTX_get_error(store),
                              X509_STORE_CTX_get_error_depth(store));
        if (first_fault_ == X509_V_OK) first_fault_ = fault.first;
        try {
            if (facts_.subject.empty())
                describe_certificate(facts_, X509_STORE_CTX_get0_cert(store),
                                     X509_STORE_CTX_get0_untrusted(store));
            if (std::find(faults_.begin(), faults_.end(), fault) != faults_.end()) return;
            faults_.push_back(fault);
            add_fault(facts_, fault.first, fault.second, X509_STORE_CTX_get_current_cert(store),
                      host_);
        } catch (...) {
            callback_exception_ = std::current_exception();
        }
    }

    void start_client() {
        if (!is_address(host_))
            SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     host_.data());
        X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl_.get());
        X509_VERIFY_PARAM_set_hostflags(verify, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                    X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if (X509_VERIFY_PARAM_set1_ip_asc(verify, host_.c_str()) != 1 &&
            X509_VERIFY_PARAM_set1_host(verify, host_.c_str(), 0) != 1)
            throw std::bad_alloc();
        SSL_set_connect_state(ssl_.get());
        facts_.requested_groups = options().groups;
        if (!options().resume) return;
        sessions_ = &state_->sessions_with(host_);
        if (sessions_->empty()) return;
        SSL_SESSION* const newest = sessions_->back().get();
        SSL_set_session(ssl_.get(), newest);
        if (SSL_SESSION_get_protocol_version(newest) == TLS1_3_VERSION) sessions_->pop_back();
    }

    // Once the peer has sent close_notify, OpenSSL reports "zero return" also for a failed
    // write.
    IoResult classify_error(int result, Reason reason) {
        const int error = SSL_get_error(ssl_.get(), result);
        if (error == SSL_ERROR_WANT_READ) return {IoStatus::wants_read};
        if (error == SSL_ERROR_WANT_WRITE) return {IoStatus::wants_write};
        const bool closed = error == SSL_ERROR_ZERO_RETURN;
        if (closed && reason != Reason::send) return {IoStatus::end_of_input};
        // SSL_ERROR_SYSCALL without an errno is a failure of OpenSSL itself, such as a lack of
        // memory.
        const bool is_system_error = error == SSL_ERROR_SYSCALL && socket_.error != 0;
        if (!closed && !is_system_error) return fail(protocol_failure(reason));
        if (!situation_.handshake_done)
            return fail(system_end(Reason::handshake_interrupted,
                                   "the TLS handshake failed:", socket_.error));
        const bool receiving = reason == Reason::receive;
        return fail(system_end(
            reason, receiving ? "receiving failed:" : "sending failed:", socket_.error));
    }

    End protocol_failure(Reason reason) {
        const TlsFailure failure = take_failure();
        if (failure.code == SSL_R_CERTIFICATE_VERIFY_FAILED)
            return {Reason::certificate, By::us,
                    situation_.is_client ? "the certificate of" : "the client's certificate",
                    (situation_.is_client ? host_ + " " : "") + facts_.faults_text};
        // OpenSSL sends no alert for bytes that are not a TLS record. This alert (protocol
        // version) shows the client's user that the server expects TLS.
        static constexpr unsigned char alert[] = {
            SSL3_RT_ALERT, 3, 1, 0, 2, SSL3_AL_FATAL, TLS1_AD_PROTOCOL_VERSION};
        if (!situation_.is_client && !alert_sent_ && is_not_tls(failure.code, situation_))
            BIO_write(SSL_get_wbio(ssl_.get()), alert, sizeof alert);
        return failure_end(failure, reason, situation_);
    }

    void collect_facts() {
        facts_.version = SSL_get_version(ssl_.get());
        facts_.cipher = SSL_get_cipher_name(ssl_.get());
        const char* const group = SSL_group_to_name(
            ssl_.get(), static_cast<int>(SSL_get_negotiated_group(ssl_.get())));
        facts_.group = group ? group : "";
        facts_.resumed = SSL_session_reused(ssl_.get()) == 1;
        const unsigned char* protocol = nullptr;
        unsigned int size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
        facts_.alpn.assign(reinterpret_cast<const char*>(protocol), size);
        collect_certificate_facts();
    }

    void collect_certificate_facts() {
        const X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
        if (!certificate) return;
        describe_certificate(facts_, certificate, SSL_get_peer_cert_chain(ssl_.get()));
        // The certificate of a resumed session was verified when the session began.
        if (facts_.resumed)
            add_fault(facts_, static_cast<int>(SSL_get_verify_result(ssl_.get())), 0,
                      certificate, host_);
    }

    // A pinned key replaces the verification of the chain. Any other key is refused.
    IoResult check_pin() {
        const auto& pins = options().pins;
        if (pins.empty()) return {IoStatus::done};
        if (std::find(pins.begin(), pins.end(), facts_.pin) == pins.end())
            return fail({Reason::pin, By::us, "the public key of",
                         host_ + (facts_.pin.empty()
                                      ? " cannot be encoded for comparison with the pin"
                                      : " does not match the pin; its pin is " + facts_.pin)});
        facts_.faults_text.clear();
        facts_.fault_count = 0;
        facts_.untrusted = false;
        facts_.incomplete_chain = false;
        return {IoStatus::done};
    }

    TlsSocket socket_;
    std::shared_ptr<TlsState> state_;
    Ssl ssl_;
    std::string host_;                        // the name to verify in the peer's certificate
    TlsState::Sessions* sessions_ = nullptr;  // null for a server or without resumption
    TlsFacts facts_;
    std::exception_ptr callback_exception_;    // from a callback; must not pass through OpenSSL
    std::vector<std::pair<int, int>> faults_;  // OpenSSL's codes and their places in the chain
    int first_fault_ = X509_V_OK;              // OpenSSL's code
    int key_log_error_ = 0;                    // errno of a write to the key log
    bool alert_sent_ = false;                  // OpenSSL has sent an alert
    TlsSituation situation_;
};

}  // namespace

SslCtx new_context(bool client, bool logs_keys) {
    SslCtx context(SSL_CTX_new(client ? TLS_client_method() : TLS_server_method()));
    SSL_CTX* const ctx = context.get();
    if (!ctx) throw TlsError(Reason::tls, "cannot initialize OpenSSL: " + take_failure().text);
    SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION);
    // SSL_MODE_RELEASE_BUFFERS is not set, so an idle connection holds buffers of 50 KiB.
    // Freeing and allocating them for each message would take 5 % of the time per message.
    SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    // Reads two records in one call. Four would save the same amount of time again, but double
    // the memory of idle connections.
    SSL_CTX_set_read_ahead(ctx, 1);
    SSL_CTX_set_default_read_buffer_len(ctx, 2 * SSL3_RT_MAX_PACKET_SIZE);
    // No exception may leave the callbacks.
    SSL_CTX_set_cert_verify_callback(ctx, TlsTransport::verify_chain, nullptr);
    SSL_CTX_set_msg_callback(ctx, [](int sent, int, int type, const void* bytes,
                                     std::size_t size, SSL* ssl, void*) noexcept {
        TlsTransport& transport = TlsTransport::of(ssl);
        if (sent == 0) return transport.on_received(type);
        transport.on_sent(type, static_cast<const unsigned char*>(bytes), size);
    });
    if (logs_keys) SSL_CTX_set_keylog_callback(ctx, TlsTransport::log_key);
    if (client) SSL_CTX_sess_set_new_cb(ctx, TlsTransport::store_session);
    return context;
}

std::unique_ptr<Transport> TlsContext::connect(Fd socket, const std::string& host) const {
    // OpenSSL would verify no name at all for an empty one.
    const std::string name = host.empty() ? "localhost" : name_in_certificate(host);
    if (name.empty())
        throw TlsError(Reason::tls, host + " is neither a host name nor an address");
    return std::make_unique<TlsTransport>(state_, std::move(socket), name);
}

std::unique_ptr<Transport> TlsContext::accept(Fd socket) const {
    return std::make_unique<TlsTransport>(state_, std::move(socket), std::string());
}

}  // namespace bufio
