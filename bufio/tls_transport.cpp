// The transport of a TLS connection, on a BIO that bounds the work of one call, and what
// OpenSSL's errors mean for the connection.
#include "bufio/system.hpp"
#include "bufio/tls_internal.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

namespace bufio {

namespace {

// Bytes that one call may receive: the records of one stream read (64 KiB), and one more.
constexpr std::size_t call_budget = 80 * 1024;

// Key updates cost a thousand times more than data of the same length. A peer's burden is the
// number of its handshake messages, minus one for each call. Above usual_burden, which no
// honest peer exceeds, a call may receive fewer bytes. Above max_burden, the next read fails.
constexpr int usual_burden = 32;
constexpr int max_burden = 10'000;
constexpr std::size_t burdened_budget = 2 * 1024;

// Limits the records of one read, because each has a cost, even if it contains one byte.
constexpr int max_records = 256;

// Consecutive records are sent together if the system can delay all but the last, so that not
// each record wakes the peer.
#if BUFIO_HAS_MSG_MORE
constexpr int send_more_flags = MSG_NOSIGNAL | MSG_MORE;
#else
constexpr int send_more_flags = MSG_NOSIGNAL;
#endif

const char* alert_name(int number) {
    switch (number) {  // OpenSSL's own list lacks these
    case SSL_AD_MISSING_EXTENSION: return "missing extension";
    case SSL_AD_CERTIFICATE_REQUIRED: return "certificate required";
    case SSL_AD_NO_APPLICATION_PROTOCOL: return "no application protocol";
    default: return SSL_alert_desc_string_long(number);
    }
}

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL, and does not limit the bytes received
// by one call, so the transport has its own. OpenSSL continues to read while records contain no
// data, such as key updates, which cost much work. Once the budget is spent, the BIO pretends
// that there is no more input. The descriptor stays readable, and the next turn continues.
class TlsTransport final : public Transport {
public:
    TlsTransport(std::shared_ptr<TlsState> state, Fd fd, const std::string& host)
        : fd_(std::move(fd)),
          state_(std::move(state)),
          ssl_(check_allocated(SSL_new(state_->ctx.get()))),
          is_client_(SSL_is_server(ssl_.get()) == 0),
          host_(host) {
        static BIO_METHOD* const method = [] {
            const int type = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK;
            BIO_METHOD* const new_method = check_allocated(BIO_meth_new(type, "socket"));
            BIO_meth_set_read(new_method, receive);
            BIO_meth_set_write(new_method, send);
            BIO_meth_set_ctrl(new_method, control);
            return new_method;
        }();
        BIO* const bio = check_allocated(BIO_new(method));
        BIO_set_data(bio, this);
        BIO_set_init(bio, 1);
        SSL_set_bio(ssl_.get(), bio, bio);
        if (SSL_set_app_data(ssl_.get(), this) != 1) throw std::bad_alloc();
        if (is_client_) {
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

    static TlsTransport& of(const SSL* ssl) {
        return *static_cast<TlsTransport*>(SSL_get_app_data(ssl));
    }

    static TlsTransport& of(X509_STORE_CTX* store) {
        return of(static_cast<const SSL*>(
            X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx())));
    }

    int descriptor() const override { return fd_.get(); }
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
        if (result != 1) return outcome_of(result, Reason::tls);
        is_handshake_done_ = true;
        collect_facts();
        return {IoStatus::done};
    }

    IoResult read(char* to, std::size_t size) override {
        begin_call();
        if (handshake_burden_ > max_burden)
            return fail({Reason::receive, By::peer, "keeps sending TLS records without data"});
        std::size_t total = 0;
        for (int records = 0; records < max_records && total < size; ++records) {
            std::size_t count = 0;
            if (records > 0) ERR_clear_error();
            const int result = SSL_read_ex(ssl_.get(), to + total, size - total, &count);
            if (result != 1) return {outcome_of(result, Reason::receive).status, total};
            total += count;
            if (!buffers_input()) break;
        }
        return {IoStatus::done, total};
    }

    IoResult write(const char* from, std::size_t size) override {
        std::size_t count = 0;
        begin_call();
        has_next_record_ = size > SSL3_RT_MAX_PLAIN_LENGTH;
        const int result = SSL_write_ex(ssl_.get(), from, size, &count);
        has_next_record_ = false;
        return result == 1 ? IoResult{IoStatus::done, count} : outcome_of(result, Reason::send);
    }

