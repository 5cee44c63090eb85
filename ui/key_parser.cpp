#include "ui/key_parser.hpp"

#include "ui/text.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

namespace ui {

namespace {

constexpr char esc = '\x1b';
constexpr std::string_view paste_begin = "\x1b[200~";
constexpr std::string_view paste_end = "\x1b[201~";
constexpr std::string_view answer_introducers =
    "]P_^X";  // after ESC, they introduce OSC, DCS, APC, PM and SOS
// Maximum size of a sequence, in bytes. The longest answers, with the content of the clipboard,
// have about 100,000.
constexpr std::size_t max_sequence = 1 << 17;

struct ParsedKey {
    std::size_t size = 0;  // bytes used; 0 if incomplete
    std::optional<Key> key = std::nullopt;
};

const ParsedKey incomplete{};

ParsedKey pressed(std::size_t size, Chord chord) { return {size, Key{chord, {}, false}}; }

ParsedKey parse(std::string_view bytes, bool is_whole, bool is_after_esc = false);

ParsedKey parse_control(char c) {
    switch (c) {
    case '\r':
    case '\n': return pressed(1, plain(KeyCode::enter));
    case '\t': return pressed(1, plain(KeyCode::tab));
    case '\b':
    case '\x7f': return pressed(1, plain(KeyCode::backspace));
    default: break;
    }
    const auto code_point = static_cast<char32_t>(c | 0x40);
    return pressed(
        1, ctrl(code_point >= U'A' && code_point <= U'Z' ? code_point | 0x20 : code_point));
}

// A byte that is not part of a UTF-8 character counts as a character, because the terminal may
// use another encoding.
ParsedKey parse_character(std::string_view bytes) {
    const auto is_continuation = [](char c) { return (c & '\xc0') == '\x80'; };
    if (encoded_size(bytes[0]) > bytes.size() &&
        std::all_of(bytes.begin() + 1, bytes.end(), is_continuation))
        return incomplete;
    const CodePoint point = decode(bytes, 0);
    const std::size_t size = std::max<std::size_t>(point.size, 1);
    const char32_t code_point =
        point.size > 0 ? point.value : static_cast<unsigned char>(bytes[0]);
    return {size, Key{plain(code_point), std::string(bytes.substr(0, size)), false}};
}

// The keypad's characters: `kitty_keypad` in the order of kitty's codes from first_keypad_code
// on, and `ss3_keypad` in the order of the final bytes after SS3, from `j` on.
constexpr int first_keypad_code = 57399;
constexpr std::string_view kitty_keypad = "0123456789./*-+";
constexpr std::string_view ss3_keypad = "*+,-./0123456789";

// Finds a key by the final byte of its sequence and a number: the parameter before `~`, kitty's
// key code before `u`, the Windows key code before `_`, or the letter after CSI [. If `final`
// is 0, the number is the final byte.
std::optional<KeyCode> find_key(char final, int number) {
    using enum KeyCode;
    static constexpr struct {
        char final;
        int first;
        std::initializer_list<KeyCode> codes;  // for `first` and the numbers after it
    } sequences[] = {
        {0, 'A', {up, down, right, left}},
        {0, 'a', {up, down, right, left}},  // rxvt, with Shift or Ctrl
        {0, 'F', {end}},
        {0, 'H', {home, tab}},
        {0, 'M', {enter}},
        {0, 'P', {f1, f2, f3, f4}},
        {'~', 1, {home}},
        {'~', 3, {del, end, page_up, page_down, home, end}},
        {'~', 11, {f1, f2, f3, f4, f5}},
        {'~', 17, {f6, f7, f8, f9}},
        {'[', 'A', {f1, f2, f3, f4, f5}},  // the Linux console
        {'u', 57414, {enter}},             // the keypad
        {'u', 57417, {left, right, up, down, page_up, page_down, home, end}},
        {'u', 57426, {del}},
        {'_', 33, {page_up, page_down, end, home, left, up, right, down}},
        {'_', 46, {del}},
        {'_', 112, {f1, f2, f3, f4, f5, f6, f7, f8, f9}},
    };
    for (const auto& each : sequences) {
        const int place = number - each.first;
        if (each.final == final && place >= 0 && place < static_cast<int>(each.codes.size()))
            return each.codes.begin()[place];
    }
    return std::nullopt;
}

std::optional<KeyCode> find_key(char final) { return find_key(0, final); }

// The bits of a modifier parameter minus 1. Num Lock's bit is ignored.
enum Modifier { shift = 1, alt_key = 2, control = 4, other_modifiers = 8 | 16 | 32, caps = 64 };

// Returns a number from parameters such as "1:2;3:4", which are two fields with two parts each.
// Fields and parts are counted from 0. Returns 0 if the part is missing or no number.
int parameter(std::string_view parameters, int field, int part = 0) {
    const auto skip = [&](char separator) {
        const std::size_t end = parameters.find(separator);
        parameters.remove_prefix(end == parameters.npos ? parameters.size() : end + 1);
    };
    for (; field > 0; --field) skip(';');
    parameters = parameters.substr(0, parameters.find(';'));
    for (; part > 0; --part) skip(':');
    int value = 0;
    std::from_chars(parameters.data(), parameters.data() + parameters.size(), value);
    return value;
}

// Returns the traditional bytes of a character key, without the ESC for Alt. Returns an empty
// string if the key has none.
std::string legacy_bytes(int code, int modifiers) {
    const bool is_letter = code >= 'a' && code <= 'z';
    if ((modifiers & other_modifiers) != 0 || code <= 0) return {};
    if (code >= first_keypad_code &&
        code < first_keypad_code + static_cast<int>(kitty_keypad.size()))
        return {kitty_keypad[static_cast<std::size_t>(code - first_keypad_code)]};
    if (code >= 0xe000 && code < 0xf900) return {};  // private use: a key that has no character
    std::string bytes;
    if ((modifiers & control) == 0 || code < ' ' || code == 0x7f) {
        const bool is_upper =
            is_letter && ((modifiers & shift) != 0) != ((modifiers & caps) != 0);
        append_utf8(bytes, static_cast<char32_t>(is_upper ? code - ('a' - 'A') : code));
        if (decode(bytes, 0).size == 0) bytes.clear();
    } else if ((code >= '@' && code < 0x7f) || code == ' ') {
        bytes.push_back(static_cast<char>(code & 0x1f));
    } else if (code == '/') {
        bytes.push_back('\x1f');
    } else if (code == '?') {
        bytes.push_back('\x7f');
    }
    return bytes;
}

ParsedKey pressed(std::size_t size, std::optional<KeyCode> code, int modifiers) {
    if (!code) return {size};
    return pressed(size, {*code, 0, (modifiers & alt_key) != 0, (modifiers & control) != 0});
}

// Returns the key for a character, or for another key code of kitty's protocol.
ParsedKey pressed_code(std::size_t size, int code, int modifiers) {
    if (const auto found = find_key('u', code)) return pressed(size, found, modifiers);
    const std::string bytes = legacy_bytes(code, modifiers);
    if (bytes.empty()) return {size};
    const Key key = *parse(bytes, true).key;
    return {size, (modifiers & alt_key) != 0 ? add_alt(key) : key};
}

// Parses CSI code:shifted:base;modifiers:event;text u. The text may be several characters. It
// and the shifted code depend on the keyboard layout, which only the terminal knows.
ParsedKey parse_kitty(std::size_t size, std::string_view parameters, int modifiers) {
    std::string text;
    for (int part = 0; parameter(parameters, 2, part) > 0; ++part)
        text += legacy_bytes(parameter(parameters, 2, part), 0);
    if (!text.empty() && (modifiers & (alt_key | control)) == 0) {
        Key key = *parse(text, true).key;
        if (key.chord.code == KeyCode::character) key.text = text;
        return {size, key};
    }
    const int shifted = (modifiers & shift) != 0 ? parameter(parameters, 0, 1) : 0;
    return pressed_code(size, shifted > 0 ? shifted : parameter(parameters, 0), modifiers);
}

// Parses CSI key;scan;character;down;state;count _ of Windows' win32-input-mode. The character
// is already the one with Ctrl, and AltGr is Alt with Ctrl.
ParsedKey parse_windows(std::size_t size, std::string_view parameters) {
    constexpr int alt_bits = 1 | 2;
    constexpr int control_bits = 4 | 8;
    const int state = parameter(parameters, 4);
    const int character = parameter(parameters, 2);
    const bool has_alt = (state & alt_bits) != 0;
    const bool has_control = (state & control_bits) != 0;
    if (parameter(parameters, 3) != 1) return {size};
    if (character > 0)
        return pressed_code(size, character, has_alt && !has_control ? alt_key : 0);
    return pressed(size, find_key('_', parameter(parameters, 0)),
                   (has_alt ? alt_key : 0) | (has_control ? control : 0));
}

bool is_within(char c, char first, char last) { return c >= first && c <= last; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7f'; }

// Skips the last three bytes of an old mouse report: button, column and row. Skips none if one
// of them is a control character, or if some are missing and no more bytes will follow.
ParsedKey skip_mouse(std::string_view bytes, std::size_t at, bool is_whole) {
    const std::string_view report = bytes.substr(at, 3);
    if (std::any_of(report.begin(), report.end(), is_control)) return {at};
    if (report.size() < 3) return is_whole ? ParsedKey{at} : incomplete;
    return {at + 3};
}

struct Sequence {
    std::size_t size = 0;              // bytes used; 0 if incomplete
    std::string_view parameters = {};  // before the final byte
    char final = '\0';                 // '\0' unless the sequence may be a key
};

// Reads CSI or SS3, parameters, intermediates and a final byte (ECMA-48, 5.4). After CSI and a
// number, `$` is a final byte (rxvt). A byte that can't be in a sequence ends the sequence, and
// begins the next key.
Sequence read_sequence(std::string_view bytes) {
    std::size_t at = 2;
    const auto skip = [&](char first, char last) {
        while (at < bytes.size() && is_within(bytes[at], first, last)) ++at;
    };
    skip('0', '?');
    const std::string_view parameters = bytes.substr(2, at - 2);
    const bool is_number =
        at > 2 && parameters.find_first_not_of("0123456789") == parameters.npos;
    const bool has_dollar_end =
        bytes[1] == '[' && is_number && at < bytes.size() && bytes[at] == '$';
    const std::size_t intermediates = at;
    if (!has_dollar_end) skip(' ', '/');
    if (at > max_sequence) return {at};
    if (at == bytes.size()) return {};
    if (!has_dollar_end && !is_within(bytes[at], '@', '~')) return {at};
    const bool is_private = at > 2 && bytes[2] >= '<';
    if (is_private || at > intermediates) return {at + 1};
    return {at + 1, parameters, bytes[at]};
}

// Parses a function key of the Linux console: CSI [ and a letter.
ParsedKey parse_console(std::string_view bytes) {
    if (bytes.size() == 3) return incomplete;
    if (is_control(bytes[3])) return {3};
    return pressed(4, find_key('[', bytes[3]), 0);
}

ParsedKey parse_csi(std::string_view bytes, bool is_whole) {
    constexpr int released = 3;  // the event of releasing a key
    const auto [size, parameters, final] = read_sequence(bytes);
    if (final == '[' && parameters.empty()) return parse_console(bytes);
    if (final == 'M' && parameters.empty()) return skip_mouse(bytes, size, is_whole);
    if (parameter(parameters, 1, 1) == released) return {size};
    const int first = parameter(parameters, 0);
    const int modifiers = std::max(parameter(parameters, 1), 1) - 1;
    switch (final) {
    case '\0':
    case 'I':                 // focus
    case 'M':                 // mouse
    case 'R': return {size};  // the position of the cursor
    case 'u': return parse_kitty(size, parameters, modifiers);
    case '_': return parse_windows(size, parameters);
    case '$':  // rxvt, with Shift or Ctrl
    case '^':
    case '@': return pressed(size, find_key('~', first), final == '$' ? 0 : control);
    case '~':
        if (first == 27) return pressed_code(size, parameter(parameters, 2), modifiers);
        return pressed(size, find_key(final, first), modifiers);
    default: return pressed(size, find_key(final), modifiers);
    }
}

// In Konsole, the modifiers are the last parameter, and may be the only one.
ParsedKey parse_ss3(std::string_view bytes) {
    const auto [size, parameters, final] = read_sequence(bytes);
    const int field = parameters.find(';') == parameters.npos ? 0 : 1;
    const int modifiers = std::max(parameter(parameters, field), 1) - 1;
    if (is_within(final, 'j', 'y'))
        return pressed_code(size, ss3_keypad[static_cast<std::size_t>(final - 'j')], modifiers);
    if (final == 'X') return pressed_code(size, '=', modifiers);
    return pressed(size, find_key(final), is_within(final, 'a', 'd') ? control : modifiers);
}

// Skips an answer, which ends with BEL or ST. Any other control character also ends it, because
// an unterminated answer must not swallow the keys after it.
ParsedKey skip_answer(std::string_view bytes) {
    const auto* const end = std::find_if(bytes.begin() + 2, bytes.end(), is_control);
    const auto at = static_cast<std::size_t>(end - bytes.begin());
    if (at > max_sequence) return {at};
    if (at == bytes.size()) return incomplete;
    if (bytes[at] != esc) return {bytes[at] == '\a' ? at + 1 : at};
    if (at + 1 == bytes.size()) return incomplete;
    return {bytes[at + 1] == '\\' ? at + 2 : at};
}

ParsedKey parse_escape(std::string_view bytes, bool is_whole, bool is_after_esc) {
    if (bytes.size() == 1) return is_whole ? pressed(1, plain(KeyCode::escape)) : incomplete;
    // True if ESC and the next byte are a key with Alt, because no byte follows that could
    // continue a sequence.
    const bool is_alt_key = bytes.size() == 2 ? is_whole : is_control(bytes[2]);
    if (bytes[1] == '[' && !is_alt_key) return parse_csi(bytes, is_whole);
    if (bytes[1] == 'O' && !is_alt_key) return parse_ss3(bytes);
    if (answer_introducers.find(bytes[1]) != answer_introducers.npos && !is_alt_key)
        return skip_answer(bytes);
    if (bytes[1] == esc && is_after_esc) return pressed(1, plain(KeyCode::escape));
    ParsedKey parsed = parse(bytes.substr(1), is_whole, true);
    if (parsed.size == 0) return incomplete;
    if (!parsed.key) return pressed(1, plain(KeyCode::escape));  // Esc before an answer
    return {parsed.size + 1, add_alt(*std::move(parsed.key))};
}

// Parses the key or sequence at the beginning of `bytes`. With `is_whole`, no more bytes will
// follow. With `is_after_esc`, an ESC precedes the bytes.
ParsedKey parse(std::string_view bytes, bool is_whole, bool is_after_esc) {
    const char first = bytes[0];
    if (first == esc) return parse_escape(bytes, is_whole, is_after_esc);
    return is_control(first) ? parse_control(first) : parse_character(bytes);
}

// In a paste, terminals send a carriage return for each newline.
std::string cr_to_lf(std::string_view text) {
    std::string lines;
    lines.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool is_end_of_crlf = text[i] == '\n' && i > 0 && text[i - 1] == '\r';
        if (!is_end_of_crlf) lines += text[i] == '\r' ? '\n' : text[i];
    }
    return lines;
}

}  // namespace

void KeyParser::feed(std::string_view bytes) {
    if (!bytes.empty()) is_expired_ = false;
    bytes_ += bytes;
}

bool KeyParser::needs_timeout() const {
    if (is_in_paste_ || is_expired_) return is_in_paste_;
    return !bytes_.empty() && bytes_[0] == esc && parse(bytes_, false).size == 0 &&
           parse(bytes_, true).size != 0;
}

std::optional<Key> KeyParser::next() {
    while (!bytes_.empty() || (is_in_paste_ && is_expired_)) {
        if (is_in_paste_) {
            if (!take_paste()) return std::nullopt;
            return Key{plain(KeyCode::paste), cr_to_lf(std::exchange(pasted_text_, {})),
                       std::exchange(is_paste_truncated_, false)};
        }
        if (bytes_.compare(0, paste_begin.size(), paste_begin) == 0) {
            bytes_.erase(0, paste_begin.size());
            is_in_paste_ = true;
            continue;
        }
        ParsedKey parsed = parse(bytes_, is_expired_);
        if (parsed.size == 0) return std::nullopt;
        bytes_.erase(0, parsed.size);
        if (parsed.key) return std::move(parsed.key);
    }
    return std::nullopt;
}

// Moves bytes from `bytes_` to `pasted_text_`. Returns true if the paste has ended.
bool KeyParser::take_paste() {
    const std::size_t end = bytes_.find(paste_end);
    const bool has_end = end != std::string::npos;
    // Leaves the last bytes, which may begin the sequence that ends the paste.
    const std::size_t tail = is_expired_ ? 0 : std::min(bytes_.size(), paste_end.size() - 1);
    const std::size_t size = has_end ? end : bytes_.size() - tail;
    const std::size_t space = max_paste - pasted_text_.size();
    if (size > space) is_paste_truncated_ = true;
    pasted_text_.append(bytes_, 0, std::min(size, space));
    bytes_.erase(0, has_end ? size + paste_end.size() : size);
    is_in_paste_ = !has_end && !is_expired_;
    return !is_in_paste_;
}

}  // namespace ui
