#include "app/protocol/framing.hpp"

#include "app/protocol/resp.hpp"
#include "app/text/units.hpp"
#include "ui/text.hpp"

#include <algorithm>
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
    const bool coded = line.starts_with(code) && (sign.empty() || sign == " " || sign == "-");
    const bool valid = code.size() == 3 && is_number(code);
    if (before.empty() && !(coded && valid)) return {.fault = "which is not valid for -f smtp"};
    return {.more = coded && sign != "-" ? 0U : 1U};
}

constexpr Framing framings[] = {
    {.name = "line", .delimiter = "\n"},
    {.name = "crlf", .delimiter = "\r\n"},
    {.name = "nul", .delimiter = "\0"sv},
    {.name = "len1", .prefix = 1},
    {.name = "len2", .prefix = 2},
    {.name = "len4", .prefix = 4},
    {.name = "len2le", .prefix = 2, .little_endian = true},
    {.name = "len4le", .prefix = 4, .little_endian = true},
    {.name = "caret", .delimiter = "$", .head = "^", .greeting = "*", .reply = incremented},
    {.name = "resp",
     .delimiter = "\r\n",
     .reply_line = resp_line,
     .push_byte = ">",
     .refusals = "-!"},
    {.name = "smtp",
     .delimiter = "\r\n",
     .reply_line = smtp_line,
     .refusals = "45",
     .takes_turns = true},
    {.name = "raw"},
    {.name = "datagram", .prefix = 2, .in_datagrams = true},
    {.name = "websocket", .prefix = 5, .typed = true},
};

constexpr bool is_valid(const Framing& framing) {
    if (framing.delimiter.empty())
        return framing.head.empty() && framing.reply == nullptr && framing.can_echo();
    return framing.prefix == 0 && framing.delimiter.size() <= 2 && framing.head.size() <= 1;
}
static_assert(std::all_of(std::begin(framings), std::end(framings), is_valid));

// Counts in blocks of constant size whose counts fit into a byte, so that the compiler
// vectorizes the loop.
std::size_t count_byte(std::string_view bytes, char byte) {
    constexpr std::size_t block = 240;
    std::size_t count = 0;
    for (; bytes.size() >= block; bytes.remove_prefix(block)) {
        std::uint8_t some = 0;
        for (std::size_t i = 0; i < block; ++i)
            some = static_cast<std::uint8_t>(some + (bytes[i] == byte));
        count += some;
    }
    return count + static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), byte));
}

// Returns the offset in the prefix of the length's byte `i`. Byte 0 is the least significant.
std::size_t place(const Framing& framing, std::size_t i) {
    return framing.little_endian ? i : framing.prefix - 1 - i;
}

// Returns true if the bytes consist of whole messages.
bool is_cut_by(const Framing& framing, std::string_view bytes) {
    while (bytes.size() >= framing.prefix) {
        const std::size_t used = framing.prefix + framing.decode_length(bytes);
        if (used < framing.prefix || used > bytes.size()) return false;
        bytes.remove_prefix(used);
    }
    return bytes.empty();
}

}  // namespace

std::size_t Framing::max_payload() const {
    constexpr auto all = std::numeric_limits<std::size_t>::max();
    constexpr std::size_t max_datagram = 65507;  // in an IPv4 packet
    if (in_datagrams) return max_datagram;
    return prefix > 0 ? all >> (8 * (sizeof all - length_bytes())) : all;
}

std::string Framing::header(std::string_view payload) const {
    if (prefix == 0) return std::string(head);
    std::string header(prefix, '\0');  // a framing with a length has no head
    for (std::size_t i = 0; i < length_bytes(); ++i)
        header[place(*this, i)] = static_cast<char>(payload.size() >> (8 * i));
    if (typed && !ui::is_utf8(payload)) header[0] = 1;
    return header;
}

void Framing::update_type(std::string& frame) const {
    if (typed && !ui::is_utf8(payload(frame))) frame[0] = 1;
}

std::string_view Framing::payload(std::string_view frame) const {
    frame.remove_prefix(head.size() + prefix);
    frame.remove_suffix(delimiter.size());
    return frame;
}

std::size_t Framing::decode_length(std::string_view bytes) const {
    std::size_t size = 0;
    for (std::size_t i = 0; i < length_bytes(); ++i)
        size |= std::size_t{static_cast<unsigned char>(bytes[place(*this, i)])} << (8 * i);
    return size;
}