    // OpenSSL refuses a shutdown inside a handshake message, so the rest of it is read first.
    IoResult close_output() override {
        begin_call();
        const int handshake_result = SSL_in_init(ssl_.get()) ? SSL_do_handshake(ssl_.get()) : 1;
        if (handshake_result != 1) return outcome_of(handshake_result, Reason::send);
        const int result = SSL_shutdown(ssl_.get());
        return result >= 0 ? IoResult{IoStatus::done} : outcome_of(result, Reason::send);
    }

    // --- Called by OpenSSL: the BIO.

    static TlsTransport& of(BIO* bio) { return *static_cast<TlsTransport*>(BIO_get_data(bio)); }

    static int receive(BIO* bio, char* to, int size) {
        TlsTransport& self = of(bio);
        const auto limit = std::min(static_cast<std::size_t>(size), self.receive_budget_);
        errno = EAGAIN;
        const ssize_t count = limit > 0 ? ::recv(self.fd_.get(), to, limit, 0) : -1;
        self.has_input_ended_ = count == 0;
        if (count > 0) self.receive_budget_ -= static_cast<std::size_t>(count);
        return self.bio_result(bio, count, BIO_FLAGS_READ);
    }

    static int send(BIO* bio, const char* from, int size) {
        TlsTransport& self = of(bio);
        const int flags = self.has_next_record_ ? send_more_flags : MSG_NOSIGNAL;
        return self.bio_result(
            bio, ::send(self.fd_.get(), from, static_cast<std::size_t>(size), flags),
            BIO_FLAGS_WRITE);
    }

    static long control(BIO* bio, int command, long, void*) {
        return command == BIO_CTRL_EOF ? of(bio).has_input_ended_ : command == BIO_CTRL_FLUSH;
    }

    // --- Called by OpenSSL during a handshake.

    // Verifies the peer's certificate. OpenSSL continues after each fault, so that all faults
    // are recorded. If there are pins, a pinned key is accepted without verification, and any
    // other key is refused. Returns 0 for a refusal, which ends the handshake unless
    // verification is off (SSL_VERIFY_NONE).
    static int verify_chain(X509_STORE_CTX* store, void*) noexcept {
        TlsTransport& self = of(store);
        self.guard([&] {
            describe_certificate(self.facts_, X509_STORE_CTX_get0_cert(store),
                                 X509_STORE_CTX_get0_untrusted(store));
        });
        const auto& pins = self.options().pins;
        if (std::find(pins.begin(), pins.end(), self.facts_.pin) != pins.end()) {
            X509_STORE_CTX_set_error(store, X509_V_OK);
            return 1;
        }
        // Reads the system's bundle, once, if the peer's certificates and the trusted directory
        // form no chain. Other threads that need the bundle wait. A bundle that can't be read
        // counts as empty.
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
        X509_STORE_CTX_set_verify_cb(store, [](int is_accepted, X509_STORE_CTX* at) noexcept {
            if (is_accepted != 1) of(at).record_fault(at);
            return 1;
        });
        const int result = X509_verify_cert(store);
        // Drops the verification errors, which would hide that we refuse the certificate.
        ERR_clear_error();
        if (result <= 0 && self.faults_.empty()) self.record_fault(store);
        if (pins.empty() && self.faults_.empty()) return self.callback_exception_ ? 0 : result;
        // This error selects the alert that OpenSSL sends.
        X509_STORE_CTX_set_error(store, self.faults_.empty() ? X509_V_ERR_CERT_REJECTED
                                                             : self.faults_.front().first);
        return 0;
    }

    // Appends the line with a single write, because several programs may append to the file. If
    // the write fails, the handshake fails.
    static void log_key(const SSL* ssl, const char* line) noexcept {
        TlsTransport& self = of(ssl);
        char whole_line[512];  // a line has fewer than 300 bytes
        const int size = std::snprintf(whole_line, sizeof whole_line, "%s\n", line);
        ssize_t written_size = -1;
        do {
            written_size =
                ::write(self.state_->key_log.get(), whole_line, static_cast<std::size_t>(size));
        } while (written_size < 0 && errno == EINTR);
        if (written_size != size) self.key_log_error_ = written_size < 0 ? errno : ENOSPC;
    }

