#include "ui/key_parser.hpp"

#include "ui/utf8.hpp"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr char esc = '\x1b';
constexpr std::string_view paste_begin = "\x1b[200~";
constexpr std::string_view paste_end = "\x1b[201~";
constexpr std::size_t max_sequence = 32;  // bytes; longer ones are noise

struct Parsed {
    std::size_t size = 0;  // bytes used; 0: incomplete
    std::optional<Key> key = std::nullopt;
};

const Parsed incomplete{};

Parsed pressed(std::size_t size, Chord chord) { return {size, Key{chord, {}, false}}; }

Parsed parse(std::string_view bytes, bool whole, bool nested = false);

Parsed parse_control(char c) {
    switch (c) {
    case '\r': return pressed(1, plain(KeyCode::enter));
    case '\n': return pressed(1, plain(KeyCode::newline));
    case '\t': return pressed(1, plain(KeyCode::tab));
    case '\b':
    case '\x7f': return pressed(1, plain(KeyCode::backspace));
    default: break;
    }
    const auto symbol = static_cast<char32_t>(c | 0x40);
    return pressed(1, ctrl(symbol >= U'A' && symbol <= U'Z' ? symbol | 0x20 : symbol));
}

// A byte that can't be part of a UTF-8 character counts as a character, because the terminal
// may use another encoding.
Parsed parse_character(std::string_view bytes) {
    const auto is_later = [](char c) { return (c & '\xc0') == '\x80'; };
    if (encoded_size(bytes[0]) > bytes.size() &&
        std::all_of(bytes.begin() + 1, bytes.end(), is_later))
        return incomplete;
    const CodePoint point = decode(bytes, 0);
    const std::size_t size = std::max<std::size_t>(point.size, 1);
    const char32_t symbol = point.size > 0 ? point.value : static_cast<unsigned char>(bytes[0]);
    return {size, Key{plain(symbol), std::string(bytes.substr(0, size)), false}};
}

// The keys by the last byte of their sequence, after CSI or SS3, and by the number of CSI
// number ~. Other sequences have the number 0 here.
constexpr struct {
    char final;
    int number;
    KeyCode code;
} sequences[] = {
    {'A', 0, KeyCode::up},      {'B', 0, KeyCode::down},      {'C', 0, KeyCode::right},
    {'D', 0, KeyCode::left},    {'H', 0, KeyCode::home},      {'F', 0, KeyCode::end},
    {'P', 0, KeyCode::f1},      {'~', 1, KeyCode::home},      {'~', 7, KeyCode::home},
    {'~', 3, KeyCode::del},     {'~', 4, KeyCode::end},       {'~', 8, KeyCode::end},
    {'~', 5, KeyCode::page_up}, {'~', 6, KeyCode::page_down}, {'~', 11, KeyCode::f1},
};

std::optional<KeyCode> find_key(char final, int number = 0) {
    for (const auto& each : sequences)
        if (each.final == final && each.number == number) return each.code;
    return std::nullopt;
}

// The second parameter is the modifiers plus one: 1 shift, 2 alt, 4 control.
Chord modified(KeyCode code, const std::string& parameters) {
    const std::size_t second = parameters.find(';');
    if (second == std::string::npos) return plain(code);
    const int bits = std::atoi(parameters.c_str() + second + 1) - 1;
    return {code, 0, (bits & 2) != 0, (bits & 4) != 0};
}

Parsed pressed(std::size_t size, std::optional<KeyCode> code) {
    return code ? pressed(size, plain(*code)) : Parsed{size};
}

Parsed parse_csi(std::string_view bytes) {
    std::size_t at = 2;
    while (at < bytes.size() && bytes[at] >= 0x20 && bytes[at] < 0x40) ++at;
    if (at > max_sequence) return {at};
    if (at == bytes.size()) return incomplete;
    const char final = bytes[at];
    if (final < 0x40 || final == '\x7f') return {at};
    const std::string parameters(bytes.substr(2, at - 2));
    if (final == '[') {  // the Linux console: CSI [ A is F1
        if (at + 1 == bytes.size()) return incomplete;
        return bytes[at + 1] == 'A' ? pressed(at + 2, plain(KeyCode::f1)) : Parsed{at + 2};
    }
    if (final == 'M' && parameters.empty())  // a mouse report: three bytes follow
        return bytes.size() < at + 4 ? incomplete : Parsed{at + 4};
    const std::optional<KeyCode> code =
        find_key(final, final == '~' ? std::atoi(parameters.c_str()) : 0);
    return code ? pressed(at + 1, modified(*code, parameters)) : Parsed{at + 1};
}

