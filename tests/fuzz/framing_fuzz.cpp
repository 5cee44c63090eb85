// For any bytes in any pieces, the decoder finds the same messages as in one piece, and none
// longer than the limit. Encoded messages are decoded again.
#include "app/protocol/framing.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace yodel;

namespace {

constexpr std::size_t longest = 1000;  // bytes of a message
constexpr std::string_view names[] = {"line",   "crlf",   "nul",   "len1", "len2", "len4",
                                      "len2le", "len4le", "caret", "resp", "smtp"};

struct Result {
    std::vector<std::string> messages;
    bool error = false;
};

// Decodes in pieces of at most `piece` bytes.
Result decode(const Framing& framing, std::string_view bytes, std::size_t piece) {
    Decoder decoder(framing, longest);
    Result result;
    std::size_t fed = 0;
    while (!result.error) {
        const Decoder::Decoded cut = decoder.next(bytes.substr(0, fed));
        if (cut.kind == Decoder::Decoded::Kind::incomplete) {
            if (fed == bytes.size()) return result;
            fed = std::min(fed + piece, bytes.size());
            continue;
        }
        result.error = cut.kind == Decoder::Decoded::Kind::error;
        if (result.error) return result;
        assert(cut.used > 0 && cut.used <= fed);
        if (cut.kind == Decoder::Decoded::Kind::message || !framing.can_echo()) {
            assert(cut.payload.size() <= longest);
            result.messages.emplace_back(cut.payload);
        }
        bytes.remove_prefix(cut.used);
        fed -= cut.used;
    }
    return result;
}

void check_cuts(const Framing& framing, std::string_view bytes, std::size_t piece) {
    const Result whole = decode(framing, bytes, bytes.size() + 1);
    const Result cut = decode(framing, bytes, piece);
    assert(whole.messages == cut.messages && whole.error == cut.error);
}

void check_round_trip(const Framing& framing, std::string_view payload) {
    payload = payload.substr(0, std::min(longest, framing.max_payload()));
    std::string encoded;
    std::vector<std::string> sent;
    for_each_piece(framing, payload, [&](std::string_view part) {
        encode(framing, part, encoded);
        sent.emplace_back(part);
    });
    const Result result = decode(framing, encoded, 7);
    assert(!result.error && result.messages == sent);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const Framing* const framing = find_framing(names[data[0] % std::size(names)]);
    const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
    check_cuts(*framing, bytes, 1u + data[1]);
    if (framing->can_echo()) check_round_trip(*framing, bytes);
    return 0;
}