    // A session of TLS 1.2 can be resumed any number of times, so the newest is enough.
    static int store_session(SSL* ssl, SSL_SESSION* session) noexcept {
        TlsState::Sessions& stored = *of(ssl).sessions_;
        if (SSL_version(ssl) < TLS1_3_VERSION) stored.clear();
        if (stored.size() == TlsState::max_sessions) stored.erase(stored.begin());
        stored.emplace_back(session);
        return 1;  // the transport owns the session now
    }

    // A client sends a list of certificates only if the server has requested it. Without a
    // suitable certificate the list is empty: three bytes after the message header and, in TLS
    // 1.3, after the request context.
    void on_sent(int type, const unsigned char* bytes, std::size_t size) {
        const int message = type == SSL3_RT_HANDSHAKE && size > 4 ? bytes[0] : -1;
        if (message == SSL3_MT_CLIENT_HELLO) facts_.unanswered_hello_size = size;
        if (message == SSL3_MT_CERTIFICATE && is_client_) {
            const bool has_context = SSL_version(ssl_.get()) >= TLS1_3_VERSION;
            const std::size_t empty_size = 4 + (has_context ? 1 + bytes[4] : 0) + 3;
            has_sent_certificate_ = size > empty_size;
            facts_.lacks_own_certificate = !SSL_get_certificate(ssl_.get());
            certificate_refusal_ = has_sent_certificate_ ? "refused our certificate"
                                   : facts_.lacks_own_certificate
                                       ? "requires a client certificate"
                                       : "accepts no signature algorithm of our certificate";
        }
        if (type != SSL3_RT_ALERT) return;
        has_sent_alert_ = true;
        has_refused_renegotiation_ |= size == 2 && bytes[1] == SSL_AD_NO_RENEGOTIATION;
    }

    // OpenSSL reports a handshake message once its type is accepted. Above usual_burden, the
    // current call receives no more bytes, but processes the bytes already received.
    void on_received(int type) {
        facts_.unanswered_hello_size = 0;
        if (type != SSL3_RT_HANDSHAKE) return;
        has_peer_spoken_tls_ = true;
        if (++handshake_burden_ > usual_burden) receive_budget_ = 0;
    }

private:
    void begin_call() {
        ERR_clear_error();
        if (handshake_burden_ > 0) --handshake_burden_;
        receive_budget_ = handshake_burden_ > usual_burden ? burdened_budget : call_budget;
    }

    // Translates the result of a system call. OpenSSL tries again if the retry flags are set.
    int bio_result(BIO* bio, ssize_t result, int retry_flag) {
        BIO_clear_retry_flags(bio);
        if (result >= 0) return static_cast<int>(result);
        if (would_block(errno)) {
            BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
        } else {
            socket_error_ = errno;
        }
        return -1;
    }

    const TlsClientOptions& options() const { return state_->options; }

    // Calls a function on behalf of OpenSSL, through which no exception may pass.
    template <class Call>
    void guard(const Call& call) {
        try {
            call();
        } catch (...) {
            callback_exception_ = std::current_exception();
        }
    }

    // OpenSSL reports some faults twice.
    void record_fault(X509_STORE_CTX* store) {
        const std::pair fault(X509_STORE_CTX_get_error(store),
                              X509_STORE_CTX_get_error_depth(store));
        if (std::find(faults_.begin(), faults_.end(), fault) != faults_.end()) return;
        guard([&] {
            faults_.push_back(fault);
            add_fault(facts_, fault.first, fault.second, X509_STORE_CTX_get_current_cert(store),
                      host_);
        });
    }

    void start_client() {
        if (!is_address(host_))
            SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     host_.data());
        X509_VERIFY_PARAM* const parameters = SSL_get0_param(ssl_.get());
        X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS |
                                                        X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
        if (X509_VERIFY_PARAM_set1_ip_asc(parameters, host_.c_str()) != 1 &&
            X509_VERIFY_PARAM_set1_host(parameters, host_.c_str(), 0) != 1)
            throw std::bad_alloc();
        SSL_set_connect_state(ssl_.get());
        facts_.has_default_groups = options().groups.empty();
        if (!options().may_resume) return;
        sessions_ = &state_->sessions_with(host_);
        if (sessions_->empty()) return;
        SSL_SESSION* const newest = sessions_->back().get();
        SSL_set_session(ssl_.get(), newest);
        if (SSL_SESSION_get_protocol_version(newest) == TLS1_3_VERSION) sessions_->pop_back();
    }

