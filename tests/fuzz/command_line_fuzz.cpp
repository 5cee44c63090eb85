// Any command line is either accepted with a valid address or refused with a sentence.
#include "app/options/client/client_options.hpp"
#include "app/options/target.hpp"
#include "app/text/units.hpp"

#include <cassert>
#include <cstdint>
#include <string>
#include <vector>

using namespace yodel;

namespace {

std::vector<std::string> words_of(std::string_view bytes) {
    std::vector<std::string> words{"yodel"};
    while (!bytes.empty()) {
        const std::size_t end = std::min(bytes.find('\n'), bytes.size());
        words.emplace_back(bytes.substr(0, end));
        bytes.remove_prefix(std::min(end + 1, bytes.size()));
    }
    return words;
}

void check(const ClientOptions& options) {
    if (options.line.has("help version") || options.has_own_server()) return;
    bufio::Endpoint endpoint = options.run.session.endpoint;
    assert(!endpoint.path.empty() || !endpoint.service.empty());
    assert(!endpoint.text().empty());
    endpoint.is_numeric = true;  // no name is looked up
    const bufio::LookupResult found = bufio::resolve_without_network(endpoint);
    assert(found.addresses.empty() != found.error.empty());
    for (const bufio::Address& address : found.addresses) assert(!address.text().empty());
    for (const std::string& name : options.tls.alpn) assert(name.size() - 1 < 255);
}

template <class Parse>
void refused_in_words(Parse parse) {
    try {
        parse();
    } catch (const UsageError& error) {
        assert(*error.what() != '\0');
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    std::vector<std::string> words = words_of(bytes);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int argc = static_cast<int>(words.size());
    refused_in_words([&] {
        const YodelOptions options = parse_yodel_options(argc, argv.data());
        if (options.connects()) check(options);
    });
    refused_in_words([&] {
        const LoadOptions options = parse_load_options(argc, argv.data());
        check(options);
    });
    refused_in_words([&] { take_target(words, to_listen); });
    const auto plain = unescaped(bytes);
    assert(!plain || plain->size() <= bytes.size());
    return 0;
}
