#include "bufio/tls_internal.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace bufio {

namespace {

// Maximum number of certificates and faults to describe, because the peer chooses their number.
constexpr int max_chain = 10;
constexpr int max_faults = 5;

// Truncates a text after at most 255 bytes, but not inside a UTF-8 character. The peer chooses
// the texts in its certificates.
std::string clipped(const std::string& text) {
    std::size_t size = 255;
    if (text.size() <= size) return text;
    while (size > 252 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    return text.substr(0, size) + "...";
}

// Lists the first few items and the number of the others.
std::string list_text(const std::vector<std::string>& items) {
    constexpr std::size_t max_named = 3;
    std::string list;
    for (std::size_t i = 0; i < std::min(items.size(), max_named); ++i)
        list += (i == 0 ? "" : ", ") + items[i];
    if (items.size() <= max_named) return list;
    return list + " and " + std::to_string(items.size() - max_named) + " more";
}

// The address may have any length, because the peer chooses it.
std::string address_text(const ASN1_OCTET_STRING* address) {
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(address));
    const bool v4 = size == sizeof(in_addr);
    if (!v4 && size != sizeof(in6_addr)) return "an address of unknown type";
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(v4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text,
                       sizeof text);
}

std::string text_of(const ASN1_STRING* string) {
    const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(string));
    return clipped({bytes, static_cast<std::size_t>(ASN1_STRING_length(string))});
}

// Returns the hosts and addresses that a certificate names.
std::vector<std::string> names_of(const GENERAL_NAMES* names) {
    std::vector<std::string> list;
    for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
        if (name->type == GEN_IPADD) list.push_back(address_text(name->d.iPAddress));
        if (name->type == GEN_DNS) list.push_back(text_of(name->d.dNSName));
    }
    return list;
}

// A host in the subject is ignored (RFC 9525). The text explains this, because it surprises
// owners of old certificates.
std::string name_mismatch_text(const X509* certificate, const std::string& host) {
    const Names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    if (!names)
        return "names no host: it has no subject alternative name, and its subject " +
               name_text(X509_get_subject_name(certificate)) + " is ignored";
    const std::vector<std::string> list = names_of(names.get());
    if (list.empty())
        return "names no host: its subject alternative name contains no DNS name and no "
               "address";
    if (std::find(list.begin(), list.end(), host) != list.end())
        return "contains " + host + " as a DNS name, not as an IP address";
    return "is for " + list_text(list) + ", not for " + host;
}

std::string issuer_text(const X509* certificate) {
    return name_text(X509_get_issuer_name(certificate));
}

std::string weak_key_text(const X509* certificate) {
    const EVP_PKEY* const key = X509_get0_pubkey(certificate);
    if (!key) return "has a key that is too weak";
    const char* const type = OBJ_nid2sn(EVP_PKEY_get_base_id(key));
    return "has a key of " + std::to_string(EVP_PKEY_get_bits(key)) + " bits (" + type +
           "), which is too weak";
}

std::string certificate_fault_text(int error, const X509* certificate,
                                   const std::string& host) {
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

std::vector<std::string> chain_texts(const STACK_OF(X509) * chain) {
    std::vector<std::string> texts;
    const int count = sk_X509_num(chain);
    for (int i = 0; i < std::min(count, max_chain); ++i) {
        const X509* const link = sk_X509_value(chain, i);
        texts.push_back(name_text(X509_get_subject_name(link)) + ", until " +
                        date_text(X509_get0_notAfter(link)));
    }
    if (count > max_chain) texts.push_back(std::to_string(count - max_chain) + " more");
    return texts;
}

}  // namespace

std::string name_text(const X509_NAME* name) {
    const MemoryBio out(BIO_new(BIO_s_mem()));
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

// True if a trusted authority matches the issuer only by name. OpenSSL 3.0.2 reports this
// before the missing issuer; other versions report only the latter.
static bool issuer_matches_only_by_name(int error) {
    return error == X509_V_ERR_AKID_SKID_MISMATCH ||
           error == X509_V_ERR_AKID_ISSUER_SERIAL_MISMATCH;
}

// True if no authority trusted here has issued the certificate.
static bool lacks_trust(int error) {
    return issuer_matches_only_by_name(error) ||
           error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
           error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
           error == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
           error == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
           error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT;
}

// True if the issuer of the peer's own certificate is neither trusted here nor sent by the
// peer. An intermediate certificate is then probably missing. If only the issuer of an
// intermediate is missing, it is the root, which servers need not send.
static bool lacks_intermediate(const Fault& fault) {
    return fault.depth == 0 && (issuer_matches_only_by_name(fault.error) ||
                                fault.error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                                fault.error == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE);
}

std::string verification_error_text(const Fault& fault, const std::string& host) {
    const X509* const certificate = fault.certificate;
    if (fault.error == X509_V_OK) return {};
    if (lacks_intermediate(fault))
        return "was sent without the certificate of its issuer " + issuer_text(certificate) +
               ", which is an intermediate or an untrusted CA";
    if (lacks_trust(fault.error) && fault.error != X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT)
        return "was issued by an untrusted CA: " + issuer_text(certificate);
    const std::string text = certificate_fault_text(fault.error, certificate, host);
    if (fault.depth == 0) return text;
    return "was issued by " + name_text(X509_get_subject_name(certificate)) +
           ", whose certificate " + text;
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
    facts.chain = chain_texts(chain);
}

// OpenSSL reports an unknown issuer twice.
void add_fault(TlsFacts& facts, const Fault& fault, const std::string& host) {
    const bool untrusted = lacks_trust(fault.error);
    if (facts.untrusted && untrusted) return;
    const std::string text = verification_error_text(fault, host);
    if (text.empty() || facts.faults_text.find(text) != std::string::npos) return;
    facts.untrusted |= untrusted;
    facts.incomplete_chain |= lacks_intermediate(fault);
    ++facts.fault_count;
    if (facts.fault_count > max_faults) return;
    facts.faults_text += (facts.faults_text.empty() ? "" : "; it also ") + text;
    if (facts.fault_count == max_faults) facts.faults_text += "; and more";
}

Certificate make_certificate(EVP_PKEY* key) {
    Certificate owner(check_allocated(X509_new()));
    X509* const certificate = owner.get();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    const long hour = 3600;  // seconds
    X509_gmtime_adj(X509_getm_notBefore(certificate), -hour);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 365 * 24 * hour);
    X509_set_pubkey(certificate, key);
    X509_NAME* const name = X509_get_subject_name(certificate);
    const auto* const common = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common, -1, -1, 0);
    X509_set_issuer_name(certificate, name);
    const char* const names = "DNS:localhost,IP:127.0.0.1,IP:::1";
    X509_EXTENSION* const extension =
        X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    X509_sign(certificate, key, EVP_sha256());
    return owner;
}

}  // namespace bufio
