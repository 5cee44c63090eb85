#include "ui/line_editor.hpp"

#include "ui/text.hpp"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

// True for letters, digits, and everything outside ASCII.
bool is_word(char c) {
    return (c & '\x80') != 0 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

bool is_not_blank(char c) { return c != ' ' && c != '\t' && c != '\n'; }

// Drops a final newline, because text copied by whole lines ends in a newline that the user did
// not mean to type.
std::string_view pasted(const Key& key) {
    std::string_view text = key.text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

// Returns the bytes that a key inserts after ^V; empty for keys without a character.
std::string literal(const Key& key) {
    switch (key.chord.code) {
    case KeyCode::character:
        return key.chord.ctrl ? std::string(1, static_cast<char>(key.chord.symbol & 0x1f))
                              : key.text;
    case KeyCode::enter: return "\r";
    case KeyCode::newline: return "\n";
    case KeyCode::tab: return "\t";
    case KeyCode::backspace: return "\x7f";
    case KeyCode::escape: return "\x1b";
    case KeyCode::paste: return std::string(pasted(key));
    default: return {};
    }
}

}  // namespace

// M-Enter has no help, because its effect depends on the message framing, which only the
// caller knows.
const Binding<LineEditor> LineEditor::bindings[] = {
    {ctrl('a'), [](LineEditor& e) { e.cursor_ = 0; }, "^A ^E",
     "go to the start, end of the line (also Home, End)"},
    {plain(KeyCode::home), [](LineEditor& e) { e.cursor_ = 0; }},
    {ctrl('e'), [](LineEditor& e) { e.cursor_ = e.text_.size(); }},
    {plain(KeyCode::end), [](LineEditor& e) { e.cursor_ = e.text_.size(); }},
    {ctrl('b'), [](LineEditor& e) { e.cursor_ = previous_cell(e.text_, e.cursor_); }, "^B ^F",
     "go one character left, right (also Left, Right)"},
    {plain(KeyCode::left),
     [](LineEditor& e) { e.cursor_ = previous_cell(e.text_, e.cursor_); }},
    {ctrl('f'), [](LineEditor& e) { e.cursor_ = next_cell(e.text_, e.cursor_); }},
    {plain(KeyCode::right), [](LineEditor& e) { e.cursor_ = next_cell(e.text_, e.cursor_); }},
    {alt('b'), [](LineEditor& e) { e.cursor_ = e.word_left(is_word); }, "M-b M-f",
     "go one word left, right"},
    {ctrl(KeyCode::left), [](LineEditor& e) { e.cursor_ = e.word_left(is_word); }},
    {alt(KeyCode::left), [](LineEditor& e) { e.cursor_ = e.word_left(is_word); }},
    {alt('f'), [](LineEditor& e) { e.cursor_ = e.word_right(is_word); }},
    {ctrl(KeyCode::right), [](LineEditor& e) { e.cursor_ = e.word_right(is_word); }},
    {alt(KeyCode::right), [](LineEditor& e) { e.cursor_ = e.word_right(is_word); }},
    {plain(KeyCode::backspace),
     [](LineEditor& e) { e.erase(previous_cell(e.text_, e.cursor_), e.cursor_); }},
    {plain(KeyCode::del),
     [](LineEditor& e) { e.erase(e.cursor_, next_cell(e.text_, e.cursor_)); }},
    {ctrl('d'), [](LineEditor& e) { e.erase(e.cursor_, next_cell(e.text_, e.cursor_)); }},
    {ctrl('u'), [](LineEditor& e) { e.kill(0, e.cursor_); }, "^U ^K ^W",
     "cut to the start, to the end, the previous word"},
    {ctrl('k'), [](LineEditor& e) { e.kill(e.cursor_, e.text_.size()); }},
    {ctrl('w'), [](LineEditor& e) { e.kill(e.word_left(is_not_blank), e.cursor_); }},
    {alt(KeyCode::backspace), [](LineEditor& e) { e.kill(e.word_left(is_word), e.cursor_); }},
    {alt('d'), [](LineEditor& e) { e.kill(e.cursor_, e.word_right(is_word)); }, "M-d",
     "cut the next word"},
    {ctrl('y'), [](LineEditor& e) { e.insert(e.killed_); }, "^Y ^T",
     "paste the cut text; swap two characters"},
    {ctrl('t'), [](LineEditor& e) { e.transpose(); }},
    {ctrl('v'), [](LineEditor& e) { e.literal_ = true; }, "^V",
     "insert the next key literally"},
    {alt(KeyCode::enter), [](LineEditor& e) { e.insert("\n"); }},
    {alt(KeyCode::newline), [](LineEditor& e) { e.insert("\n"); }},
};

std::vector<KeyHelp> LineEditor::key_help() { return help_for(bindings); }

bool LineEditor::press(const Key& key) {
    joins_ = std::exchange(killing_, false);
    if (std::exchange(literal_, false)) {
        insert(literal(key));
        return true;
    }
    if (key.chord == ctrl('d') && empty()) return false;
    if (perform(bindings, key.chord, *this)) return true;
    const bool is_text =
        key.chord.code == KeyCode::character && !key.chord.alt && !key.chord.ctrl;
    if (is_text) insert(key.text);
    if (key.chord == plain(KeyCode::tab)) insert("\t");
    if (key.chord == plain(KeyCode::paste)) insert(pasted(key));
    return is_text || key.chord == plain(KeyCode::tab) || key.chord == plain(KeyCode::paste);
}

void LineEditor::insert(std::string_view bytes) {
    text_.insert(cursor_, bytes);
    cursor_ += bytes.size();
    snap_to_cell();
}

void LineEditor::set(std::string text) {
    text_ = std::move(text);
    cursor_ = text_.size();
    left_ = 0;
    killing_ = false;
    literal_ = false;
}

// Moves the cursor to the end of its cell if an edit has joined two cells, as with a combining
// mark after its base.
void LineEditor::snap_to_cell() {
    if (cursor_ > 0) cursor_ = next_cell(text_, previous_cell(text_, cursor_));
}

void LineEditor::erase(std::size_t begin, std::size_t end) {
    text_.erase(begin, end - begin);
    cursor_ = begin;
    snap_to_cell();
}

// Consecutive kills become one text for ^Y.
void LineEditor::kill(std::size_t begin, std::size_t end) {
    killing_ = true;
    if (begin == end) return;
    if (!joins_) killed_.clear();
    killed_.insert(end == cursor_ ? 0 : killed_.size(), text_, begin, end - begin);
    erase(begin, end);
}

// Returns the beginning of the word before the cursor. `part` decides which bytes belong to a
// word.
std::size_t LineEditor::word_left(bool (*part)(char)) const {
    std::size_t at = cursor_;
    while (at > 0 && !part(text_[at - 1])) --at;
    while (at > 0 && part(text_[at - 1])) --at;
    return previous_cell(text_, at + 1);  // the beginning of the cell around `at`
}

std::size_t LineEditor::word_right(bool (*part)(char)) const {
    std::size_t at = cursor_;
    while (at < text_.size() && !part(text_[at])) ++at;
    while (at < text_.size() && part(text_[at])) ++at;
    return at == cursor_ ? at : next_cell(text_, at - 1);  // the end of the cell before `at`
}

// Swaps the two cells around the cursor, or the last two if it is at the end.
void LineEditor::transpose() {
    const std::size_t middle =
        cursor_ == text_.size() ? previous_cell(text_, cursor_) : cursor_;
    const std::size_t begin = previous_cell(text_, middle);
    const std::size_t end = next_cell(text_, middle);
    const auto at = [this](std::size_t offset) {
        return text_.begin() + static_cast<std::ptrdiff_t>(offset);
    };
    if (begin == middle) return;
    std::rotate(at(begin), at(middle), at(end));
    cursor_ = end;
    snap_to_cell();
}

// Returns the columns from left_ to the cursor. Stops counting at `width`, so that a long text
// costs no more than a row.
int LineEditor::columns_to_cursor(int width) const {
    int sum = 0;
    Cells cells(text_, left_);
    std::optional<Cell> cell = cells.next();
    while (cell && cell->begin < cursor_ && sum < width) {
        sum += cell->width;
        cell = cells.next();
    }
    return sum;
}

// Scrolls by half a row, so that typing does not scroll at every key and the text before the
// cursor stays visible.
void LineEditor::scroll_to_cursor(int width) {
    if (width_ != width) left_ = 0;  // a wider row may show more
    width_ = width;
    const bool before_seen = left_ < cursor_ || left_ == 0;
    if (before_seen && columns_to_cursor(width) < width) return;
    left_ = cursor_;
    int space = width / 2;
    while (left_ > 0) {
        const std::size_t before = previous_cell(text_, left_);
        space -= display_width(std::string_view(text_).substr(before, left_ - before));
        if (space < 0) break;
        left_ = before;
    }
}

LineEditor::View LineEditor::view(int width) {
    if (width <= 0) return {};
    scroll_to_cursor(width);
    View view;
    view.cursor = columns_to_cursor(width);
    int used = 0;
    Cells cells(text_, left_);
    std::optional<Cell> cell = cells.next();
    while (cell && used + cell->width <= width) {
        append(view.row, cell->text, cell->escaped ? Style::escaped : Style::normal);
        used += cell->width;
        cell = cells.next();
    }
    return view;
}

}  // namespace ui