std::optional<std::size_t> Framing::payload_size(std::string_view fragment) const {
    if (prefix == 0 || fragment.size() < prefix) return std::nullopt;
    return decode_length(fragment);
}

std::string Framing::fragment_text(std::string_view fragment) const {
    if (!replies_framed()) return "after " + bytes_text(fragment.size());
    const auto size = payload_size(fragment);
    if (prefix > 0 && !size && !typed)
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
    const auto* const it =
        std::find_if(std::begin(framings), std::end(framings),
                     [&](const Framing& framing) { return framing.name == name; });
    return it == std::end(framings) ? nullptr : it;
}

const Framing* datagram_framing() { return find_framing("datagram"); }
const Framing* websocket_framing() { return find_framing("websocket"); }

std::string Framing::label() const {
    if (in_datagrams) return "a datagram";
    return typed ? "a WebSocket message" : "-f " + std::string(name);
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
    if (framing.delimiter.size() == 1) return 1 + count_byte(payload, framing.delimiter[0]);
    std::size_t count = 0;
    for_each_piece(framing, payload, [&](std::string_view) { ++count; });
    return count;
}

std::string above_limit_text(const std::string& what, std::size_t limit) {
    return what + " exceeds the limit of " + std::to_string(limit) + " (--max-frame)";
}

bool is_sendable(const Framing& framing, std::size_t max_frame, std::string_view payload) {
    const std::size_t min_size = framing.min_payload();
    const std::size_t max_size = std::min(framing.max_payload(), max_frame);
    if (min_size == 0 && payload.size() <= max_size) return true;
    bool all = true;
    for_each_piece(framing, payload, [&](std::string_view piece) {
        all = all && piece.size() >= min_size && piece.size() <= max_size;
    });
    return all;
}

std::string length_hint(const Framing& framing, std::string_view bytes, std::size_t max_frame) {
    if (framing.prefix == 0 || framing.typed || bytes.size() < framing.prefix) return {};
    const std::size_t size = framing.decode_length(bytes);
    for (const Framing& other : framings) {
        if (other.prefix != framing.prefix || other.little_endian == framing.little_endian)
            continue;
        const std::size_t reversed = other.decode_length(bytes);
        if (size > max_frame ? reversed <= max_frame : is_cut_by(other, bytes))
            return "the length prefix reads " + std::to_string(size) + "; as " +
                   (other.little_endian ? "little" : "big") + "-endian it reads " +
                   std::to_string(reversed) + ": use -f " + std::string(other.name);
    }
    return {};
}

bufio::End end_inside_message(const Framing& framing, std::string_view fragment) {
    return {bufio::Reason::truncated, bufio::By::peer,
            "closed the connection inside a message,", framing.fragment_text(fragment)};
}

FrameCursor::Step FrameCursor::next(std::string_view bytes) {
    if (bytes.empty()) return {};
    if (framing_->prefix > 0) return next_prefixed(bytes);
    if (framing_->has_frames()) return next_delimited(bytes);
    return {bytes.size(), bytes, true};
}

FrameCursor::Step FrameCursor::next_prefixed(std::string_view bytes) {
    std::size_t used = 0;
    if (!length_read_) {
        std::string_view length = bytes.substr(0, framing_->prefix - length_size_);
        used = length.size();
        in_frame_ = true;
        if (used < framing_->prefix) {  // the length arrives in pieces
            length.copy(length_ + length_size_, used);
            length_size_ += static_cast<std::uint8_t>(used);
            length = {length_, length_size_};
            missing_ = framing_->prefix - length.size();
            if (missing_ > 0) return {.used = used};
        }
        missing_ = framing_->decode_length(length);
        length_read_ = true;
    }
    const std::string_view payload = bytes.substr(used, missing_);
    missing_ -= payload.size();
    const bool whole = missing_ == 0;
    if (whole) restart();
    return {used + payload.size(), payload, whole};
}

// If the bytes end after the first byte of a two-byte delimiter, consumes that byte. It turns
// out to be payload if the second byte does not follow.
FrameCursor::Step FrameCursor::next_delimited(std::string_view bytes) {
    const std::string_view delimiter = framing_->delimiter;
    std::size_t used = 0;
    if (!in_frame_) {
        used = framing_->stray_size(bytes);
        if (used == bytes.size()) return {.used = used};
        used += framing_->head.size();
        in_frame_ = true;
    }
    if (missing_ == 1 && delimiter.size() == 2) {
        missing_ = 2;
        if (bytes[0] != delimiter[1]) return {.used = 0, .payload = delimiter.substr(0, 1)};
        in_frame_ = false;
        return {.used = 1, .whole = true};
    }
    const std::string_view rest = bytes.substr(used);
    const std::size_t end = rest.find(delimiter);
    in_frame_ = end == std::string_view::npos;
    missing_ = delimiter.size();
    if (!in_frame_) return {used + end + delimiter.size(), rest.substr(0, end), true};
    const bool half = delimiter.size() == 2 && rest.ends_with(delimiter[0]);
    if (half) missing_ = 1;
    return {bytes.size(), rest.substr(0, rest.size() - (half ? 1 : 0))};
}

