// An editor for the input line, with readline's keys. The cursor moves by graphemes.
//
// The text may contain any bytes. Unprintable bytes are shown as an escape (ui/text.hpp),
// which is edited as one cell. The editor draws nothing and reads nothing.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"

#include <wctype.h>

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ui {

class LineEditor {
public:
    // Edits the line if the key is bound or types text, else returns false. Pass every key to
    // the editor first, because after ^V it inserts any key as text, and ^D deletes unless the
    // line is empty. It handles M-Enter, but Enter only after ^V. A paste is one edit; a
    // newline at its end is dropped. ^_ undoes the last change, up to 1000 times; M-r undoes
    // all changes since set().
    bool press(const Key& key);

    // True after ^V: the editor inserts the next key as text, even if it is bound.
    bool next_is_literal() const { return next_is_literal_; }

    void insert(std::string_view bytes);
    void set(std::string text);  // puts the cursor at its end
    void clear() { set({}); }

    const std::string& text() const { return text_; }
    std::size_t cursor() const { return cursor_; }  // a byte offset into text()
    bool empty() const { return text_.empty(); }

    // Returns the part of the text that is visible in `width` columns. Scrolls to keep the
    // cursor and some text before it visible.
    struct View {
        Row row;
        int cursor = 0;  // column, less than `width` unless that is 0
    };
    View view(int width);

    // The keys of press(), in the order for a help page. Self-explanatory keys (text keys,
    // arrows, Backspace, Delete) and M-Enter, whose effect depends on the caller, have no help.
    static const std::span<const Binding<LineEditor>> bindings;

private:
    static const Binding<LineEditor> table[];

    struct Change {
        std::size_t begin;
        std::string removed_text;
        std::size_t inserted_size;
    };
    enum class Action { other, type, kill, yank };

    void replace(std::size_t begin, std::size_t end, std::string_view new_text = {});
    void type(std::string_view bytes);
    void undo();
    void kill(std::size_t begin, std::size_t end);
    void yank(std::size_t begin);
    void yank_older();
    void transpose();
    void transpose_words();
    void swap_parts(std::size_t a, std::size_t a_end, std::size_t b, std::size_t b_end);
    void change_case(wint_t (*first_case)(wint_t), wint_t (*rest_case)(wint_t));
    std::size_t word_left(bool (*is_part)(char), std::size_t at) const;
    std::size_t word_right(std::size_t from) const;
    int columns_to_cursor(int width) const;
    void scroll_to_cursor(int width);

    std::string text_;
    std::string original_text_;      // the text passed to set()
    std::size_t cursor_ = 0;         // at the beginning of a cell or the end of the text
    std::size_t first_visible_ = 0;  // offset of the first visible byte
    int width_ = 0;                  // width of the last view()
    static constexpr std::size_t max_changes = 1000;
    static constexpr std::size_t max_killed = 10;

    std::vector<Change> changes_;             // oldest first
    std::deque<std::string> killed_texts_;    // newest first
    std::size_t yank_begin_ = 0;              // beginning of the last yank
    Action last_action_ = Action::other;      // action of the last key
    Action previous_action_ = Action::other;  // action of the key before it
    bool next_is_literal_ = false;            // ^V was pressed
};

}  // namespace ui
