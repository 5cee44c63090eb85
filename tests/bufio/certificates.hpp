// Makes certificates for tests, in a temporary directory.
#pragma once

#include "tests/support/text.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace test {

// A certificate and its key in PEM files.
struct Identity {
    std::string certificate;
    std::string key;
};

class Certificates {
public:
    Certificates();
    ~Certificates();
    Certificates(const Certificates&) = delete;
    Certificates& operator=(const Certificates&) = delete;

    struct Wish {
        std::string names = "DNS:localhost,IP:127.0.0.1";  // an authority if empty
        bool named = true;                                 // if false, a leaf without names
        long from = -3600;                                 // seconds from now
        long until = 10 * 86400 + 3600;                    // seconds from now
        const Identity* issuer = nullptr;                  // self-signed if null
    };
    Identity make(const std::string& name, const Wish& wish);
    Identity authority(const std::string& name) { return make(name, {.names = ""}); }

    // Returns a directory with links by hash, as made by c_rehash.
    std::string hashed(const std::vector<Identity>& trusted);
    // Returns the first identity, with the certificates of all in its certificate file.
    Identity chained(const std::vector<Identity>& chain);
    // Returns a file with the contents of all files.
    std::string bundle(const std::vector<std::string>& files);
    std::string path(const std::string& name) const { return (directory_ / name).string(); }

private:
    std::filesystem::path directory_;
    long serial_ = 0;
};

}  // namespace test
