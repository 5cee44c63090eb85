#include "tests/bufio/certificates.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace test {

namespace {

template <auto free_it>
struct Free {
    template <class T>
    void operator()(T* it) const {
        free_it(it);
    }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Free<X509_free>>;
struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

File open(const std::string& path, const char* mode) {
    File file(std::fopen(path.c_str(), mode));
    if (!file) throw std::runtime_error(path);
    return file;
}

Key read_key(const std::string& path) {
    return Key(PEM_read_PrivateKey(open(path, "r").get(), nullptr, nullptr, nullptr));
}

X509Ptr read_certificate(const std::string& path) {
    return X509Ptr(PEM_read_X509(open(path, "r").get(), nullptr, nullptr, nullptr));
}

void add_extension(X509* to, X509* issuer, int kind, const std::string& value) {
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    if (!made) throw std::runtime_error(value);
    X509_add_ext(to, made, -1);
    X509_EXTENSION_free(made);
}

}  // namespace

Certificates::Certificates() {
    std::string name = (std::filesystem::temp_directory_path() / "bufio-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error(name);
    directory_ = name;
}

Certificates::~Certificates() { std::filesystem::remove_all(directory_); }

Identity Certificates::make(const std::string& name, const Wish& wish) {
    const std::string file = path(std::to_string(++serial_));
    Identity made{file + ".pem", file + ".key"};
    const Key key(EVP_EC_gen("P-256"));
    const Key issuer_key = wish.issuer ? read_key(wish.issuer->key) : nullptr;
    const X509Ptr issuer = wish.issuer ? read_certificate(wish.issuer->certificate) : nullptr;
    const X509Ptr certificate(X509_new());
    X509* const it = certificate.get();
    X509_set_version(it, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(it), serial_);
    X509_gmtime_adj(X509_getm_notBefore(it), wish.from);
    X509_gmtime_adj(X509_getm_notAfter(it), wish.until);
    X509_set_pubkey(it, key.get());
    const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(it), "CN", MBSTRING_UTF8, text, -1, -1, 0);
    X509* const signer = issuer ? issuer.get() : it;
    X509_set_issuer_name(it, X509_get_subject_name(signer));
    add_extension(it, signer, NID_subject_key_identifier, "hash");
    const bool leaf = !wish.names.empty();
    add_extension(it, signer, NID_basic_constraints, leaf ? "CA:FALSE" : "critical,CA:TRUE");
    if (leaf && wish.named) add_extension(it, signer, NID_subject_alt_name, wish.names);
    X509_sign(it, issuer_key ? issuer_key.get() : key.get(), EVP_sha256());
    PEM_write_X509(open(made.certificate, "w").get(), it);
    PEM_write_PrivateKey(open(made.key, "w").get(), key.get(), nullptr, nullptr, 0, nullptr,
                         nullptr);
    return made;
}

std::string Certificates::hashed(const std::vector<Identity>& trusted) {
    const std::filesystem::path made = directory_ / ("hashed" + std::to_string(++serial_));
    std::filesystem::create_directory(made);
    for (const Identity& identity : trusted) {
        const X509Ptr certificate = read_certificate(identity.certificate);
        char link[16];
        std::snprintf(link, sizeof link, "%08lx.0", X509_subject_name_hash(certificate.get()));
        std::filesystem::create_symlink(identity.certificate, made / link);
    }
    return made.string();
}

Identity Certificates::chained(const std::vector<Identity>& chain) {
    std::vector<std::string> certificates;
    for (const Identity& each : chain) certificates.push_back(each.certificate);
    return {bundle(certificates), chain.front().key};
}

std::string Certificates::bundle(const std::vector<std::string>& files) {
    const std::string made = path("bundle" + std::to_string(++serial_) + ".pem");
    std::ofstream out(made);
    for (const std::string& file : files) out << contents(file);
    return made;
}

}  // namespace test