    // Translates the failure of a call. `reason` is Reason::receive only for a read, and
    // becomes the end's reason unless the error suggests a better one. Once the peer has sent
    // close_notify, OpenSSL reports "zero return" also for a failed write.
    IoResult outcome_of(int result, Reason reason) {
        const int error = SSL_get_error(ssl_.get(), result);
        if (error == SSL_ERROR_WANT_READ) return {IoStatus::wants_read};
        if (error == SSL_ERROR_WANT_WRITE) return {IoStatus::wants_write};
        const bool is_closed = error == SSL_ERROR_ZERO_RETURN;
        if (is_closed && reason == Reason::receive) return {IoStatus::end_of_input};
        // SSL_ERROR_SYSCALL without an errno is a failure of OpenSSL itself, such as a lack of
        // memory.
        if (socket_error_ == 0 || error == SSL_ERROR_SSL)
            return fail(protocol_end(reason, is_closed));
        if (!is_handshake_done_)
            return fail(system_end(Reason::handshake_interrupted,
                                   "the TLS handshake failed:", socket_error_));
        const char* what = reason == Reason::receive ? "receiving failed:" : "sending failed:";
        return fail(system_end(reason, what, socket_error_));
    }

    End protocol_end(Reason reason, bool is_closed) {
        const TlsFailure failure = take_failure();
        if (failure.code == SSL_R_CERTIFICATE_VERIFY_FAILED && !options().pins.empty())
            return {Reason::pin, By::us, "the public key of",
                    host_ + (facts_.pin.empty()
                                 ? " cannot be encoded for comparison with the pin"
                                 : " does not match the pin; its pin is " + facts_.pin)};
        if (failure.code == SSL_R_CERTIFICATE_VERIFY_FAILED)
            return {Reason::certificate, By::us,
                    is_client_ ? "the certificate of" : "the client's certificate",
                    (is_client_ ? host_ + " " : "") + facts_.faults_text};
        if (is_closed || failure.code == SSL_R_UNEXPECTED_EOF_WHILE_READING)
            return {is_handshake_done_ ? Reason::truncated : Reason::handshake_interrupted,
                    By::peer,
                    is_handshake_done_ ? "closed the connection without a TLS close_notify"
                                       : "closed the connection during the TLS handshake"};
        const int alert = failure.code - SSL_AD_REASON_OFFSET;
        if (alert >= 0 && alert <= 255) return alert_end(reason, alert);
        if (failure.code == 0 || has_peer_spoken_tls_ || receive_budget_ == call_budget)
            return {reason, By::us, "TLS:", failure.text};
        // OpenSSL sends no alert for bytes that are not a TLS record. This alert (protocol
        // version) shows the client's user that the server expects TLS.
        static constexpr unsigned char answer[] = {
            SSL3_RT_ALERT, 3, 1, 0, 2, SSL3_AL_FATAL, TLS1_AD_PROTOCOL_VERSION};
        if (!is_client_ && !has_sent_alert_)
            BIO_write(SSL_get_wbio(ssl_.get()), answer, sizeof answer);
        return {Reason::tls, By::peer, "does not speak TLS"};
    }

    // Returns the end that an alert from the peer means. If our certificate is missing or
    // refused, TLS 1.2 fails in the handshake and TLS 1.3 in the first read.
    End alert_end(Reason reason, int alert) const {
        const char* what = "aborted the connection";
        const bool is_general = alert == SSL_AD_HANDSHAKE_FAILURE;  // may have any cause
        const bool may_be_refusal =
            is_general || alert == SSL_AD_UNKNOWN_CA || alert == SSL_AD_CERTIFICATE_REQUIRED ||
            (alert >= SSL_AD_BAD_CERTIFICATE && alert <= SSL_AD_CERTIFICATE_UNKNOWN);
        if (may_be_refusal && certificate_refusal_ && !(is_general && has_sent_certificate_)) {
            what = certificate_refusal_;
            reason = Reason::own_certificate;
        } else if (has_refused_renegotiation_) {
            what = "aborted the connection, because its renegotiation was refused";
        } else if (alert == SSL_AD_PROTOCOL_VERSION && is_client_ && !is_handshake_done_) {
            what = "supports none of our TLS versions";
        }
        return {reason, By::peer, what, std::string("(TLS alert: ") + alert_name(alert) + ")"};
    }

