// The line being typed, edited with readline's keys, by grapheme.
//
// The text is any bytes; what is not printable is shown as its escape (ui/text.hpp) and
// edited as one cell. Pure: it draws nothing and reads nothing.
#pragma once

#include "ui/frame.hpp"
#include "ui/key.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace ui {

class LineEditor {
public:
    // Edits, if the key is one for editing. False: the key means nothing here, and the line is
    // as it was. Offer every key to the editor first: after ^V the next one is text, whatever
    // it is; ^D deletes unless the line is empty; Enter is never its own, M-Enter is. A paste
    // is one edit; a newline at its end is dropped.
    bool press(const Key& key);

    // Whether ^V was pressed: the next key is text, whatever it is.
    bool takes_all() const { return literal_; }

    // Puts bytes at the cursor.
    void insert(std::string_view bytes);

    // The whole text, the cursor at its end.
    void set(std::string text);
    void clear() { set({}); }

    const std::string& text() const { return text_; }
    std::size_t cursor() const { return cursor_; }  // a byte offset into text()
    bool empty() const { return text_.empty(); }

    // What is seen of it in `width` columns, scrolled so that the cursor is seen, and what is
    // before it.
    struct View {
        Row row;
        int cursor = 0;  // column, below `width` if that is not 0
    };
    View view(int width);

private:
    struct Binding;
    static const Binding bindings[];

    void move_home();
    void move_end();
    void move_left();
    void move_right();
    void move_word_left();
    void move_word_right();
    void delete_left();
    void delete_right();
    void kill_left();
    void kill_right();
    void kill_space_word_left();
    void kill_word_left();
    void kill_word_right();
    void yank();
    void transpose();
    void add_newline();
    void await_literal();

    bool press_literal(const Key& key);
    void kill(std::size_t begin, std::size_t end);
    void erase(std::size_t begin, std::size_t end);
    void snap_to_cell();
    std::size_t word_left(bool (*part)(char)) const;
    std::size_t word_right(bool (*part)(char)) const;
    int columns_to_cursor(int width) const;
    void scroll_to_cursor(int width);

    std::string text_;
    std::size_t cursor_ = 0;  // where a cell begins, or the end
    std::size_t left_ = 0;    // the first byte seen
    int width_ = 0;           // of the last view()
    std::string killed_;
    bool killing_ = false;  // the last key killed
    bool joins_ = false;    // the one before, too: their texts are one
    bool literal_ = false;  // ^V was pressed
};

}  // namespace ui
