#include "app/websocket/frame.hpp"

#include <arpa/inet.h>

#include <cstring>

namespace yodel::websocket {

namespace {

// These values mean that the size follows in 2 or 8 bytes.
constexpr unsigned size_in_2 = 126;
constexpr unsigned size_in_8 = 127;

std::uint64_t read_number(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
    return number;
}

unsigned byte(std::string_view head, std::size_t at) {
    return static_cast<unsigned char>(head[at]);
}

// Returns how many bytes after the first two contain the size.
std::size_t extended_length_size(std::string_view head) {
    const unsigned size = byte(head, 1) & 0x7f;
    return size == size_in_8 ? 8 : size == size_in_2 ? 2 : 0;
}

// Returns the size of the frame's head, as far as the received bytes determine it.
std::size_t head_size(std::string_view head) {
    if (head.size() < 2) return 2;
    return 2 + extended_length_size(head) + ((byte(head, 1) & 0x80) != 0 ? sizeof(Key) : 0);
}

bool is_control(Opcode opcode) { return opcode >= Opcode::close; }

// Writes the length as one word, because a loop for each message is too slow.
void write_message_head(char* to, bool is_text, std::uint64_t size) {
    const std::uint32_t number = htonl(static_cast<std::uint32_t>(size));
    to[0] = is_text ? 0 : 1;
    std::memcpy(to + 1, &number, sizeof number);
}

constexpr struct {
    unsigned code;
    const char* name;
} close_codes[] = {
    {1000, "normal closure"},   {1001, "going away"},      {1002, "protocol error"},
    {1003, "unsupported data"}, {1005, "no status"},       {1007, "invalid data"},
    {1008, "policy violation"}, {1009, "message too big"}, {1010, "extension missing"},
    {1011, "internal error"},   {1012, "service restart"}, {1013, "try again later"},
    {1014, "bad gateway"},
};

bool may_be_sent(unsigned code) {
    if (code >= 3000) return code <= 4999;
    return code != no_status && std::any_of(std::begin(close_codes), std::end(close_codes),
                                            [&](const auto& row) { return row.code == code; });
}

}  // namespace

std::size_t payload_size(std::string_view message) {
    std::uint32_t size = 0;
    std::memcpy(&size, message.data() + 1, sizeof size);
    return ntohl(size);
}

std::size_t write_head(char* to, Opcode opcode, std::uint64_t size, const Key* key) {
    const std::size_t extended = size < size_in_2 ? 0 : size <= 0xffff ? 2 : 8;
    const auto size_field = extended == 0 ? size : extended == 2 ? size_in_2 : size_in_8;
    to[0] = static_cast<char>(0x80 | static_cast<unsigned char>(opcode));
    to[1] = static_cast<char>((key ? 0x80 : 0) | size_field);
    for (std::size_t i = 0; i < extended; ++i)
        to[1 + extended - i] = static_cast<char>(size >> (8 * i));
    if (key) std::memcpy(to + 2 + extended, key, sizeof *key);
    return 2 + extended + (key ? sizeof *key : 0);
}

void mask(char* to, const char* from, std::size_t size, Key key, std::uint64_t at) {
    if (key == 0) {
        std::memmove(to, from, size);
        return;
    }
    char keys[3 * sizeof key];
    for (std::size_t i = 0; i < 3; ++i) std::memcpy(keys + i * sizeof key, &key, sizeof key);
    const char* const rotated = keys + at % sizeof key;
    std::uint64_t wide = 0;
    std::memcpy(&wide, rotated, sizeof wide);
    std::size_t i = 0;
    for (std::uint64_t word = 0; size - i >= sizeof word; i += sizeof word) {
        std::memcpy(&word, from + i, sizeof word);
        word ^= wide;
        std::memcpy(to + i, &word, sizeof word);
    }
    for (std::size_t place = 0; i < size; ++i, ++place)
        to[i] = static_cast<char>(from[i] ^ rotated[place]);
}

std::string Closure::text() const {
    const auto* const row = std::find_if(std::begin(close_codes), std::end(close_codes),
                                         [&](const auto& each) { return each.code == code; });
    std::string text = code == no_status ? "" : std::to_string(code) + " ";
    text += row == std::end(close_codes) ? "application code" : row->name;
    return reason.empty() ? text : text + ": " + reason;
}

bool FrameReader::can_use(std::string_view wire) const {
    return has_head_ ? !wire.empty() : wire.size() >= head_size(wire);
}

// Each iteration makes progress or returns.
FrameReader::Stop FrameReader::next(std::string_view& wire, std::span<char>& to) {
    for (;;) {
        if (!pass_held(to)) return Stop::blocked;
        if (!has_head_) {
            if (!can_use(wire)) return Stop::blocked;
            const std::string_view head = wire.substr(0, head_size(wire));
            wire.remove_prefix(head.size());
            if (!begin_frame(head)) return Stop::failed;
            continue;
        }
        if (!take_payload(wire, to)) return Stop::failed;
        if (payload_left_ > 0) return Stop::blocked;
        has_head_ = false;
        if (opcode_ == Opcode::close) return read_closure() ? Stop::closed : Stop::failed;
        if (is_control(opcode_)) return Stop::control;
        if (is_fragmented_ && is_final_) {
            is_fragmented_ = false;
            write_message_head(held_.data(), is_text_, held_.size() - message_head_size);
        }
    }
}

// Writes held bytes that may be passed on. Returns true once none are left.
bool FrameReader::pass_held(std::span<char>& to) {
    if (!has_output()) return true;
    const std::size_t count = held_.copy(to.data(), to.size(), written_size_);
    to = to.subspan(count);
    written_size_ += count;
    if (written_size_ < held_.size()) return false;
    std::string().swap(held_);
    return true;
}

// A message of one frame is written as it arrives. A fragmented message is held until its end,
// because its length is known only then.
bool FrameReader::begin_frame(std::string_view head) {
    const std::size_t extended = extended_length_size(head);
    payload_size_ =
        extended == 0 ? byte(head, 1) & 0x7f : read_number(head.substr(2, extended));
    opcode_ = static_cast<Opcode>(byte(head, 0) & 0x0f);
    is_final_ = (byte(head, 0) & 0x80) != 0;
    if (const char* const text = fault(head)) return fail(protocol_error, text);
    if (is_masked_) std::memcpy(&key_, head.data() + head.size() - sizeof key_, sizeof key_);
    payload_left_ = payload_size_;
    has_head_ = true;
    if (is_control(opcode_)) {
        control_.clear();
        return true;
    }
    if (opcode_ != Opcode::continuation) {
        is_text_ = opcode_ == Opcode::text;
        held_.assign(message_head_size, '\0');
        written_size_ = 0;
    }
    const std::uint64_t before = held_.size() - message_head_size;
    if (payload_size_ > max_message_ - before)
        return fail(too_big, "a message of " + std::to_string(before + payload_size_) +
                                 " bytes or more exceeds the limit of " +
                                 std::to_string(max_message_) + " (--max-frame)");
    is_fragmented_ = is_fragmented_ || !is_final_;
    if (!is_fragmented_) write_message_head(held_.data(), is_text_, payload_size_);
    return true;
}

// Returns how the head breaks the protocol, or null.
const char* FrameReader::fault(std::string_view head) const {
    const unsigned code = static_cast<unsigned char>(opcode_);
    const bool continues = opcode_ == Opcode::continuation;
    static constexpr std::uint64_t smallest[] = {0, 0, size_in_2, 0, 0, 0, 0, 0, 0x10000};
    if ((byte(head, 0) & 0x70) != 0) return "a reserved bit is set";
    if ((code > 2 && code < 8) || code > 10) return "an unknown opcode";
    if (((byte(head, 1) & 0x80) != 0) != is_masked_)
        return is_masked_ ? "a frame is not masked" : "a frame is masked";
    if (payload_size_ < smallest[extended_length_size(head)])
        return "a length is not in its shortest form";
    if (payload_size_ >> 63 != 0) return "a length exceeds 63 bits";
    if (is_control(opcode_) && !is_final_) return "a control frame is fragmented";
    if (is_control(opcode_) && payload_size_ > max_control_payload)
        return "a control frame is too long";
    if (!is_control(opcode_) && continues != is_fragmented_)
        return continues ? "a continuation without a message" : "a message inside another one";
    return nullptr;
}

// Reads payload while there are bytes and space. Returns false if a text is not UTF-8; such a
// message is never written completely.
bool FrameReader::take_payload(std::string_view& wire, std::span<char>& to) {
    const bool is_direct = !is_control(opcode_) && !is_fragmented_;
    std::size_t count =
        static_cast<std::size_t>(std::min<std::uint64_t>(payload_left_, wire.size()));
    if (is_direct) count = std::min(count, to.size());
    std::string& held = is_control(opcode_) ? control_ : held_;
    const std::size_t before = held.size();
    if (!is_direct) held.resize(before + count);
    char* const place = is_direct ? to.data() : held.data() + before;
    mask(place, wire.data(), count, key_, payload_size_ - payload_left_);
    wire.remove_prefix(count);
    payload_left_ -= count;
    if (!is_control(opcode_) && is_text_) {
        const bool is_valid = utf8_check_.add({place, count});
        const bool is_cut = payload_left_ == 0 && is_final_ && !utf8_check_.is_complete();
        if (!is_valid || is_cut) return fail(invalid_data, "a text message is not UTF-8");
    }
    if (is_direct) to = to.subspan(count);
    return true;
}

bool FrameReader::read_closure() {
    if (control_.empty()) return true;
    if (control_.size() < 2) return fail(protocol_error, "a close code is truncated");
    const std::string_view payload = control_;
    const auto code = static_cast<unsigned>(read_number(payload.substr(0, 2)));
    if (!may_be_sent(code))
        return fail(protocol_error, "invalid close code " + std::to_string(code));
    if (!ui::is_utf8(payload.substr(2)))
        return fail(invalid_data, "the reason of a close frame is not UTF-8");
    closure_ = {code, control_.substr(2)};
    return true;
}

bool FrameReader::fail(unsigned code, std::string text) {
    closure_ = {code, std::move(text)};
    return false;
}

}  // namespace yodel::websocket