    void collect_facts() {
        SSL* const ssl = ssl_.get();
        facts_.version = SSL_get_version(ssl);
        facts_.cipher = SSL_get_cipher_name(ssl);
        const char* const group =
            SSL_group_to_name(ssl, static_cast<int>(SSL_get_negotiated_group(ssl)));
        facts_.group = group ? group : "";
        const unsigned char* protocol = nullptr;
        unsigned int size = 0;
        SSL_get0_alpn_selected(ssl, &protocol, &size);
        facts_.alpn.assign(reinterpret_cast<const char*>(protocol), size);
        facts_.is_resumed = SSL_session_reused(ssl) == 1;
        const X509* const certificate = SSL_get0_peer_certificate(ssl);
        if (!facts_.is_resumed || !certificate) return;
        // The certificate was verified when the session began.
        describe_certificate(facts_, certificate, SSL_get_peer_cert_chain(ssl));
        add_fault(facts_, static_cast<int>(SSL_get_verify_result(ssl)), 0, certificate, host_);
    }

    Fd fd_;
    std::size_t receive_budget_ = 0;  // bytes that the current call may still receive
    int handshake_burden_ = 0;        // handshake messages received, minus one per call
    int socket_error_ = 0;            // errno of the last permanent failure
    bool has_next_record_ = false;    // of the same write(), after the current record
    bool has_input_ended_ = false;    // the peer closed its side
    std::shared_ptr<TlsState> state_;
    Ssl ssl_;
    const bool is_client_;
    std::string host_;                        // the name to verify in the peer's certificate
    TlsState::Sessions* sessions_ = nullptr;  // null for a server or without resumption
    TlsFacts facts_;
    std::exception_ptr callback_exception_;    // from a callback; must not pass through OpenSSL
    std::vector<std::pair<int, int>> faults_;  // OpenSSL's codes and their places in the chain
    int key_log_error_ = 0;                    // errno of a write to the key log
    // The clause for a refusal by the peer; null until the peer requests a certificate.
    const char* certificate_refusal_ = nullptr;
    bool has_sent_certificate_ = false;
    bool is_handshake_done_ = false;
    bool has_peer_spoken_tls_ = false;        // OpenSSL accepted a handshake message
    bool has_sent_alert_ = false;             // by OpenSSL
    bool has_refused_renegotiation_ = false;  // the peer requested a renegotiation
};

}  // namespace

// The loop's thread writes the key log, so neither opening nor writing it may block.
std::shared_ptr<TlsState> new_state(bool is_client, const std::string& key_log_file) {
    auto state = std::make_shared<TlsState>();
    state->ctx.reset(SSL_CTX_new(is_client ? TLS_client_method() : TLS_server_method()));
    SSL_CTX* const ctx = state->ctx.get();
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
    SSL_CTX_set_msg_callback(ctx, [](int is_sent, int, int type, const void* bytes,
                                     std::size_t size, SSL* ssl, void*) noexcept {
        TlsTransport& transport = TlsTransport::of(ssl);
        if (is_sent == 0) return transport.on_received(type);
        transport.on_sent(type, static_cast<const unsigned char*>(bytes), size);
    });
    if (is_client) SSL_CTX_sess_set_new_cb(ctx, TlsTransport::store_session);
    if (key_log_file.empty()) return state;
    SSL_CTX_set_keylog_callback(ctx, TlsTransport::log_key);
    const std::string name = "key log " + key_log_file;
    struct stat status {};
    if (::stat(key_log_file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
        throw TlsError(Reason::output, name + " is a FIFO, but must be a file");
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    state->key_log.reset(::open(key_log_file.c_str(), flags, 0600));
    if (!state->key_log)
        throw TlsError(Reason::output, name + ": " + std::generic_category().message(errno));
    state->options.key_log_file = key_log_file;
    return state;
}

std::unique_ptr<Transport> TlsContext::connect(Fd socket, const std::string& host) const {
    // OpenSSL would not verify the name at all if it were empty.
    const std::string name = host.empty() ? "localhost" : name_in_certificate(host);
    if (name.empty())
        throw TlsError(Reason::tls, host + " is neither a host name nor an address");
    return std::make_unique<TlsTransport>(state_, std::move(socket), name);
}

std::unique_ptr<Transport> TlsContext::accept(Fd socket) const {
    return std::make_unique<TlsTransport>(state_, std::move(socket), std::string());
}

}  // namespace bufio
