#include "bufio/tls_internal.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace bufio {

namespace {

std::string contents(BIO* bio) {
    char* bytes = nullptr;
    const long count = BIO_get_mem_data(bio, &bytes);
    return {bytes, static_cast<std::size_t>(std::max(count, 0L))};
}

std::string join(const std::string& list, const std::string& item) {
    return list.empty() ? item : list + ", " + item;
}

// Certificates come from anybody: an address in one may have any length.
std::string address_text(const ASN1_OCTET_STRING* address) {
    const auto size = static_cast<std::size_t>(ASN1_STRING_length(address));
    const bool v4 = size == sizeof(in_addr);
    if (!v4 && size != sizeof(in6_addr)) return "an address of no known kind";
    char text[INET6_ADDRSTRLEN];
    return ::inet_ntop(v4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(address), text,
                       sizeof text);
}

// The names that a certificate is for.
std::string names_text(const X509* certificate) {
    std::string list;
    const Names names(static_cast<GENERAL_NAMES*>(
        X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
        if (name->type == GEN_IPADD) list = join(list, address_text(name->d.iPAddress));
        if (name->type != GEN_DNS) continue;
        const auto* const text =
            reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName));
        list =
            join(list, {text, static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))});
    }
    return list.empty() ? name_text(X509_get_subject_name(certificate)) : list;
}

bool lacks_authority(int error) {
    return error == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
           error == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
           error == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE;
}

std::string fault(int error, const X509* certificate, const std::string& host) {
    switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
        return "expired on " + date_text(X509_get0_notAfter(certificate));
    case X509_V_ERR_CERT_NOT_YET_VALID:
        return "is not valid before " + date_text(X509_get0_notBefore(certificate));
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "is for " + names_text(certificate) + ", not for " + host;
    case X509_V_ERR_CERT_REVOKED: return "is revoked";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return "is self-signed";
    default: return std::string("is refused: ") + X509_verify_cert_error_string(error);
    }
}

}  // namespace

std::string openssl_reason() {
    const unsigned long code = ERR_get_error();
    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(code)) return std::strerror(ERR_GET_REASON(code));
    const char* const text = ERR_reason_error_string(code);
    return text ? text : "no reason given";
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
    EVP_Digest(der, static_cast<std::size_t>(size), digest, &digest_size, EVP_sha256(),
               nullptr);
    OPENSSL_free(der);
    unsigned char base64[4 * EVP_MAX_MD_SIZE];
    EVP_EncodeBlock(base64, digest, static_cast<int>(digest_size));
    return "sha256//" + std::string(reinterpret_cast<char*>(base64));
}

bool is_address(const std::string& host) {
    in6_addr room;
    return ::inet_pton(AF_INET, host.c_str(), &room) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), &room) == 1;
}

bool lacks_trust(int error) {
    return lacks_authority(error) || error == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT;
}

std::string objection(int error, int depth, const X509* certificate, const std::string& host) {
    if (error == X509_V_OK) return {};
    if (lacks_authority(error))
        return "is by an authority that is not trusted here: " +
               name_text(X509_get_issuer_name(certificate));
    const std::string what = fault(error, certificate, host);
    if (depth == 0) return what;
    return "is by " + name_text(X509_get_subject_name(certificate)) + ", whose own " + what;
}

Certificate make_certificate(EVP_PKEY* key) {
    Certificate made(needed(X509_new()));
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

}  // namespace bufio
