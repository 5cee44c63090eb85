#include "app/protocol/framing.hpp"

#include "app/protocol/resp.hpp"
#include "app/text/units.hpp"

#include <limits>
#include <utility>

namespace yodel {

namespace {

using namespace std::string_view_literals;

std::string incremented(std::string_view payload) {
    std::string reply(payload);
    for (char& byte : reply) byte = static_cast<char>(byte + 1);
    return reply;
}

// The last line of a reply repeats the code of the first line, but has no dash after it.
ReplyLine smtp_line(std::string_view line, std::string_view before) {
    const std::string_view code = (before.empty() ? line : before).substr(0, 3);
    const std::string_view sign = line.substr(std::min<std::size_t>(line.size(), 3), 1);
    const bool has_code =
        line.starts_with(code) && (sign.empty() || sign == " " || sign == "-");
    const bool is_code_valid = code.size() == 3 && is_number(code);
    if (before.empty() && !(has_code && is_code_valid))
        return {.fault = "which is not valid for -f smtp"};
    return {.more_lines = has_code && sign != "-" ? 0U : 1U};
}

constexpr Framing framings[] = {
    {.name = "line", .delimiter = "\n"},
    {.name = "crlf", .delimiter = "\r\n"},
    {.name = "nul", .delimiter = "\0"sv},
    {.name = "len1", .prefix_size = 1},
    {.name = "len2", .prefix_size = 2},
    {.name = "len4", .prefix_size = 4},
    {.name = "len2le", .prefix_size = 2, .is_little_endian = true},
    {.name = "len4le", .prefix_size = 4, .is_little_endian = true},
    {.name = "caret", .delimiter = "$", .head = "^", .greeting = "*", .reply = incremented},
    {.name = "resp",
     .delimiter = "\r\n",
     .reply_line = resp_line,
     .push_byte = ">",
     .error_bytes = "-!"},
    {.name = "smtp",
     .delimiter = "\r\n",
     .reply_line = smtp_line,
     .error_bytes = "45",
     .takes_turns = true},
    {.name = "raw"},
    {.name = "datagram", .prefix_size = 2, .uses_datagrams = true},
    {.name = "websocket", .prefix_size = 5, .is_websocket = true},
};

constexpr bool is_valid(const Framing& framing) {
    if (framing.delimiter.empty())
        return framing.head.empty() && framing.reply == nullptr && framing.can_echo();
    const bool answers_bytes = framing.reply == nullptr || framing.delimiter.size() == 1;
    return framing.prefix_size == 0 && framing.delimiter.size() <= 2 &&
           framing.head.size() <= 1 && answers_bytes;
}
static_assert(std::all_of(std::begin(framings), std::end(framings), is_valid));

// Returns by how many bits a byte of the prefix is shifted within the length.
std::size_t shift(const Framing& framing, std::size_t offset) {
    return 8 * (framing.is_little_endian ? offset : framing.prefix_size - 1 - offset);
}

}  // namespace

std::size_t Framing::max_payload() const {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    constexpr std::size_t max_datagram = 65507;  // in an IPv4 packet
    if (uses_datagrams) return max_datagram;
    return prefix_size > 0 ? all >> (8 * (sizeof all - prefix_size + (is_websocket ? 1 : 0)))
                           : all;
}

std::string Framing::header(std::string_view payload) const {
    if (prefix_size == 0) return std::string(head);
    std::string header(prefix_size, '\0');  // a framing with a length has no head
    for (std::size_t i = is_websocket ? 1 : 0; i < prefix_size; ++i)
        header[i] = static_cast<char>(payload.size() >> shift(*this, i));
    if (is_websocket && !ui::is_utf8(payload)) header[0] = 1;
    return header;
}

void Framing::update_type(std::string& frame) const {
    if (is_websocket && !ui::is_utf8(payload(frame))) frame[0] = 1;
}

std::string_view Framing::payload(std::string_view frame) const {
    frame.remove_prefix(head.size() + prefix_size);
    frame.remove_suffix(delimiter.size());
    return frame;
}

std::size_t Framing::frame_size(std::string_view bytes, std::size_t searched) const {
    if (prefix_size > 0) return prefix_size + payload_size(bytes).value_or(0);
    if (delimiter.empty()) return bytes.size();
    // A delimiter may have arrived in part.
    const std::size_t from = searched - std::min(searched, delimiter.size() - 1);
    const std::size_t end = bytes.find(delimiter, std::max(from, head.size()));
    if (end != bytes.npos) return end + delimiter.size();
    const bool has_half_delimiter = delimiter.size() == 2 && bytes.ends_with(delimiter[0]);
    return std::max(bytes.size(), head.size()) + delimiter.size() -
           (has_half_delimiter ? 1 : 0);
}

std::optional<std::size_t> Framing::payload_size(std::string_view fragment) const {
    if (prefix_size == 0 || fragment.size() < prefix_size) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t i = is_websocket ? 1 : 0; i < prefix_size; ++i)
        size |= std::size_t{static_cast<unsigned char>(fragment[i])} << shift(*this, i);
    return size;
}

