// For any bytes in any pieces, into any space, the reader of frames finds the same messages and
// the same failure as in one piece. The opening handshake reports every failure as a text.
#include "app/websocket/frame.hpp"
#include "app/websocket/opening.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

using namespace yodel::websocket;

namespace {

constexpr std::size_t longest = 300;  // bytes of a message

// The outcome of reading; the messages of a failed connection need not be whole.
struct Result {
    std::string messages;
    std::string controls;
    unsigned failure = 0;
    bool operator==(const Result&) const = default;
};

// Cuts off a message that is not whole.
void keep_whole(std::string& messages) {
    std::size_t at = 0;
    while (messages.size() - at >= message_head_size) {
        std::size_t size = 0;
        for (std::size_t i = 1; i < message_head_size; ++i)
            size = size << 8 | static_cast<unsigned char>(messages[at + i]);
        assert(size <= longest && static_cast<unsigned char>(messages[at]) <= 1);
        if (messages.size() - at - message_head_size < size) break;
        if (messages[at] == 0)
            assert(
                ui::is_utf8(std::string_view(messages).substr(at + message_head_size, size)));
        at += message_head_size + size;
    }
    messages.resize(at);
}

Result read(std::string_view bytes, bool masked, std::size_t piece, std::size_t space) {
    FrameReader reader(masked, longest);
    Result result;
    std::string buffer(space, '\0');
    for (std::string_view wire = bytes.substr(0, 0); result.failure == 0;) {
        std::span<char> to(buffer);
        const std::size_t before = wire.size();
        const FrameReader::Stop stop = reader.next(wire, to);
        result.messages.append(buffer, 0, space - to.size());
        if (stop == FrameReader::Stop::failed) result.failure = reader.closure().code;
        if (stop == FrameReader::Stop::control) {
            assert(reader.control().size() <= max_control_payload);
            result.controls += static_cast<char>(reader.opcode());
            result.controls += reader.control();
        }
        if (stop == FrameReader::Stop::closed) result.failure = 1;
        if (stop != FrameReader::Stop::blocked) continue;
        if (reader.has_output() || reader.can_use(wire)) {
            assert(to.size() < space || wire.size() < before);
            continue;
        }
        if (bytes.empty()) break;
        const std::size_t more = std::min(piece, bytes.size());
        wire = {wire.data(), wire.size() + more};
        bytes.remove_prefix(more);
    }
    keep_whole(result.messages);
    return result;
}

void check_opening(std::string_view bytes) {
    const auto size = opening_size(bytes);
    const std::string_view opening = bytes.substr(0, size.value_or(bytes.size()));
    assert(reply_to(opening).text.size() < max_opening_size + 1000);
    if (size && !check_start(opening)) check_response(opening, Request{.host = "h"}, "key");
    if (is_allowed_header(bytes)) assert(bytes.find_first_of("\r\n") == bytes.npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const bool masked = data[0] % 2 == 1;
    const std::size_t piece = 1u + data[0] / 2;
    const std::size_t space = 1u + data[1];
    const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
    const Result whole = read(bytes, masked, bytes.size() + 1, 1 << 16);
    assert(whole == read(bytes, masked, piece, space));
    check_opening(bytes);
    return 0;
}
