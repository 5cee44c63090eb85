// The primitives of OpenSSL that protocols above TLS need. All throw std::bad_alloc if OpenSSL
// fails, which it does only for lack of memory or of a source of random numbers.
#pragma once

#include <string>
#include <string_view>

namespace bufio {

std::string sha1(std::string_view bytes);  // 20 bytes
// Returns bytes that no peer can predict.
std::string random_bytes(std::size_t count);

}  // namespace bufio
