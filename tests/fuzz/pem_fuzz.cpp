// Any bytes in the files of the TLS options are either used or refused with a reason.
#include "bufio/tls.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cassert>
#include <cstdint>
#include <string>

using namespace bufio;

namespace {

class File {
public:
    File(const std::uint8_t* data, std::size_t size) : fd_(::memfd_create("pem", MFD_CLOEXEC)) {
        [[maybe_unused]] const ssize_t written = ::write(fd_.get(), data, size);
    }
    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_.get()); }

private:
    Fd fd_;
};

void use(unsigned role, const std::string& file) {
    TlsClientOptions client;
    if (role == 0) TlsContext::server({.client_ca = file});
    if (role == 1) TlsContext::server({file, {}, {}});
    if (role == 2) client.ca_file = file;
    if (role == 2) TlsContext::client(client);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 1) return 0;
    const File file(data + 1, size - 1);
    try {
        use(data[0] % 3u, file.path());
    } catch (const TlsError& error) {
        assert(error.reason == Reason::trust || error.reason == Reason::own_certificate);
        assert(std::string_view(error.what()).find(file.path()) != std::string::npos);
    }
    return 0;
}
