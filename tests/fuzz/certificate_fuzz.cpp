// Describes any certificate that OpenSSL can read, whatever it contains.
#include "bufio/tls_internal.hpp"

#include <cassert>
#include <cstdint>

using namespace bufio;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const unsigned char* der = data + 1;
    const Certificate certificate(d2i_X509(nullptr, &der, static_cast<long>(size - 1)));
    ::ERR_clear_error();
    if (!certificate) return 0;
    const X509* const x509 = certificate.get();
    TlsFacts facts;
    const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> chain(
        sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
    sk_X509_push(chain.get(), certificate.get());
    describe_certificate(facts, x509, chain.get());
    assert(facts.not_after.size() == 10);
    if (::X509_get0_pubkey(x509)) assert(facts.pin.size() == 8 + 44);
    const int depth = data[0] / 128;
    for (const int error : {data[0] % 128, X509_V_ERR_HOSTNAME_MISMATCH,
                            X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID}) {
        TlsFacts faulty;
        add_fault(faulty, error, depth, x509, "localhost");
        assert(faulty.faults_text.empty() == (error == X509_V_OK));
    }
    ::ERR_clear_error();
    return 0;
}
