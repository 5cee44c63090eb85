#include "bufio/tls_digest.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <new>

namespace bufio {

namespace {

unsigned char* octets(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

}  // namespace

std::string sha1(std::string_view bytes) {
    std::string digest(20, '\0');
    if (EVP_Digest(bytes.data(), bytes.size(), octets(digest.data()), nullptr, EVP_sha1(),
                   nullptr) != 1)
        throw std::bad_alloc();
    return digest;
}

std::string random_bytes(std::size_t count) {
    std::string bytes(count, '\0');
    if (RAND_bytes(octets(bytes.data()), static_cast<int>(count)) != 1) throw std::bad_alloc();
    return bytes;
}

}  // namespace bufio
