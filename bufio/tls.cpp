#include "bufio/tls.hpp"

#include "bufio/tls_internal.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <sstream>
#include <system_error>

namespace bufio {

TlsFailure take_failure() {
    unsigned long chosen_error = ERR_peek_error();
    int code = 0;
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error()) {
        if (ERR_GET_LIB(error) != ERR_LIB_SSL || ERR_COMMON_ERROR(error)) continue;
        chosen_error = error;
        code = ERR_GET_REASON(error);
    }
    if (ERR_SYSTEM_ERROR(chosen_error))
        return {0, std::generic_category().message(ERR_GET_REASON(chosen_error))};
    const char* const text = ERR_reason_error_string(chosen_error);
    return {code, text ? text : "no reason given"};
}

// --- Texts about certificates. Their size is bounded, because the peer chooses the
// certificates.

namespace {

constexpr int max_chain = 10;  // certificates to describe
constexpr int max_named = 3;   // hosts of a certificate to name
constexpr int max_faults = 5;  // faults to describe

// Truncates a text after at most 255 bytes, but not inside a UTF-8 character, and adds "...".
std::string clipped(const std::string& text) {
    std::size_t size = 255;
    if (text.size() <= size) return text;
    while (size > 252 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size) + "...";
}

std::string name_text(const X509_NAME* name) {
    const std::unique_ptr<BIO, Deleter<BIO_free>> out(BIO_new(BIO_s_mem()));
    constexpr unsigned long unwanted_flags = ASN1_STRFLGS_ESC_MSB | XN_FLAG_SPC_EQ;
    X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~unwanted_flags);
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(out.get(), &bytes);
    return clipped({bytes, static_cast<std::size_t>(std::max(count, 0L))});
}

std::string date_text(const ASN1_TIME* time) {
    std::tm parts{};
    if (ASN1_TIME_to_tm(time, &parts) != 1) return "0000-00-00";
    char text[40];
    std::snprintf(text, sizeof text, "%04d-%02d-%02d", parts.tm_year + 1900, parts.tm_mon + 1,
                  parts.tm_mday);
    return text;
}

// Returns the text of a DNS name or of an IP address, which may have any length.
std::string host_text(const ASN1_STRING* string, bool is_address) {
    const auto* const bytes = ASN1_STRING_get0_data(string);
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(string));
    if (!is_address) return clipped({reinterpret_cast<const char*>(bytes), size});
    const bool is_v4 = size == sizeof(in_addr);
    if (!is_v4 && size != sizeof(in6_addr)) return "an address of unknown type";
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
}

// A host in the subject is ignored (RFC 9525). The text explains this, because it surprises
// owners of old certificates.
std::string name_mismatch_text(const X509* certificate, const std::string& host) {
    const std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>> names(
        static_cast<GENERAL_NAMES*>(
            X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    if (!names)
        return "names no host: it has no subject alternative name, and its subject " +
               name_text(X509_get_subject_name(certificate)) + " is ignored";
    std::string list;
    int count = 0;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type != GEN_IPADD && name->type != GEN_DNS) continue;
        const std::string text = host_text(name->d.ia5, name->type == GEN_IPADD);
        if (text == host) return "contains " + host + " as a DNS name, not as an IP address";
        if (++count <= max_named) list += (count == 1 ? "" : ", ") + text;
    }
    if (count == 0)
        return "names no host: its subject alternative name contains no DNS name and no "
               "address";
    if (count > max_named) list += " and " + std::to_string(count - max_named) + " more";
    return "is for " + list + ", not for " + host;
}

// Returns sha256//BASE64 of a public key, or an empty string if there is no key, as for an
// unknown algorithm.
std::string pin_of(EVP_PKEY* key) {
    if (!key) return {};
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key, &der);
    if (size <= 0) throw std::bad_alloc();  // the only possible failure
    unsigned char digest[SHA256_DIGEST_LENGTH];
    const int digest_result =
        EVP_Digest(der, static_cast<std::size_t>(size), digest, nullptr, EVP_sha256(), nullptr);
    OPENSSL_free(der);
    if (digest_result != 1) throw std::bad_alloc();
    unsigned char base64[2 * sizeof digest];
    EVP_EncodeBlock(base64, digest, sizeof digest);
    return "sha256//" + std::string(reinterpret_cast<char*>(base64));
}