std::string Framing::fragment_text(std::string_view fragment) const {
    if (!has_framed_replies()) return "after " + bytes_text(fragment.size());
    const auto size = payload_size(fragment);
    if (prefix_size > 0 && !size && !is_websocket)
        return "after " + bytes_text(fragment.size()) + " of its length prefix";
    const std::size_t got = partial_payload(fragment).size();
    return "after " + (size ? std::to_string(got) + " of " : "") +
           bytes_text(size.value_or(got));
}

std::string Framing::delimiter_name() const {
    if (delimiter == "\n") return "a newline";
    if (delimiter == "\r\n") return "CRLF";
    return delimiter == "\0"sv ? "NUL" : std::string(delimiter);
}

const Framing* find_framing(std::string_view name) {
    for (const Framing& framing : framings)
        if (framing.name == name) return &framing;
    return nullptr;
}

std::string Framing::label() const {
    if (uses_datagrams) return "a datagram";
    return is_websocket ? "a WebSocket message" : "-f " + std::string(name);
}

std::string Framing::misfit_text(std::size_t size, std::size_t limit) const {
    if (size == 0) return label() + " does not allow empty messages";
    if (size > limit) return above_limit_text("a message of " + bytes_text(size), limit);
    return "a message of " + bytes_text(size) + " does not fit into " + label();
}

std::vector<std::string> framing_list(bool can_echo) {
    std::vector<std::string> names;
    for (const Framing& framing : framings)
        if (framing.is_option() && (framing.can_echo() || !can_echo))
            names.emplace_back(framing.name);
    return names;
}

std::size_t count_pieces(const Framing& framing, std::string_view payload) {
    std::size_t count = 0;
    if (framing.delimiter.size() != 1) {
        for_each_piece(framing, payload, [&](std::string_view) { ++count; });
        return count;
    }
    // Counts in blocks of constant size whose counts fit into a byte, so that the compiler
    // vectorizes the loop.
    constexpr std::size_t block = 240;
    const char end = framing.delimiter[0];
    for (; payload.size() >= block; payload.remove_prefix(block)) {
        std::uint8_t count_in_block = 0;
        for (std::size_t i = 0; i < block; ++i)
            count_in_block = static_cast<std::uint8_t>(count_in_block + (payload[i] == end));
        count += count_in_block;
    }
    return 1 + count +
           static_cast<std::size_t>(std::count(payload.begin(), payload.end(), end));
}

std::string above_limit_text(const std::string& what, std::size_t limit) {
    return what + " exceeds the limit of " + std::to_string(limit) + " (--max-frame)";
}

bool is_sendable(const Framing& framing, std::size_t max_frame, std::string_view payload) {
    const std::size_t min_size = framing.min_payload();
    const std::size_t max_size = std::min(framing.max_payload(), max_frame);
    if (min_size == 0 && payload.size() <= max_size) return true;
    bool all_fit = true;
    for_each_piece(framing, payload, [&](std::string_view piece) {
        all_fit = all_fit && piece.size() >= min_size && piece.size() <= max_size;
    });
    return all_fit;
}

