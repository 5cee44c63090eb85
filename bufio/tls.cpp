#include "bufio/tls.hpp"

#include "bufio/tls_internal.hpp"

#include <fcntl.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <sstream>
#include <system_error>

namespace bufio {

std::string tls_library_version() { return ::OpenSSL_version(OPENSSL_VERSION_STRING); }

namespace {

// Opening a FIFO or reading from a terminal would block a program that is serving others.
void check_regular(Reason reason, const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw TlsError(reason, file + " is not a regular file, so reading it now could block");
}

// OpenSSL itself would read the pass phrase of a key from standard input if there is no
// terminal.
int refuse_pass_phrase(char*, int, int, void* is_wanted) noexcept {
    *static_cast<bool*>(is_wanted) = true;
    return -1;
}

// Returns the end of a sentence about a file that OpenSSL refuses. If the file contains no item
// of the expected kind, OpenSSL reports "no start line" or, from its decoders, "unsupported";
// 3.0.2 reports only "PEM lib".
std::string load_problem_text(const char* expected) {
    const unsigned long error = ERR_peek_error();
    const int reason = ERR_GET_REASON(error);
    const bool no_start = ERR_GET_LIB(error) == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE;
    if (no_start || reason == ERR_R_UNSUPPORTED || reason == ERR_R_PEM_LIB)  // from any library
        return std::string(" contains no ") + expected;
    return ": " + take_failure().text;
}

void use_certificate(SSL_CTX* context, const std::string& file, const std::string& key,
                     bool must_not_block = false) {
    const auto refuse = [](const std::string& text) {
        throw TlsError(Reason::own_certificate, text);
    };
    const std::string& key_file = key.empty() ? file : key;
    if (must_not_block) {
        check_regular(Reason::own_certificate, file);
        check_regular(Reason::own_certificate, key_file);
    }
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, file.c_str()) != 1)
        refuse("certificate " + file + load_problem_text("certificate"));
    bool is_wanted = false;
    if (must_not_block || !Fd(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC))) {
        SSL_CTX_set_default_passwd_cb(context, refuse_pass_phrase);
        SSL_CTX_set_default_passwd_cb_userdata(context, &is_wanted);
    }
    const bool loaded =
        SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) == 1;
    SSL_CTX_set_default_passwd_cb(context, nullptr);
    SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
    if (!loaded && is_wanted)
        refuse("key " + key_file + " is encrypted, and " +
               (must_not_block ? "a reload can't ask for its pass phrase"
                               : "there is no terminal to ask for its pass phrase"));
    if (!loaded) refuse("key " + key_file + load_problem_text("private key"));
    if (SSL_CTX_check_private_key(context) != 1)
        refuse("key " + key_file + " does not match certificate " + file);
}

constexpr char trusted_prefix[] = "trusted certificates ";

void trust(SSL_CTX* context, const std::string& file) {
    ERR_clear_error();
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1)
        throw TlsError(Reason::trust, trusted_prefix + file + ": " + take_failure().text);
}

// Returns true if a directory of this list exists.
bool any_exists(const std::string& directories) {
    std::istringstream list(directories);
    for (std::string each; std::getline(list, each, ':');)
        if (::access(each.c_str(), F_OK) == 0) return true;
    return false;
}

// Trusts the system's directory of hashed names. A bundle may be missing beside it, or be
// /dev/null. Parsing the system's bundle takes longer than a handshake, so the transport reads
// it only if a chain needs it. OpenSSL silently skips a bundle that it can't open.
void trust_system(TlsState& state) {
    const char* const bundle = std::getenv(X509_get_default_cert_file_env());
    const char* const given = std::getenv(X509_get_default_cert_dir_env());
    const char* const directories = given && *given ? given : X509_get_default_cert_dir();
    if (bundle && *bundle && std::string_view(bundle) != "/dev/null") {
        const bool is_needed = ::access(bundle, F_OK) == 0 || !any_exists(directories);
        if (is_needed && ::access(bundle, R_OK) != 0)
            throw TlsError(Reason::trust, std::string(trusted_prefix) + bundle + ": " +
                                              std::generic_category().message(errno));
        check_regular(Reason::trust, bundle);
    }
    SSL_CTX_set_default_verify_dir(state.ctx.get());
    state.may_read_bundle = state.options.verify;
}

