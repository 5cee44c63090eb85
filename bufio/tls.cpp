#include "bufio/tls.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace bufio {

namespace {

template <auto free_it>
struct Free {
    template <class T>
    void operator()(T* it) const {
        free_it(it);
    }
};
using Ssl = std::unique_ptr<SSL, Free<SSL_free>>;
using SslCtx = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using MemoryBio = std::unique_ptr<BIO, Free<BIO_free>>;

[[noreturn]] void refuse(Reason reason, std::string text) {
    throw TlsError({reason, std::move(text)});
}

// OpenSSL's word for the error it noted first, and no more of its list.
std::string openssl_reason() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
    const char* const text = ERR_reason_error_string(code);
    return text ? text : "no reason given";
}

std::string contents(BIO* bio) {
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(bio, &bytes);
    return {bytes, static_cast<std::size_t>(std::max(count, 0L))};
}

std::string name_text(const X509_NAME* name) {
    const MemoryBio out(BIO_new(BIO_s_mem()));
    const unsigned long flags =
        XN_FLAG_ONELINE & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
    X509_NAME_print_ex(out.get(), name, 0, flags & ~static_cast<unsigned long>(XN_FLAG_SPC_EQ));
    return contents(out.get());
}

std::string date_text(const ASN1_TIME* time) {
    std::tm parts{};
    char text[] = "0000-00-00";
    if (ASN1_TIME_to_tm(time, &parts) == 1)
        std::strftime(text, sizeof text, "%Y-%m-%d", &parts);
    return text;
}

std::string pin_of(EVP_PKEY* key) {
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key, &der);
    if (size <= 0) return {};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_size = 0;
    EVP_Digest(der, static_cast<std::size_t>(size), digest, &digest_size, EVP_sha256(),
               nullptr);
    OPENSSL_free(der);
    unsigned char base64[4 * EVP_MAX_MD_SIZE];
    EVP_EncodeBlock(base64, digest, static_cast<int>(digest_size));
    return "sha256//" + std::string(reinterpret_cast<char*>(base64));
}

std::string join(const std::string& list, const std::string& item) {
    return list.empty() ? item : list + ", " + item;
}

std::string address_text(const ASN1_OCTET_STRING* address) {
    char text[INET6_ADDRSTRLEN] = "";
    const int family = ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6;
    ::inet_ntop(family, ASN1_STRING_get0_data(address), text, sizeof text);
    return text;
}

// The names that a certificate is for.
std::string names_text(const X509* certificate) {
    std::string list;
    auto* const names = static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_IPADD) list = join(list, address_text(name->d.iPAddress));
        if (name->type != GEN_DNS) continue;
        const auto* const text =
            reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
        list =
            join(list, {text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))});
    }
    GENERAL_NAMES_free(names);
    return list.empty() ? name_text(X509_get_subject_name(certificate)) : list;
}

bool is_address(const std::string& host) {
    in6_addr room;
    return ::inet_pton(AF_INET, host.c_str(), &room) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

// Why a certificate is not accepted, with what the user needs to judge it.
std::string objection(long error, const X509* certificate, const std::string& host) {
    switch (error) {
    case X509_V_OK: return {};
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "expired on " + date_text(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "is not valid before " + date_text(X509_get0_notBefore(certificate));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "is for " + names_text(certificate) + ", not for " + host;
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "is self-signed";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        return "is by an authority that is not trusted here: " +
               name_text(X509_get_issuer_name(certificate));
    default: return std::string("is refused: ") + X509_verify_cert_error_string(error);
    }
}

// --- The socket, as OpenSSL sees it.  Its own socket BIO writes without MSG_NOSIGNAL.

struct Socket {
    Fd fd;
    int error = 0;  // errno of the last call that failed for good
    bool ended = false;
};

int would_block(BIO* bio, int retry_flag) {
    BIO_clear_retry_flags(bio);
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        BIO_set_flags(bio, retry_flag | BIO_FLAGS_SHOULD_RETRY);
    } else {
        static_cast<Socket*>(BIO_get_data(bio))->error = errno;
    }
    return -1;
}

int bio_read(BIO* bio, char* to, int size) {
    auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
    const ssize_t count = ::recv(socket.fd.get(), to, static_cast<std::size_t>(size), 0);
    if (count < 0) return would_block(bio, BIO_FLAGS_READ);
    BIO_clear_retry_flags(bio);
    socket.ended = count == 0;
    return static_cast<int>(count);
}

int bio_write(BIO* bio, const char* from, int size) {
    auto& socket = *static_cast<Socket*>(BIO_get_data(bio));
    const ssize_t count =
        ::send(socket.fd.get(), from, static_cast<std::size_t>(size), MSG_NOSIGNAL);
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
            BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "socket");
        BIO_meth_set_read(made, bio_read);
        BIO_meth_set_write(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        return made;
    }();
    BIO* const bio = BIO_new(method);
    BIO_set_data(bio, &socket);
    BIO_set_init(bio, 1);
    return bio;
}