std::string length_hint(const Framing& framing, std::string_view bytes, std::size_t max_frame) {
    const auto size = framing.payload_size(bytes);
    const bool fits = size && *size <= max_frame && framing.frame_size(bytes) <= bytes.size();
    if (!size || fits || framing.is_websocket) return {};
    for (const Framing& other : framings) {
        if (other.prefix_size != framing.prefix_size ||
            other.is_little_endian == framing.is_little_endian)
            continue;
        const std::size_t reversed = *other.payload_size(bytes);
        std::string_view rest = bytes;  // what follows the whole messages
        while (!rest.empty() && other.frame_size(rest) <= rest.size())
            rest.remove_prefix(other.frame_size(rest));
        if (*size > max_frame ? reversed <= max_frame : rest.empty())
            return "the length prefix reads " + std::to_string(*size) + "; as " +
                   (other.is_little_endian ? "little" : "big") + "-endian it reads " +
                   std::to_string(reversed) + ": use -f " + std::string(other.name);
    }
    const std::string_view prefix = bytes.substr(0, framing.prefix_size);
    const bool is_text = std::all_of(prefix.begin(), prefix.end(),
                                     [](char each) { return each >= ' ' && each <= '~'; });
    if (*size > max_frame && is_text)
        return "the length prefix is the text \"" + std::string(prefix) + '"';
    return {};
}

bufio::End end_inside_message(const Framing& framing, std::string_view fragment) {
    return {bufio::Reason::truncated, bufio::By::peer,
            "closed the connection inside a message,", framing.fragment_text(fragment)};
}

Decoder::Decoded Decoder::next(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (const std::size_t stray = framing_->stray_size(bytes); stray > 0)
        return {.kind = Decoded::Kind::stray, .payload = bytes.substr(0, stray), .used = stray};
    Decoded decoded = read_message(bytes);
    if (decoded.kind != Decoded::Kind::message) return decoded;
    const bool is_greeting = framing_->takes_turns && !is_greeted_ && !has_decoded_;
    const std::string_view push = framing_->push_byte;
    if (is_greeting || (!push.empty() && bytes.starts_with(push)))
        decoded.kind = Decoded::Kind::stray;
    decoded.used = line_offset_;
    decoded.payload = framing_->payload(bytes.substr(0, decoded.used));
    restart();
    return decoded;
}

bool Decoder::may_send(std::string_view bytes) {
    return has_decoded_ || is_greeted_ || !framing_->takes_turns ||
           read_message(bytes).kind != Decoded::Kind::incomplete;
}

// Continues reading the message at the front. A message is one frame, unless the framing reads
// replies line by line.
Decoder::Decoded Decoder::read_message(std::string_view bytes) {
    const std::size_t overhead = framing_->overhead();
    while (lines_left_ > 0) {
        const std::size_t size =
            line_offset_ + framing_->frame_size(bytes.substr(line_offset_), searched_);
        if (framing_->has_frames() && size > max_frame_ + overhead)
            return too_long_error(bytes, size - overhead);
        if (size > bytes.size()) {
            searched_ = bytes.size() - line_offset_;
            return {};
        }
        const std::string_view line =
            bytes.substr(line_offset_, size - line_offset_ - overhead);
        const ReplyLine parsed =
            framing_->can_echo() ? ReplyLine{}
                                 : framing_->reply_line(line, bytes.substr(0, line_offset_));
        if (parsed.fault) return refusal(line, parsed.fault);
        const std::uint64_t next = size + parsed.body_size;
        const std::uint64_t left = lines_left_ - 1 + parsed.more_lines;
        if (next + left - overhead > max_frame_ && !framing_->can_echo())
            return too_long_error(bytes, next + left - overhead);
        if (next > bytes.size()) return {};
        if (parsed.body_size > 0 &&
            !bytes.substr(line_offset_, next - line_offset_).ends_with(framing_->delimiter))
            return refusal(line, "but the " + bytes_text(parsed.body_size - overhead) +
                                     " after it do not end with CRLF");
        line_offset_ = static_cast<std::size_t>(next);
        searched_ = 0;
        lines_left_ = left;
    }
    return {.kind = Decoded::Kind::message};
}

Decoder::Decoded Decoder::refusal(std::string_view line, const std::string& fault) const {
    constexpr std::size_t max_shown = 40;  // bytes
    return {.kind = Decoded::Kind::error,
            .error = "the server sent " + in_quotes(line.substr(0, max_shown)) +
                     (line.size() > max_shown ? "..." : "") + ", " + fault};
}

Decoder::Decoded Decoder::too_long_error(std::string_view bytes, std::uint64_t size) const {
    const std::string hint = has_decoded_ ? "" : length_hint(*framing_, bytes, max_frame_);
    if (!hint.empty()) return {.kind = Decoded::Kind::error, .error = hint};
    const std::string text = bytes_text(size) + (framing_->prefix_size > 0 ? "" : " or more");
    return {.kind = Decoded::Kind::error,
            .error = above_limit_text("a message of " + text, max_frame_)};
}

}  // namespace yodel