std::string weak_key_text(const X509* certificate) {
    const EVP_PKEY* const key = X509_get0_pubkey(certificate);
    if (!key) return "has a key that is too weak";
    return "has a key of " + std::to_string(EVP_PKEY_get_bits(key)) + " bits (" +
           OBJ_nid2sn(EVP_PKEY_get_base_id(key)) + "), which is too weak";
}

// Describes a fault of the certificate itself, not of its issuer.
std::string own_fault_text(int error, const X509* certificate, const std::string& host) {
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "expired on " + date_text(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "is not valid before " + date_text(X509_get0_notBefore(certificate));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return name_mismatch_text(certificate, host);
    case X509_V_ERR_EE_KEY_TOO_SMALL:
    case X509_V_ERR_CA_KEY_TOO_SMALL: return weak_key_text(certificate);
    case X509_V_ERR_CA_MD_TOO_WEAK:
        return std::string("is signed with ") +
               OBJ_nid2ln(X509_get_signature_nid(certificate)) + ", which is too weak";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "is self-signed";
    default: return std::string("is refused: ") + X509_verify_cert_error_string(error);
    }
}

}  // namespace

void describe_certificate(TlsFacts& facts, const X509* certificate,
                          const STACK_OF(X509) * chain) {
    facts.subject = name_text(X509_get_subject_name(certificate));
    facts.issuer = name_text(X509_get_issuer_name(certificate));
    facts.not_after = date_text(X509_get0_notAfter(certificate));
    int days = 0;
    int seconds = 0;  // in addition to the days, with the same sign
    ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
    facts.days_left = days;
    facts.is_expired = days < 0 || seconds < 0;
    facts.pin = pin_of(X509_get0_pubkey(certificate));
    facts.chain.clear();
    const int count = sk_X509_num(chain);
    for (int i = 0; i < std::min(count, max_chain); ++i) {
        const X509* const link = sk_X509_value(chain, i);
        facts.chain.push_back(name_text(X509_get_subject_name(link)) + ", until " +
                              date_text(X509_get0_notAfter(link)));
    }
    if (count > max_chain) facts.chain.push_back(std::to_string(count - max_chain) + " more");
}

// If the issuer of the peer's own certificate is neither trusted here nor sent, an intermediate
// certificate is probably missing. If only the issuer of an intermediate is missing, the issuer
// is probably the root, which servers need not send.
void add_fault(TlsFacts& facts, int error, int depth, const X509* certificate,
               const std::string& host) {
    // Called only if needed, because `certificate` may be null if OpenSSL itself has failed.
    const auto issuer = [&] { return name_text(X509_get_issuer_name(certificate)); };
    std::string text;
    bool is_untrusted = true;
    bool lacks_issuer = false;
    switch (error) {
    case X509_V_OK: return;
    // The authority matches the issuer only by name. OpenSSL 3.0.2 reports this before the
    // missing issuer; other versions report only the latter.
    case X509_V_ERR_AKID_SKID_MISMATCH:
    case X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        lacks_issuer = depth == 0;
        text = "was sent without the certificate of its issuer " + issuer() +
               ", which is an intermediate or an untrusted CA";
        if (lacks_issuer) break;
        [[fallthrough]];
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        text = "was issued by an untrusted CA: " + issuer();
        break;
    default:
        text = own_fault_text(error, certificate, host);
        if (depth > 0)
            text = "was issued by " + name_text(X509_get_subject_name(certificate)) +
                   ", whose certificate " + text;
        is_untrusted = error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT;
    }
    if (facts.is_untrusted && is_untrusted) return;  // implied by an earlier fault
    facts.is_untrusted |= is_untrusted;
    facts.has_incomplete_chain |= lacks_issuer;
    ++facts.fault_count;
    if (facts.fault_count > max_faults) return;
    facts.faults_text += (facts.faults_text.empty() ? "" : "; it also ") + text;
    if (facts.fault_count == max_faults) facts.faults_text += "; and more";
}

