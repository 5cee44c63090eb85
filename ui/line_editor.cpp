#include "ui/line_editor.hpp"

#include "ui/text.hpp"

#include <algorithm>
#include <utility>

namespace ui {

namespace {

// True for letters, digits, and everything outside ASCII.
bool is_word_character(char c) {
    return (c & '\x80') != 0 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
}

bool is_not_blank(char c) { return c != ' ' && c != '\t' && c != '\n'; }

// Drops a final newline, because text copied by whole lines ends in a newline that the user did
// not mean to type.
std::string_view pasted_text(const Key& key) {
    std::string_view text = key.text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    return text;
}

// Returns the bytes that a key inserts after ^V, or an empty string for keys without a
// character.
std::string literal_text(const Key& key) {
    switch (key.chord.code) {
    case KeyCode::character:
        return key.chord.has_ctrl
                   ? std::string(1, static_cast<char>(key.chord.code_point & 0x1f))
                   : key.text;
    case KeyCode::enter: return "\r";
    case KeyCode::tab: return "\t";
    case KeyCode::backspace: return "\x7f";
    case KeyCode::escape: return "\x1b";
    case KeyCode::paste: return std::string(pasted_text(key));
    default: return {};
    }
}

}  // namespace

const Binding<LineEditor> LineEditor::binding_table[] = {
    {keys(ctrl('a'), plain(KeyCode::home)), [](LineEditor& e) { e.cursor_ = 0; }, "^A ^E",
     "go to the start, end of the line (also Home, End)"},
    {keys(ctrl('e'), plain(KeyCode::end)), [](LineEditor& e) { e.cursor_ = e.text_.size(); }},
    {keys(ctrl('b'), plain(KeyCode::left)),
     [](LineEditor& e) { e.cursor_ = previous_cell(e.text_, e.cursor_); }, "^B ^F",
     "go one character left, right (also Left, Right)"},
    {keys(ctrl('f'), plain(KeyCode::right)),
     [](LineEditor& e) { e.cursor_ = next_cell(e.text_, e.cursor_); }},
    {keys(alt('b'), ctrl(KeyCode::left), alt(KeyCode::left)),
     [](LineEditor& e) { e.cursor_ = e.word_left(is_word_character, e.cursor_); }, "M-b M-f",
     "go one word left, right"},
    {keys(alt('f'), ctrl(KeyCode::right), alt(KeyCode::right)),
     [](LineEditor& e) { e.cursor_ = e.word_right(e.cursor_); }},
    {keys(plain(KeyCode::backspace)),
     [](LineEditor& e) { e.replace(previous_cell(e.text_, e.cursor_), e.cursor_); }},
    {keys(plain(KeyCode::del), ctrl('d')),
     [](LineEditor& e) { e.replace(e.cursor_, next_cell(e.text_, e.cursor_)); }},
    {keys(ctrl('u')), [](LineEditor& e) { e.kill(0, e.cursor_); }, "^U ^K ^W",
     "cut to the start, to the end, the previous word"},
    {keys(ctrl('k')), [](LineEditor& e) { e.kill(e.cursor_, e.text_.size()); }},
    {keys(ctrl('w')),
     [](LineEditor& e) { e.kill(e.word_left(is_not_blank, e.cursor_), e.cursor_); }},
    {keys(alt(KeyCode::backspace)),
     [](LineEditor& e) { e.kill(e.word_left(is_word_character, e.cursor_), e.cursor_); }},
    {keys(alt('d'), alt(KeyCode::del)),
     [](LineEditor& e) { e.kill(e.cursor_, e.word_right(e.cursor_)); }, "M-d",
     "cut the next word"},
    {keys(ctrl('y')), [](LineEditor& e) { e.yank(e.cursor_); }, "^Y M-y",
     "paste the cut text; replace it with the text cut before"},
    {keys(alt('y')), [](LineEditor& e) { e.yank_older(); }},
    {keys(ctrl('t')), [](LineEditor& e) { e.transpose(); }, "^T M-t",
     "swap two characters, words"},
    {keys(alt('t')), [](LineEditor& e) { e.transpose_words(); }},
    {keys(alt('u')), [](LineEditor& e) { e.change_case(::towupper, ::towupper); },
     "M-u M-l M-c", "make the word upper case, lower case, capitalized"},
    {keys(alt('l')), [](LineEditor& e) { e.change_case(::towlower, ::towlower); }},
    {keys(alt('c')), [](LineEditor& e) { e.change_case(::towupper, ::towlower); }},
    {keys(ctrl('_')), [](LineEditor& e) { e.undo(); }, "^_ M-r",
     "undo the last change, all changes"},
    {keys(alt('r')), [](LineEditor& e) { e.set(std::string(e.original_text_)); }},
    {keys(ctrl('v')), [](LineEditor& e) { e.next_is_literal_ = true; }, "^V",
     "insert the next key literally"},
    {keys(alt(KeyCode::enter)), [](LineEditor& e) { e.insert("\n"); }},
};

const std::span<const Binding<LineEditor>> LineEditor::bindings{binding_table};

bool LineEditor::press(const Key& key) {
    previous_action_ = std::exchange(last_action_, Action::other);
    if (std::exchange(next_is_literal_, false)) {
        const std::string text = literal_text(key);
        insert(text);
        if (!text.empty()) return true;
    }
    if (key.chord == ctrl('d') && empty()) return false;
    if (perform(bindings, key.chord, *this)) return true;
    if (key.chord == plain(KeyCode::paste))
        insert(pasted_text(key));
    else if (key.chord == plain(KeyCode::tab))
        type("\t");
    else if (key.chord == plain(key.chord.code_point))
        type(key.text);
    else
        return false;
    return true;
}

void LineEditor::insert(std::string_view bytes) { replace(cursor_, cursor_, bytes); }

void LineEditor::set(std::string text) {
    text_ = std::move(text);
    original_text_ = text_;
    cursor_ = text_.size();
    first_visible_ = 0;
    changes_.clear();
    last_action_ = Action::other;
    next_is_literal_ = false;
}

// Replaces a part of the text, as a change that undo() reverts. Puts the cursor after
// `new_text`. If the change has joined two cells there, for example a base and a combining
// mark, puts the cursor at the end of the joined cell.
void LineEditor::replace(std::size_t begin, std::size_t end, std::string_view new_text) {
    if (std::string_view(text_).substr(begin, end - begin) == new_text) {
        cursor_ = end;
        return;
    }
    if (changes_.size() == max_changes) changes_.erase(changes_.begin());
    changes_.push_back({begin, text_.substr(begin, end - begin), new_text.size()});
    text_.replace(begin, end - begin, new_text);
    cursor_ = begin + new_text.size();
    if (cursor_ > 0) cursor_ = next_cell(text_, previous_cell(text_, cursor_));
}

// Text typed by consecutive keys is one change until a new word begins.
void LineEditor::type(std::string_view bytes) {
    last_action_ = Action::type;
    const std::size_t at = cursor_;
    const bool is_word_begin =
        at > 0 && is_word_character(bytes[0]) && !is_word_character(text_[at - 1]);
    insert(bytes);
    if (previous_action_ != Action::type || is_word_begin || changes_.size() < 2) return;
    Change& previous = changes_[changes_.size() - 2];
    if (previous.begin + previous.inserted_size != at) return;
    previous.inserted_size += bytes.size();
    changes_.pop_back();
}

// Puts the cursor after the text that it restores.
void LineEditor::undo() {
    if (changes_.empty()) return;
    const Change change = std::move(changes_.back());
    changes_.pop_back();
    text_.replace(change.begin, change.inserted_size, change.removed_text);
    cursor_ = change.begin + change.removed_text.size();
}

// Consecutive kills become one text for ^Y. A kill of no text ends the series.
void LineEditor::kill(std::size_t begin, std::size_t end) {
    if (begin == end) return;
    last_action_ = Action::kill;
    if (previous_action_ != Action::kill || killed_texts_.empty()) {
        if (killed_texts_.size() == max_killed_texts) killed_texts_.pop_back();
        killed_texts_.emplace_front();
    }
    std::string& killed_text = killed_texts_.front();
    killed_text.insert(end == cursor_ ? 0 : killed_text.size(), text_, begin, end - begin);
    replace(begin, end);
}

// Replaces the text from `begin` to the cursor with the latest killed text.
void LineEditor::yank(std::size_t begin) {
    last_action_ = Action::yank;
    yank_begin_ = begin;
    if (!killed_texts_.empty()) replace(begin, cursor_, killed_texts_.front());
}

// Replaces the yanked text, if the last key yanked, with the text killed before it. Replaces
// the oldest text with the newest.
void LineEditor::yank_older() {
    if (previous_action_ != Action::yank || killed_texts_.empty()) return;
    std::rotate(killed_texts_.begin(), killed_texts_.begin() + 1, killed_texts_.end());
    yank(yank_begin_);
}

// Returns the beginning of the word around or before `at`. `is_part` decides which bytes
// belong to a word.
std::size_t LineEditor::word_left(bool (*is_part)(char), std::size_t at) const {
    while (at > 0 && !is_part(text_[at - 1])) --at;
    while (at > 0 && is_part(text_[at - 1])) --at;
    return previous_cell(text_, at + 1);  // the beginning of the cell around `at`
}

// Returns the end of the word at or after `from`, or of the text if no word follows.
std::size_t LineEditor::word_right(std::size_t from) const {
    std::size_t at = from;
    while (at < text_.size() && !is_word_character(text_[at])) ++at;
    while (at < text_.size() && is_word_character(text_[at])) ++at;
    return at == from ? at : next_cell(text_, at - 1);  // the end of the word's last cell
}

// Swaps the two cells around the cursor, or the last two if it is at the end.
void LineEditor::transpose() {
    const std::size_t middle =
        cursor_ == text_.size() ? previous_cell(text_, cursor_) : cursor_;
    swap_parts(previous_cell(text_, middle), middle, middle, next_cell(text_, middle));
}

// Swaps the word at or after the cursor with the word before it. If no word follows the cursor,
// swaps the last two.
void LineEditor::transpose_words() {
    std::size_t end = word_right(cursor_);
    if (end == text_.size()) end = word_right(word_left(is_word_character, end));
    const std::size_t middle = word_left(is_word_character, end);
    const std::size_t begin = word_left(is_word_character, middle);
    swap_parts(begin, word_right(begin), middle, end);
}

// Exchanges [a, a_end) and [b, b_end). Does nothing if one of them is empty, or if the first
// does not end before the second begins.
void LineEditor::swap_parts(std::size_t a, std::size_t a_end, std::size_t b,
                            std::size_t b_end) {
    if (a == a_end || b == b_end || a_end > b) return;
    const std::string text = text_.substr(b, b_end - b) + text_.substr(a_end, b - a_end) +
                             text_.substr(a, a_end - a);
    replace(a, b_end, text);
}

// Changes the case of the rest of the word at the cursor, or of the next word.
void LineEditor::change_case(wint_t (*first_case)(wint_t), wint_t (*rest_case)(wint_t)) {
    const std::size_t end = word_right(cursor_);
    std::string word;
    bool has_begun = false;
    for (std::size_t at = cursor_; at < end;) {
        const CodePoint point = decode(text_, at);
        const std::size_t size = std::max<std::size_t>(point.size, 1);
        if (point.size == 0)
            word += text_[at];
        else
            append_utf8(
                word, static_cast<char32_t>((has_begun ? rest_case : first_case)(point.value)));
        has_begun = has_begun || is_word_character(text_[at]);
        at += size;
    }
    replace(cursor_, end, word);
}

// Returns the columns from first_visible_ to the cursor. Stops counting at `width`, so that a
// long text costs no more than a row.
int LineEditor::columns_to_cursor(int width) const {
    int sum = 0;
    Cells cells(text_, first_visible_);
    std::optional<Cell> cell = cells.next();
    for (; cell && cell->begin < cursor_ && sum < width; cell = cells.next())
        sum += cell->width;
    return sum;
}

// If the cursor or the text just before it is not visible, scrolls so that the cursor is in the
// middle of the row. So typing does not scroll at every key.
void LineEditor::scroll_to_cursor(int width) {
    if (last_width_ != width) first_visible_ = 0;  // a wider row may show more
    last_width_ = width;
    const bool is_left_text_shown = first_visible_ < cursor_ || first_visible_ == 0;
    if (is_left_text_shown && columns_to_cursor(width) < width) return;
    first_visible_ = cursor_;
    int space = width / 2;
    while (first_visible_ > 0) {
        const std::size_t begin = previous_cell(text_, first_visible_);
        space -= display_width(std::string_view(text_).substr(begin, first_visible_ - begin));
        if (space < 0) break;
        first_visible_ = begin;
    }
}

LineEditor::View LineEditor::view(int width) {
    if (width <= 0) return {};
    scroll_to_cursor(width);
    View view{{}, columns_to_cursor(width)};
    Cells cells(text_, first_visible_);
    std::optional<Cell> cell = cells.next();
    for (; cell && cell->width <= width; cell = cells.next()) {
        append(view.row, cell->text, cell->is_escaped ? Style::escaped : Style::normal);
        width -= cell->width;
    }
    return view;
}

}  // namespace ui
