// Translates OpenSSL's errors into ends, and certificates and their faults into texts.
#include "bufio/tls_internal.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <span>

namespace bufio {

namespace {

// Not TLS; a plain echo server returns our own first message.
constexpr int foreign[] = {SSL_R_WRONG_VERSION_NUMBER, SSL_R_PACKET_LENGTH_TOO_LONG,
                           SSL_R_DATA_LENGTH_TOO_LONG, SSL_R_HTTP_REQUEST,
                           SSL_R_UNEXPECTED_MESSAGE};
// Alerts of a peer that refuses or lacks our certificate. The first may also mean something
// else.
constexpr int refusals[] = {SSL_AD_HANDSHAKE_FAILURE,   SSL_AD_BAD_CERTIFICATE,
                            SSL_AD_CERTIFICATE_REVOKED, SSL_AD_UNSUPPORTED_CERTIFICATE,
                            SSL_AD_CERTIFICATE_EXPIRED, SSL_AD_CERTIFICATE_UNKNOWN,
                            SSL_AD_UNKNOWN_CA,          SSL_AD_CERTIFICATE_REQUIRED};

bool contains(std::span<const int> codes, int code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

const char* alert_name(int number) {
    switch (number) {  // OpenSSL's own list lacks these
    case SSL_AD_MISSING_EXTENSION: return "missing extension";
    case SSL_AD_CERTIFICATE_REQUIRED: return "certificate required";
    case SSL_AD_NO_APPLICATION_PROTOCOL: return "no application protocol";
    default: return SSL_alert_desc_string_long(number);
    }
}

}  // namespace

TlsFailure take_failure() {
    unsigned long chosen = ERR_peek_error();
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        if (ERR_GET_LIB(error) == ERR_LIB_SSL && !ERR_COMMON_ERROR(error)) chosen = error;
    const int reason = ERR_GET_REASON(chosen);
    if (ERR_SYSTEM_ERROR(chosen)) return {0, std::strerror(reason)};
    const char* const text = ERR_reason_error_string(chosen);
    return {ERR_GET_LIB(chosen) == ERR_LIB_SSL ? reason : 0, text ? text : "no reason given"};
}

bool is_not_tls(int code, const TlsSituation& situation) {
    return contains(foreign, code) && !situation.peer_speaks_tls;
}

// If our certificate is missing or refused, TLS 1.2 fails in the handshake and TLS 1.3 in the
// first read.
End failure_end(const TlsFailure& failure, Reason reason, const TlsSituation& situation) {
    const bool done = situation.handshake_done;
    if (failure.code == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return {done ? Reason::truncated : Reason::handshake_interrupted, By::peer,
                done ? "closed the connection without a TLS close_notify"
                     : "closed the connection during the TLS handshake"};
    if (is_not_tls(failure.code, situation))
        return {Reason::tls, By::peer, "does not speak TLS"};
    const int alert = failure.code - SSL_AD_REASON_OFFSET;  // an alert from the peer is a code
    if (alert < 0 || alert > 255) return {reason, By::us, "TLS:", failure.text};
    const std::string name = std::string("(TLS alert: ") + alert_name(alert) + ")";
    const auto end = [&](const char* what, Reason why) {
        return End{why, By::peer, what, name};
    };
    if (contains(refusals, alert)) {
        const bool requested = situation.certificate_requested;
        if (requested && !situation.has_certificate)
            return end("requires a client certificate", Reason::own_certificate);
        if (situation.certificate_withheld)
            return end("accepts no signature algorithm of our certificate",
                       Reason::own_certificate);
        if (requested && alert != SSL_AD_HANDSHAKE_FAILURE)
            return end("refused our certificate", Reason::own_certificate);
    }
    if (situation.renegotiation_refused)
        return end("aborted the connection, because its renegotiation was refused", reason);
    if (alert == SSL_AD_PROTOCOL_VERSION && situation.is_client && !done)
        return end("supports none of our TLS versions", reason);
    return end("aborted the connection", reason);
}

// --- Certificates. The peer chooses their texts, and the number of everything in them.

namespace {

constexpr int max_chain = 10;  // certificates to describe
constexpr int max_named = 3;   // hosts of a certificate to name
constexpr int max_faults = 5;  // to describe

// Truncates a text after at most 255 bytes, but not inside a UTF-8 character.
std::string clipped(const std::string& text) {
    std::size_t size = 255;
    if (text.size() <= size) return text;
    while (size > 252 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size) + "...";
}

std::string name_text(const X509_NAME* name) {
    const std::unique_ptr<BIO, Deleter<BIO_free>> out(BIO_new(BIO_s_mem()));
    constexpr unsigned long unwanted = ASN1_STRFLGS_ESC_MSB | XN_FLAG_SPC_EQ;
    X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_ONELINE & ~unwanted);
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

// The bytes of a DNS name or an IP address of any length.
std::string host_text(const ASN1_STRING* string, bool is_address) {
    const auto* const bytes = ASN1_STRING_get0_data(string);
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(string));
    if (!is_address) return clipped({reinterpret_cast<const char*>(bytes), size});
    const bool v4 = size == sizeof(in_addr);
    if (!v4 && size != sizeof(in6_addr)) return "an address of unknown type";
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
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

std::string weak_key_text(const X509* certificate) {
    const EVP_PKEY* const key = X509_get0_pubkey(certificate);
    if (!key) return "has a key that is too weak";
    return "has a key of " + std::to_string(EVP_PKEY_get_bits(key)) + " bits (" +
           OBJ_nid2sn(EVP_PKEY_get_base_id(key)) + "), which is too weak";
}

// The faults of a certificate itself, whoever has issued it.
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

std::string pin_of(EVP_PKEY* key) {
    unsigned char* der = nullptr;
    const int size = i2d_PUBKEY(key, &der);
    if (size <= 0) return {};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int digest_size = 0;
    const int digested = EVP_Digest(der, static_cast<std::size_t>(size), digest, &digest_size,
                                    EVP_sha256(), nullptr);
    OPENSSL_free(der);
    if (digested != 1) return {};
    unsigned char base64[4 * EVP_MAX_MD_SIZE];
    EVP_EncodeBlock(base64, digest, static_cast<int>(digest_size));
    return "sha256//" + std::string(reinterpret_cast<char*>(base64));
}

void describe_certificate(TlsFacts& facts, const X509* certificate,
                          const STACK_OF(X509) * chain) {
    facts.subject = name_text(X509_get_subject_name(certificate));
    facts.issuer = name_text(X509_get_issuer_name(certificate));
    facts.not_after = date_text(X509_get0_notAfter(certificate));
    int days = 0;
    int seconds = 0;  // in addition to the days, with the same sign
    ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
    facts.days_left = days;
    facts.expired = days < 0 || seconds < 0;
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
// certificate is probably missing. If only the issuer of an intermediate is missing, it is the
// root, which servers need not send.
void add_fault(TlsFacts& facts, int error, int depth, const X509* certificate,
               const std::string& host) {
    // Lazily, because a failure of OpenSSL itself concerns no certificate.
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
    if (facts.untrusted && is_untrusted) return;  // implied by an earlier fault
    facts.untrusted |= is_untrusted;
    facts.incomplete_chain |= lacks_issuer;
    ++facts.fault_count;
    if (facts.fault_count > max_faults) return;
    facts.faults_text += (facts.faults_text.empty() ? "" : "; it also ") + text;
    if (facts.fault_count == max_faults) facts.faults_text += "; and more";
}

}  // namespace bufio