// --- Certificates and keys.

void use_certificate(SSL_CTX* context, const std::string& file, const std::string& key) {
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, file.c_str()) != 1)
        refuse(Reason::own_certificate, "certificate " + file + ": " + openssl_reason());
    const std::string& key_file = key.empty() ? file : key;
    if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1)
        refuse(Reason::own_certificate, "key " + key_file + ": " + openssl_reason());
    if (SSL_CTX_check_private_key(context) != 1)
        refuse(Reason::own_certificate,
               "key " + key_file + " is not that of certificate " + file);
}

void trust(SSL_CTX* context, const std::string& file, const std::string& directory) {
    ERR_clear_error();
    if (!file.empty() && SSL_CTX_load_verify_file(context, file.c_str()) != 1)
        refuse(Reason::trust, "trusted certificates " + file + ": " + openssl_reason());
    if (!directory.empty() && SSL_CTX_load_verify_dir(context, directory.c_str()) != 1)
        refuse(Reason::trust, "trusted certificates " + directory + ": " + openssl_reason());
    if (file.empty() && directory.empty()) SSL_CTX_set_default_verify_paths(context);
}

Certificate make_certificate(EVP_PKEY* key) {
    Certificate made(X509_new());
    X509* const it = made.get();
    X509_set_version(it, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(it), 1);
    const long hour = 3600;  // seconds
    X509_gmtime_adj(X509_getm_notBefore(it), -hour);
    X509_gmtime_adj(X509_getm_notAfter(it), 365 * 24 * hour);
    X509_set_pubkey(it, key);
    X509_NAME* const name = X509_get_subject_name(it);
    const auto* const common = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common, -1, -1, 0);
    X509_set_issuer_name(it, name);
    const char* const names = "DNS:localhost,IP:127.0.0.1,IP:::1";
    X509_EXTENSION* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(it, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(it, key, EVP_sha256());
    return made;
}

SslCtx new_context(const SSL_METHOD* method) {
    SslCtx context(SSL_CTX_new(method));
    if (!context) refuse(Reason::tls, "OpenSSL can't start: " + openssl_reason());
    SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
    SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_read_ahead(context.get(), 1);
    return context;
}

// The wire form of ALPN: each name behind a byte that counts it.
std::string alpn_wire(const std::vector<std::string>& protocols) {
    std::string wire;
    for (const std::string& protocol : protocols)
        wire += static_cast<char>(protocol.size()) + protocol;
    return wire;
}

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

}  // namespace

struct TlsContext::Context {
    SslCtx ctx;
    TlsClientOptions options;  // of a client
};

namespace {

class TlsTransport final : public Transport {
public:
    TlsTransport(SSL_CTX* context, Fd fd, std::shared_ptr<const TlsClientOptions> client,
                 std::string host)
        : socket_{std::move(fd)},
          ssl_(SSL_new(context)),
          client_(std::move(client)),
          host_(std::move(host)) {
        BIO* const bio = new_bio(socket_);
        SSL_set_bio(ssl_.get(), bio, bio);
        if (client_) {
            start_client();
        } else {
            SSL_set_accept_state(ssl_.get());
        }
    }