// --- Contexts.

std::string tls_library_version() { return ::OpenSSL_version(OPENSSL_VERSION_STRING); }

namespace {

// Opening a FIFO or reading from a terminal would block a program that is serving others.
void check_regular(Reason reason, const std::string& file) {
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        throw TlsError(reason, file + " is not a regular file, so reading it now could block");
}

// Returns the end of a sentence about a file that OpenSSL refuses. If the file contains no item
// of the expected kind, OpenSSL reports "no start line" or, from its decoders, "unsupported";
// 3.0.2 reports only "PEM lib".
std::string load_problem_text(const char* item) {
    const unsigned long error = ERR_peek_error();
    const int reason = ERR_GET_REASON(error);
    const bool lacks_start = ERR_GET_LIB(error) == ERR_LIB_PEM && reason == PEM_R_NO_START_LINE;
    // The other reasons may be from any library.
    if (lacks_start || reason == ERR_R_UNSUPPORTED || reason == ERR_R_PEM_LIB)
        return std::string(" contains no ") + item;
    return ": " + take_failure().text;
}

void use_certificate(SSL_CTX* context, const std::string& file, const std::string& key,
                     bool must_not_block = false) {
    const auto refuse = [](const std::string& text) {
        throw TlsError(Reason::own_certificate, text);
    };
    const std::string& key_file = key.empty() ? file : key;
    ERR_clear_error();
    if (SSL_CTX_use_certificate_chain_file(context, file.c_str()) != 1)
        refuse("certificate " + file + load_problem_text("certificate"));
    // OpenSSL itself would read a pass phrase from standard input if there is no terminal.
    const bool may_ask =
        !must_not_block && Fd(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!may_ask)
        SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return -1; });
    const bool is_loaded =
        SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) == 1;
    if (!is_loaded && !may_ask &&
        ERR_GET_REASON(ERR_peek_error()) == ERR_R_INTERRUPTED_OR_CANCELLED)
        refuse("key " + key_file + " is encrypted, and " +
               (must_not_block ? "a reload can't ask for its pass phrase"
                               : "there is no terminal to ask for its pass phrase"));
    // OpenSSL already compares the key with the certificate when it loads a key of the same
    // type.
    const bool is_match = is_loaded ? SSL_CTX_check_private_key(context) == 1
                                    : ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509;
    if (!is_match) refuse("key " + key_file + " does not match certificate " + file);
    if (!is_loaded) refuse("key " + key_file + load_problem_text("private key"));
}

constexpr char trusted_prefix[] = "trusted certificates ";

void trust(SSL_CTX* context, const std::string& file) {
    ERR_clear_error();
    if (SSL_CTX_load_verify_file(context, file.c_str()) != 1)
        throw TlsError(Reason::trust, trusted_prefix + file + ": " + take_failure().text);
}

// Returns true if a directory of this list, which is separated by colons, exists.
bool any_directory_exists(const std::string& directories) {
    std::istringstream list(directories);
    for (std::string each; std::getline(list, each, ':');)
        if (::access(each.c_str(), F_OK) == 0) return true;
    return false;
}

// Trusts the system's directories of certificates. Parsing the system's bundle takes longer
// than a handshake, so the transport reads the bundle only if a chain needs it. OpenSSL would
// silently skip an unreadable bundle, so SSL_CERT_FILE is checked here. It may name /dev/null
// or, if one of the directories exists, a missing file.
void trust_system(TlsState& state) {
    const char* const bundle = std::getenv(X509_get_default_cert_file_env());
    const char* const given = std::getenv(X509_get_default_cert_dir_env());
    const char* const directories = given && *given ? given : X509_get_default_cert_dir();
    if (bundle && *bundle && std::string_view(bundle) != "/dev/null") {
        const int code = ::access(bundle, R_OK) == 0 ? 0 : errno;
        if (code != 0 && (code != ENOENT || !any_directory_exists(directories)))
            throw TlsError(Reason::trust, std::string(trusted_prefix) + bundle + ": " +
                                              std::generic_category().message(code));
        check_regular(Reason::trust, bundle);
    }
    SSL_CTX_set_default_verify_dir(state.ctx.get());
    state.may_read_bundle = state.options.must_verify;
}