// The loop's thread writes the log, so neither opening nor writing may block.
void open_key_log(TlsState& state, const std::string& file) {
    if (file.empty()) return;
    const std::string name = "key log " + file;
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
        throw TlsError(Reason::output, name + " is a FIFO, but must be a file");
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    state.key_log.reset(::open(file.c_str(), flags, 0600));
    if (!state.key_log)
        throw TlsError(Reason::output, name + ": " + std::generic_category().message(errno));
    state.options.key_log_file = file;
}

void use_new_certificate(SSL_CTX* context) {
    const Key key(EVP_EC_gen("P-256"));
    if (!key)
        throw TlsError(Reason::own_certificate,
                       "cannot generate a key: " + take_failure().text);
    const Certificate owner(check_allocated(X509_new()));
    X509* const certificate = owner.get();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    const long hour = 3600;  // seconds
    X509_gmtime_adj(X509_getm_notBefore(certificate), -hour);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * 24 * hour);
    X509_set_pubkey(certificate, key.get());
    X509_NAME* const name = X509_get_subject_name(certificate);
    const auto* const common = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name,
                                                      "DNS:localhost,IP:127.0.0.1,IP:::1");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate, key.get(), EVP_sha256());
    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key.get());
}

}  // namespace

TlsContext TlsContext::client(const TlsClientOptions& options) {
    auto state = std::make_shared<TlsState>();
    state->options = options;
    state->ctx = new_context(true, !options.key_log_file.empty());
    SSL_CTX* const ctx = state->ctx.get();
    SSL_CTX_set_post_handshake_auth(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, options.resume
                                            ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                            : SSL_SESS_CACHE_OFF);
    const bool verifies_chain = options.verify && options.pins.empty();
    SSL_CTX_set_verify(ctx, verifies_chain ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (!options.ca_file.empty()) trust(ctx, options.ca_file);
    if (options.ca_file.empty() && options.pins.empty()) trust_system(*state);
    if (!options.certificate.empty()) use_certificate(ctx, options.certificate, options.key);
    SSL_CTX_set_min_proto_version(ctx, static_cast<int>(options.min_version));
    if (options.max_version)
        SSL_CTX_set_max_proto_version(ctx, static_cast<int>(*options.max_version));
    if (!options.groups.empty() && SSL_CTX_set1_groups_list(ctx, options.groups.c_str()) != 1)
        throw TlsError(Reason::tls,
                       "key exchange groups " + options.groups + ": " + take_failure().text);
    std::string wire;  // in ALPN's format, a length byte precedes each name
    for (const std::string& protocol : options.alpn)
        wire += static_cast<char>(protocol.size()) + protocol;
    SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(wire.data()),
                            static_cast<unsigned>(wire.size()));
    open_key_log(*state, options.key_log_file);
    return TlsContext(std::move(state));
}

// Clients store the sessions, as tickets. Without a session id context, a client with a
// certificate could not resume.
TlsContext TlsContext::server(const TlsServerOptions& options) {
    auto state = std::make_shared<TlsState>();
    state->ctx = new_context(false, !options.key_log_file.empty());
    SSL_CTX* const ctx = state->ctx.get();
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    const unsigned char id[] = "yodel";
    SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1);
    if (options.certificate.empty())
        use_new_certificate(ctx);
    else
        use_certificate(ctx, options.certificate, options.key, options.must_not_block);
    if (const std::string& authorities = options.client_ca; !authorities.empty()) {
        if (options.must_not_block) check_regular(Reason::trust, authorities);
        trust(ctx, authorities);
        SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(authorities.c_str()));
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    open_key_log(*state, options.key_log_file);
    return TlsContext(std::move(state));
}

bool TlsContext::knows_groups(const std::string& list) {
    const SslCtx context(check_allocated(SSL_CTX_new(TLS_client_method())));
    const bool known = SSL_CTX_set1_groups_list(context.get(), list.c_str()) == 1;
    ERR_clear_error();
    return known;
}

std::string TlsContext::pin() const {
    EVP_PKEY* const key = SSL_CTX_get0_privatekey(state_->ctx.get());
    const std::string pin = key ? pin_of(key) : std::string();
    if (key && pin.empty()) throw std::bad_alloc();  // the only possible failure
    return pin;
}

// --- Primitives.

std::string sha1(std::string_view bytes) {
    std::string digest(20, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(digest.data());
    if (EVP_Digest(bytes.data(), bytes.size(), to, nullptr, EVP_sha1(), nullptr) != 1)
        throw std::bad_alloc();
    return digest;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    auto* const to = reinterpret_cast<unsigned char*>(bytes.data());
    if (RAND_bytes(to, static_cast<int>(count)) != 1) throw std::bad_alloc();
    return bytes;
}

}  // namespace bufio