Decoder::Decoded Decoder::next(std::string_view bytes) {
    if (bytes.empty()) return {};
    const std::size_t stray = cursor_offset_ == 0 ? framing_->stray_size(bytes) : 0;
    if (stray > 0)
        return {.kind = Decoded::Kind::stray, .payload = bytes.substr(0, stray), .used = stray};
    Decoded cut = read(bytes);
    if (cut.kind != Decoded::Kind::message) return cut;
    const bool greeting = framing_->takes_turns && !greeted_ && !decoded_;
    const std::string_view push = framing_->push_byte;
    if (greeting || (!push.empty() && bytes.starts_with(push))) cut.kind = Decoded::Kind::stray;
    cut.used = cursor_offset_;
    cut.payload = framing_->payload(bytes.substr(0, cursor_offset_));
    restart();
    return cut;
}

bool Decoder::greeted(std::string_view bytes) {
    return decoded_ || greeted_ || !framing_->takes_turns ||
           read(bytes).kind != Decoded::Kind::incomplete;
}

// Moves the cursor to the end of the frame or of the bytes. Returns true at the end of the
// frame.
bool Decoder::pass_frame(std::string_view bytes) {
    while (cursor_offset_ < bytes.size()) {
        const FrameCursor::Step step = cursor_.next(bytes.substr(cursor_offset_));
        cursor_offset_ += step.used;
        if (step.whole) return true;
    }
    return false;
}

// Continues reading the message at the front. A message is one frame, unless the framing reads
// replies line by line.
Decoder::Decoded Decoder::read(std::string_view bytes) {
    const std::size_t overhead = framing_->overhead();
    for (; lines_left_ > 0; line_offset_ = cursor_offset_) {
        const bool whole = pass_frame(bytes);
        const std::size_t size =
            cursor_offset_ + cursor_.missing();  // exact if whole, else a minimum
        if (whole)
            cursor_offset_ = line_offset_;  // stay until the line is valid and its body whole
        if (framing_->has_frames() && size > max_frame_ + overhead)
            return too_long(bytes, size - overhead);
        if (!whole) return {};
        const std::string_view line =
            bytes.substr(line_offset_, size - line_offset_ - overhead);
        const ReplyLine read = framing_->can_echo()
                                   ? ReplyLine{}
                                   : framing_->reply_line(line, bytes.substr(0, line_offset_));
        if (read.fault) return refuse(line, read.fault);
        const std::uint64_t next = size + read.body;
        const std::uint64_t left = lines_left_ - 1 + read.more;
        if (next + left - overhead > max_frame_ && !framing_->can_echo())
            return too_long(bytes, next + left - overhead);
        if (next > bytes.size()) return {};
        if (read.body > 0 &&
            !bytes.substr(line_offset_, next - line_offset_).ends_with(framing_->delimiter))
            return refuse(line, "but the " + bytes_text(read.body - overhead) +
                                    " after it do not end with CRLF");
        cursor_offset_ = static_cast<std::size_t>(next);
        lines_left_ = left;
    }
    return {.kind = Decoded::Kind::message};
}

Decoder::Decoded Decoder::refuse(std::string_view line, const std::string& fault) const {
    constexpr std::size_t shown = 40;  // bytes
    return {.kind = Decoded::Kind::error,
            .error = "the server sent " + in_quotes(line.substr(0, shown)) +
                     (line.size() > shown ? "..." : "") + ", " + fault};
}

Decoder::Decoded Decoder::too_long(std::string_view bytes, std::uint64_t size) const {
    const std::string hint = decoded_ ? "" : length_hint(*framing_, bytes, max_frame_);
    if (!hint.empty()) return {.kind = Decoded::Kind::error, .error = hint};
    const std::string text = bytes_text(size) + (framing_->prefix > 0 ? "" : " or more");
    return {.kind = Decoded::Kind::error,
            .error = above_limit_text("a message of " + text, max_frame_)};
}

}  // namespace yodel