Parsed parse_ss3(std::string_view bytes) {
    if (bytes.size() < 3) return incomplete;
    if (bytes[2] == 'M') return pressed(3, plain(KeyCode::enter));  // on the keypad
    return pressed(3, find_key(bytes[2]));
}

Parsed parse_escape(std::string_view bytes, bool whole, bool nested) {
    if (bytes.size() == 1) return whole ? pressed(1, plain(KeyCode::escape)) : incomplete;
    const bool alone = whole && bytes.size() == 2;  // a key with alt, not a sequence
    if (bytes[1] == '[' && !alone) return parse_csi(bytes);
    if (bytes[1] == 'O' && !alone) return parse_ss3(bytes);
    if (bytes[1] == esc && nested) return pressed(1, plain(KeyCode::escape));
    Parsed parsed = parse(bytes.substr(1), whole, true);
    if (parsed.size == 0) return incomplete;
    if (parsed.key) parsed.key->chord.alt = true;
    return {parsed.size + 1, std::move(parsed.key)};
}

// Returns the key at the beginning of `bytes`. `whole`: no more bytes will follow.
Parsed parse(std::string_view bytes, bool whole, bool nested) {
    const char first = bytes[0];
    if (first == esc) return parse_escape(bytes, whole, nested);
    const auto code = static_cast<unsigned char>(first);
    return code < 0x20 || code == 0x7f ? parse_control(first) : parse_character(bytes);
}

// In a paste, terminals send a carriage return for each newline.
std::string cr_to_lf(std::string text) {
    std::size_t size = 0;
    char last = '\0';
    for (const char c : text) {
        const bool second_half = last == '\r' && c == '\n';
        last = c;
        if (second_half) continue;
        text[size] = c == '\r' ? '\n' : c;
        ++size;
    }
    text.resize(size);
    return text;
}

}  // namespace

void KeyParser::feed(std::string_view bytes) {
    if (!bytes.empty()) expired_ = false;
    bytes_ += bytes;
}

bool KeyParser::waiting() const {
    return !in_paste_ && !expired_ && !bytes_.empty() && bytes_[0] == esc &&
           parse(bytes_, false).size == 0 && parse(bytes_, true).size != 0;
}

std::optional<Key> KeyParser::next() {
    while (!bytes_.empty()) {
        if (in_paste_) {
            if (!take_paste()) return std::nullopt;
            return Key{plain(KeyCode::paste), cr_to_lf(std::exchange(pasted_, {})),
                       std::exchange(cut_, false)};
        }
        if (bytes_.compare(0, paste_begin.size(), paste_begin) == 0) {
            bytes_.erase(0, paste_begin.size());
            in_paste_ = true;
            continue;
        }
        Parsed parsed = parse(bytes_, expired_);
        if (parsed.size == 0) return std::nullopt;
        bytes_.erase(0, parsed.size);
        if (parsed.key) return std::move(parsed.key);
    }
    return std::nullopt;
}

// Moves bytes to the paste. Returns true if they contained its end.
bool KeyParser::take_paste() {
    const std::size_t end = bytes_.find(paste_end);
    const bool ends = end != std::string::npos;
    // Keeps the last bytes, which may begin the sequence that ends the paste.
    const std::size_t kept = std::min(bytes_.size(), paste_end.size() - 1);
    const std::size_t size = ends ? end : bytes_.size() - kept;
    const std::size_t space = paste_limit_ - pasted_.size();
    if (size > space) cut_ = true;
    pasted_.append(bytes_, 0, std::min(size, space));
    bytes_.erase(0, ends ? size + paste_end.size() : size);
    in_paste_ = !ends;
    return ends;
}

}  // namespace ui
