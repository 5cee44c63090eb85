// For any bytes in any pieces, into any space, the reader of frames finds the same messages and
// the same failure as in one piece. The opening handshake reports every failure as a text. A
// transport with any peer keeps the contract of bufio/transport.hpp, and its output is whole
// frames.
#include "app/websocket/frame.hpp"
#include "app/websocket/opening.hpp"
#include "app/websocket/transport.hpp"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>

using namespace yodel::websocket;
using bufio::IoResult;
using bufio::IoStatus;

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
    for (std::string_view wire; result.failure == 0;) {
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
        assert(wire.empty() || to.size() < space || wire.size() < before);
        if (!wire.empty() || reader.has_output()) continue;
        if (bytes.empty()) break;
        wire = bytes.substr(0, piece);
        bytes.remove_prefix(wire.size());
    }
    keep_whole(result.messages);
    return result;
}

void check_opening(std::string_view bytes) {
    const auto size = opening_size(bytes);
    const std::string_view opening = bytes.substr(0, size.value_or(bytes.size()));
    assert(reply_to(opening).text.size() < max_opening + 1000);
    if (size && !check_start(opening)) check_response(opening, Request{.host = "h"}, "key");
    if (is_header(bytes)) assert(bytes.find_first_of("\r\n") == bytes.npos);
}

// Supplies the bytes of the input, then its end. Each call moves few bytes.
class FuzzedTransport final : public bufio::Transport {
public:
    FuzzedTransport(std::string_view input, std::string& output, unsigned pieces)
        : input_(input), output_(output), pieces_(pieces) {}
    int descriptor() const override { return -1; }

    IoResult read(char* to, std::size_t size) override {
        assert(size > 0 && !ended_);
        ended_ = input_.empty();
        if (ended_) return {IoStatus::end_of_input};
        const std::size_t count = input_.copy(to, std::min<std::size_t>(size, some()));
        input_.remove_prefix(count);
        return {count == 0 ? IoStatus::wants_read : IoStatus::done, count};
    }
    IoResult write(const char* from, std::size_t size) override {
        assert(size > 0 && !closed_);
        const std::size_t count = std::min<std::size_t>(size, some());
        output_.append(from, count);
        return {count == 0 ? IoStatus::wants_write : IoStatus::done, count};
    }
    IoResult close_output() override {
        assert(!closed_);
        if (some() == 0) return {IoStatus::wants_write};
        closed_ = true;
        return {IoStatus::done};
    }

private:
    std::size_t some() {
        pieces_ = pieces_ * 1103515245 + 12345;
        return (pieces_ >> 16) % 40;
    }

    std::string_view input_;
    std::string& output_;
    unsigned pieces_;
    bool ended_ = false;
    bool closed_ = false;
};

const std::string request =
    "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

// Echoes by a server's transport, with the calls that a stream makes.
void check_transport(std::string_view bytes, unsigned pieces) {
    const std::string input =
        bytes.starts_with("GET ") ? std::string(bytes) : request + std::string(bytes);
    std::string output;
    const auto transport =
        accept(std::make_unique<FuzzedTransport>(input, output, pieces), longest);
    IoStatus status = IoStatus::wants_read;
    while (status == IoStatus::wants_read || status == IoStatus::wants_write)
        status = transport->handshake().status;
    if (status == IoStatus::failed) return;
    const std::size_t opening = output.find("\r\n\r\n") + 4;
    std::string messages;
    char space[64];
    do {
        const IoResult result = transport->read(space, sizeof space);
        messages.append(space, result.count);
        status = result.status;
        if (status == IoStatus::failed || status == IoStatus::rejected) break;
        if (!messages.empty() || transport->buffers_output()) {
            const IoResult written = transport->write(messages.data(), messages.size());
            assert(written.count <= messages.size());
            messages.erase(0, written.count);
        }
    } while (status != IoStatus::end_of_input);
    while (status != IoStatus::failed && !messages.empty())
        messages.erase(0, transport->write(messages.data(), messages.size()).count);
    while (status != IoStatus::failed && transport->close_output().status != IoStatus::done) {
    }
    // After bad input, the output may end inside a message, which no close frame can follow.
    const Result written = read(std::string_view(output).substr(opening), false, 1000, 1000);
    assert(written.failure <= 1 && (status != IoStatus::end_of_input || written.failure == 1));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const bool masked = data[0] % 2 == 1;
    const std::size_t piece = 1u + data[0] / 2;
    const std::size_t space = 1u + data[1];
    const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
    const Result whole = read(bytes, masked, bytes.size() + 1, 1 << 16);
    assert(whole == read(bytes, masked, piece, space));
    check_opening(bytes);
    check_transport(bytes, data[0] * 256u + data[1]);
    return 0;
}
