// An editor for the input line, with keys of readline. It draws nothing and reads nothing.
//
// The text may contain any bytes. Unprintable bytes are shown as an escape. The cursor moves by
// cells: a grapheme or an escape (ui/text.hpp).
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
    // Handles the key if it is bound or types text, else returns false. Pass a key to the
    // editor before other bindings, because it may be text after ^V, and ^D deletes unless the
    // line is empty. M-Enter is bound, but Enter only has an effect after ^V. A paste is one
    // change; a newline at its end is dropped. ^_ undoes the last change, up to 1000 times. M-r
    // undoes all changes since set().
    bool press(const Key& key);

    // True after ^V: the next key inserts its character, if it has one, even if it is bound.
    bool next_is_literal() const { return next_is_literal_; }

    void insert(std::string_view bytes);
    void set(std::string text);  // puts the cursor at its end
    void clear() { set({}); }

    const std::string& text() const { return text_; }
    std::size_t cursor() const { return cursor_; }  // a byte offset into text()
    bool empty() const { return text_.empty(); }

    struct View {
        Row row;
        int cursor = 0;  // column; less than `width` if that is positive
    };
    // Returns the part of the text that is visible in `width` columns. Scrolls to keep the
    // cursor and some text before it visible.
    View view(int width);

    // The keys of press() that do not type text, in the order for a help page. M-Enter has no
    // help here, because its meaning depends on the caller.
    static const std::span<const Binding<LineEditor>> bindings;

private:
    static const Binding<LineEditor> binding_table[];

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
    int last_width_ = 0;             // of view()
    static constexpr std::size_t max_changes = 1000;
    static constexpr std::size_t max_killed_texts = 10;

    std::vector<Change> changes_;             // oldest first
    std::deque<std::string> killed_texts_;    // newest first
    std::size_t yank_begin_ = 0;              // beginning of the last yank
    Action last_action_ = Action::other;      // action of the last key
    Action previous_action_ = Action::other;  // action of the key before it
    bool next_is_literal_ = false;            // ^V was pressed
};

}  // namespace ui