void use_new_certificate(SSL_CTX* context) {
    const Key key(check_allocated(EVP_EC_gen("P-256")));
    const Certificate owned(check_allocated(X509_new()));
    X509* const certificate = owned.get();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    const long hour = 3600;  // seconds
    X509_gmtime_adj(X509_getm_notBefore(certificate), -hour);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * 24 * hour);
    X509_set_pubkey(certificate, key.get());
    X509_NAME* const name = X509_get_subject_name(certificate);
    const auto* const common_name = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common_name, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name,
                                                      "DNS:localhost,IP:127.0.0.1,IP:::1");
    X509_add_ext(certificate, names, -1);
    X509_EXTENSION_free(names);
    X509_sign(certificate, key.get(), EVP_sha256());
    SSL_CTX_use_cert_and_key(context, certificate, key.get(), nullptr, 1);
}

}  // namespace

TlsContext TlsContext::client(const TlsClientOptions& options) {
    auto state = new_state(true, options.key_log_file);
    state->options = options;
    SSL_CTX* const ctx = state->ctx.get();
    SSL_CTX_set_post_handshake_auth(ctx, 1);
    SSL_CTX_set_session_cache_mode(ctx, options.may_resume
                                            ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                            : SSL_SESS_CACHE_OFF);
    const bool is_verifying = options.must_verify || !options.pins.empty();
    SSL_CTX_set_verify(ctx, is_verifying ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    if (!options.ca_file.empty()) trust(ctx, options.ca_file);
    if (options.ca_file.empty() && options.pins.empty()) trust_system(*state);
    if (!options.certificate.empty()) use_certificate(ctx, options.certificate, options.key);
    SSL_CTX_set_min_proto_version(ctx, static_cast<int>(options.min_version));
    if (options.max_version)
        SSL_CTX_set_max_proto_version(ctx, static_cast<int>(*options.max_version));
    if (!options.groups.empty() && SSL_CTX_set1_groups_list(ctx, options.groups.c_str()) != 1)
        throw TlsError(Reason::tls,
                       "key exchange groups " + options.groups + ": " + take_failure().text);
    std::string alpn_list;  // in ALPN's format, a length byte precedes each name
    for (const std::string& protocol : options.alpn)
        alpn_list += static_cast<char>(protocol.size()) + protocol;
    SSL_CTX_set_alpn_protos(ctx, reinterpret_cast<const unsigned char*>(alpn_list.data()),
                            static_cast<unsigned>(alpn_list.size()));
    return TlsContext(std::move(state));
}

// Clients store the sessions, as tickets. Without a session id context, a client with a
// certificate could not resume.
TlsContext TlsContext::server(const TlsServerOptions& options) {
    for (const auto& file : {options.certificate, options.key, options.client_ca})
        if (options.must_not_block) check_regular(Reason::own_certificate, file);
    auto state = new_state(false, options.key_log_file);
    SSL_CTX* const ctx = state->ctx.get();
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    const unsigned char id[] = "yodel";
    SSL_CTX_set_session_id_context(ctx, id, sizeof id - 1);
    if (options.certificate.empty())
        use_new_certificate(ctx);
    else
        use_certificate(ctx, options.certificate, options.key, options.must_not_block);
    if (const std::string& authorities = options.client_ca; !authorities.empty()) {
        trust(ctx, authorities);
        SSL_CTX_set_client_CA_list(ctx, SSL_load_client_CA_file(authorities.c_str()));
        SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    }
    return TlsContext(std::move(state));
}

bool TlsContext::knows_groups(const std::string& list) {
    const SslCtx context(check_allocated(SSL_CTX_new(TLS_client_method())));
    const bool is_known = SSL_CTX_set1_groups_list(context.get(), list.c_str()) == 1;
    ERR_clear_error();
    return is_known;
}

std::string TlsContext::pin() const {
    return pin_of(SSL_CTX_get0_privatekey(state_->ctx.get()));
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