    int descriptor() const override { return socket_.fd.get(); }
    bool buffers_input() const override { return SSL_has_pending(ssl_.get()) == 1; }
    const TlsFacts* tls() const override { return &facts_; }

    Moved handshake() override {
        ERR_clear_error();
        const int result = SSL_do_handshake(ssl_.get());
        if (result != 1) {
            learn();
            return outcome(result);
        }
        ready_ = true;
        learn();
        return check_pin();
    }

    Moved read(char* to, std::size_t size) override {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_read_ex(ssl_.get(), to, size, &count);
        return result == 1 ? Moved{Io::done, count} : outcome(result);
    }

    Moved write(const char* from, std::size_t size) override {
        std::size_t count = 0;
        ERR_clear_error();
        const int result = SSL_write_ex(ssl_.get(), from, size, &count);
        return result == 1 ? Moved{Io::done, count} : outcome(result);
    }

    Moved close_output() override {
        ERR_clear_error();
        const int result = SSL_shutdown(ssl_.get());
        return result >= 0 ? Moved{Io::done} : outcome(result);
    }

private:
    void start_client() {
        const std::string& sni = client_->server_name.empty() ? host_ : client_->server_name;
        if (!is_address(sni))
            SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     const_cast<char*>(sni.c_str()));
        if (!client_->verify_name.empty()) host_ = client_->verify_name;
        X509_VERIFY_PARAM* const verify = SSL_get0_param(ssl_.get());
        if (X509_VERIFY_PARAM_set1_ip_asc(verify, host_.c_str()) != 1)
            X509_VERIFY_PARAM_set1_host(verify, host_.c_str(), 0);
        ERR_clear_error();
        SSL_set_connect_state(ssl_.get());
    }

    Moved outcome(int result) {
        switch (SSL_get_error(ssl_.get(), result)) {
        case SSL_ERROR_WANT_READ: return {Io::wants_read};
        case SSL_ERROR_WANT_WRITE: return {Io::wants_write};
        case SSL_ERROR_ZERO_RETURN: return {Io::end_of_input};
        case SSL_ERROR_SYSCALL: return fail(system_failure());
        default: return fail(protocol_failure());
        }
    }

    End system_failure() {
        const std::string what = ready_ ? "TLS connection" : "TLS handshake";
        return system_end(ready_ ? Reason::receive : Reason::tls, what, socket_.error);
    }

    End protocol_failure() {
        const unsigned long error = ERR_peek_error();
        const int reason = ERR_GET_REASON(error);
        const int alert = reason - SSL_AD_REASON_OFFSET;
        switch (reason) {
        case SSL_R_UNEXPECTED_EOF_WHILE_READING:
            if (ready_)
                return {Reason::truncated, "the peer closed without TLS's close_notify"};
            return {Reason::tls, "the peer closed the connection during the TLS handshake"};
        case SSL_R_CERTIFICATE_VERIFY_FAILED:
            return {Reason::certificate,
                    "the certificate of " + host_ + " " + facts_.unverified};
        case SSL_R_WRONG_VERSION_NUMBER:
        case SSL_R_PACKET_LENGTH_TOO_LONG:
        case SSL_R_HTTP_REQUEST:
            if (!ready_) return {Reason::tls, "the peer does not speak TLS"};
            break;
        default: break;
        }
        if (client_ && names_our_certificate(alert)) return refused_certificate(alert);
        return {ready_ ? Reason::receive : Reason::tls, "TLS: " + openssl_reason()};
    }

    End refused_certificate(int alert) {
        const bool shown = SSL_get_certificate(ssl_.get()) != nullptr;
        return {Reason::own_certificate,
                std::string(shown ? "the peer refuses our certificate"
                                  : "the peer demands a client certificate") +
                    " (alert: " + SSL_alert_desc_string_long(alert) + ")"};
    }

