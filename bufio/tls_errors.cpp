// Translates OpenSSL's errors into ends, and certificates and their faults into texts.
#include "bufio/tls_internal.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace bufio {

namespace {

// Groups of OpenSSL's codes for a failed call. An alert from the peer is a code as well.
enum Group : unsigned {
    closed = 1,
    foreign = 2,         // not TLS; a plain echo server returns our own first message
    refusal = 4,         // an alert that means that the peer refuses or lacks our certificate
    vague_refusal = 8,   // an alert that may mean this
    wrong_version = 16,  // an alert
    other_alert = 32,
    any_alert = refusal | vague_refusal | wrong_version | other_alert,
    internal = 64,  // an error of OpenSSL itself, such as a lack of memory
};

Group group_of(int code) {
    constexpr int alert = SSL_AD_REASON_OFFSET;
    switch (code) {
    case SSL_R_UNEXPECTED_EOF_WHILE_READING: return closed;
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_DATA_LENGTH_TOO_LONG:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_UNEXPECTED_MESSAGE: return foreign;
    case alert + SSL_AD_BAD_CERTIFICATE:
    case alert + SSL_AD_UNSUPPORTED_CERTIFICATE:
    case alert + SSL_AD_CERTIFICATE_REVOKED:
    case alert + SSL_AD_CERTIFICATE_EXPIRED:
    case alert + SSL_AD_CERTIFICATE_UNKNOWN:
    case alert + SSL_AD_UNKNOWN_CA:
    case alert + SSL_AD_CERTIFICATE_REQUIRED: return refusal;
    case alert + SSL_AD_HANDSHAKE_FAILURE: return vague_refusal;
    case alert + SSL_AD_PROTOCOL_VERSION: return wrong_version;
    default: return code >= alert && code < alert + 256 ? other_alert : internal;
    }
}

// What the peer did if a call failed with a code of these groups in this situation. The first
// row that applies counts. If our certificate is missing or refused, TLS 1.2 fails in the
// handshake and TLS 1.3 in the first read.
struct Cause {
    unsigned groups;
    bool TlsSituation::*needed;  // null if the row needs nothing
    bool TlsSituation::*absent;  // null if nothing has to be absent
    Reason reason;               // none for the reason of the call
    const char* what;
};
constexpr Cause causes[] = {
    {closed, &TlsSituation::handshake_done, nullptr, Reason::truncated,
     "closed the connection without a TLS close_notify"},
    {closed, nullptr, nullptr, Reason::handshake_interrupted,
     "closed the connection during the TLS handshake"},
    {foreign, nullptr, &TlsSituation::peer_speaks_tls, Reason::tls, "does not speak TLS"},
    {refusal | vague_refusal, &TlsSituation::certificate_requested,
     &TlsSituation::has_certificate, Reason::own_certificate, "requires a client certificate"},
    {refusal | vague_refusal, &TlsSituation::certificate_withheld, nullptr,
     Reason::own_certificate, "accepts no signature algorithm of our certificate"},
    {refusal, &TlsSituation::certificate_requested, nullptr, Reason::own_certificate,
     "refused our certificate"},
    {any_alert, &TlsSituation::renegotiation_refused, nullptr, Reason::none,
     "aborted the connection, because its renegotiation was refused"},
    {wrong_version, &TlsSituation::is_client, &TlsSituation::handshake_done, Reason::none,
     "supports none of our TLS versions"},
    {any_alert, nullptr, nullptr, Reason::none, "aborted the connection"},
};

const char* alert_name(int alert) {
    switch (alert) {  // OpenSSL's own list lacks these
    case SSL_AD_MISSING_EXTENSION: return "missing extension";
    case SSL_AD_CERTIFICATE_REQUIRED: return "certificate required";
    case SSL_AD_NO_APPLICATION_PROTOCOL: return "no application protocol";
    default: return SSL_alert_desc_string_long(alert);
    }
}

std::string error_text(unsigned long error) {
    if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
    const char* const text = ERR_reason_error_string(error);
    return text ? text : "no reason given";
}

}  // namespace

std::string openssl_reason() {
    const unsigned long error = ERR_get_error();
    ERR_clear_error();
    return error_text(error);
}

TlsFailure take_failure() {
    unsigned long chosen = ERR_peek_error();
    for (unsigned long error = ERR_get_error(); error != 0; error = ERR_get_error())
        if (ERR_GET_LIB(error) == ERR_LIB_SSL && !ERR_COMMON_ERROR(error)) chosen = error;
    const bool is_ssl_error = ERR_GET_LIB(chosen) == ERR_LIB_SSL;
    return {is_ssl_error ? ERR_GET_REASON(chosen) : 0, error_text(chosen)};
}

bool is_not_tls(int code, const TlsSituation& situation) {
    return group_of(code) == foreign && !situation.peer_speaks_tls;
}

End failure_end(const TlsFailure& failure, Reason reason, const TlsSituation& situation) {
    const Group group = group_of(failure.code);
    for (const Cause& cause : causes) {
        if (!(cause.groups & group) || (cause.needed && !(situation.*cause.needed)) ||
            (cause.absent && situation.*cause.absent))
            continue;
        End end{cause.reason == Reason::none ? reason : cause.reason, By::peer, cause.what};
        if (group & any_alert)
            end.detail = std::string("(TLS alert: ") +
                         alert_name(failure.code - SSL_AD_REASON_OFFSET) + ")";
        return end;
    }
    return {reason, By::us, "TLS:", failure.text};
}

// --- Certificates. The peer chooses their texts, and the number of everything in them.

namespace {

constexpr int max_chain = 10;  // certificates to describe
constexpr int max_named = 3;   // hosts of a certificate to name

// Truncates a text after at most 255 bytes, but not inside a UTF-8 character.
std::string clipped(const std::string& text) {
    std::size_t size = 255;
    if (text.size() <= size) return text;
    while (size > 252 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size) + "...";
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

std::string name_text(const X509_NAME* name) {
    const std::unique_ptr<BIO, Deleter<BIO_free>> out(BIO_new(BIO_s_mem()));
    const unsigned long flags =
        XN_FLAG_ONELINE & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);
    X509_NAME_print_ex(out.get(), name, 0, flags & ~static_cast<unsigned long>(XN_FLAG_SPC_EQ));
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
Flaw flaw_of(const Fault& fault, const std::string& host) {
    const X509* const certificate = fault.certificate;
    switch (fault.error) {
    case X509_V_OK: return {};
    // The authority matches the issuer only by name. OpenSSL 3.0.2 reports this before the
    // missing issuer; other versions report only the latter.
    case X509_V_ERR_AKID_SKID_MISMATCH:
    case X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
        if (fault.depth == 0)
            return {"was sent without the certificate of its issuer " +
                        name_text(X509_get_issuer_name(certificate)) +
                        ", which is an intermediate or an untrusted CA",
                    true, true};
        [[fallthrough]];
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
        return {"was issued by an untrusted CA: " +
                    name_text(X509_get_issuer_name(certificate)),
                true};
    default: break;
    }
    std::string text = own_fault_text(fault.error, certificate, host);
    if (fault.depth > 0)
        text = "was issued by " + name_text(X509_get_subject_name(certificate)) +
               ", whose certificate " + text;
    return {text, fault.error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT};
}

}  // namespace bufio