    // Notes what is known of the connection and its peer, also when the handshake has failed.
    void learn() {
        facts_.version = SSL_get_version(ssl_.get());
        facts_.cipher = SSL_get_cipher_name(ssl_.get());
        facts_.resumed = SSL_session_reused(ssl_.get()) == 1;
        const unsigned char* protocol = nullptr;
        unsigned int size = 0;
        SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
        facts_.alpn.assign(reinterpret_cast<const char*>(protocol), size);
        if (const X509* const certificate = SSL_get0_peer_certificate(ssl_.get()))
            learn(certificate);
    }

    void learn(const X509* certificate) {
        facts_.subject = name_text(X509_get_subject_name(certificate));
        facts_.issuer = name_text(X509_get_issuer_name(certificate));
        facts_.not_after = date_text(X509_get0_notAfter(certificate));
        int days = 0;
        int seconds = 0;
        ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
        facts_.days_left = seconds < 0 ? days - 1 : days;
        facts_.pin = pin_of(X509_get0_pubkey(certificate));
        facts_.unverified = objection(SSL_get_verify_result(ssl_.get()), certificate, host_);
    }

    // A pinned key stands in for a chain of certificates; another key is refused in any case.
    Moved check_pin() {
        if (!client_ || client_->pins.empty()) return {Io::done};
        const auto& pins = client_->pins;
        if (std::find(pins.begin(), pins.end(), facts_.pin) == pins.end())
            return fail({Reason::pin, "the public key of " + host_ +
                                          " is not the pinned one but " + facts_.pin});
        facts_.unverified.clear();
        return {Io::done};
    }

    Socket socket_;
    Ssl ssl_;
    std::shared_ptr<const TlsClientOptions> client_;  // null: the server's side
    std::string host_;
    TlsFacts facts_;
    bool ready_ = false;
};

}  // namespace

TlsContext TlsContext::client(const TlsClientOptions& options) {
    auto made = std::make_shared<Context>(Context{new_context(TLS_client_method()), options});
    SSL_CTX* const ctx = made->ctx.get();
    const bool by_chain = options.verify && options.pins.empty();
    SSL_CTX_set_verify(ctx, by_chain ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    trust(ctx, options.ca_file, options.ca_directory);
    if (!options.certificate.empty()) use_certificate(ctx, options.certificate, options.key);
    if (options.min_version != 0) SSL_CTX_set_min_proto_version(ctx, options.min_version);
    if (options.max_version != 0) SSL_CTX_set_max_proto_version(ctx, options.max_version);
    const std::string wire = alpn_wire(options.alpn);
    SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(wire.data()),
                            static_cast<unsigned>(wire.size()));
    return TlsContext(std::move(made));
}

TlsContext TlsContext::server(const TlsServerOptions& options) {
    auto made = std::make_shared<Context>(Context{new_context(TLS_server_method()), {}});
    SSL_CTX* const ctx = made->ctx.get();
    use_certificate(ctx, options.certificate, options.key);
    if (!options.client_ca.empty()) {
        trust(ctx, options.client_ca, {});
        SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(options.client_ca.c_str()));
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    return TlsContext(std::move(made));
}

TlsContext TlsContext::self_signed_server() {
    auto made = std::make_shared<Context>(Context{new_context(TLS_server_method()), {}});
    const Key key(EVP_EC_gen("P-256"));
    if (!key) refuse(Reason::own_certificate, "making a key: " + openssl_reason());
    SSL_CTX_use_certificate(made->ctx.get(), make_certificate(key.get()).get());
    SSL_CTX_use_PrivateKey(made->ctx.get(), key.get());
    return TlsContext(std::move(made));
}

std::unique_ptr<Transport> TlsContext::connect(Fd socket, const std::string& host) const {
    std::shared_ptr<const TlsClientOptions> options(context_, &context_->options);
    return std::make_unique<TlsTransport>(context_->ctx.get(), std::move(socket),
                                          std::move(options), host);
}

std::unique_ptr<Transport> TlsContext::accept(Fd socket) const {
    return std::make_unique<TlsTransport>(context_->ctx.get(), std::move(socket), nullptr, "");
}

std::string TlsContext::pin() const {
    EVP_PKEY* const key = SSL_CTX_get0_privatekey(context_->ctx.get());
    return key ? pin_of(key) : std::string();
}

}  // namespace bufio
