// A terminal emulator (libvterm): the screen that a user sees.
#pragma once

#include <vterm.h>

#include <string>
#include <string_view>

namespace test {

class Emulator {
public:
    struct Size {
        int rows = 24;
        int columns = 80;
    };
    struct Cell {
        bool reverse = false;
        bool colored = false;  // not in the default foreground color
    };

    explicit Emulator(Size size) : vterm_(vterm_new(size.rows, size.columns)) {
        static constexpr VTermScreenCallbacks callbacks = [] {
            VTermScreenCallbacks table{};
            table.settermprop = on_property;
            return table;
        }();
        vterm_set_utf8(vterm_, 1);
        vterm_output_set_callback(vterm_, on_answer, this);
        vterm_screen_set_callbacks(screen_, &callbacks, this);
        vterm_screen_enable_altscreen(screen_, 1);
        vterm_screen_reset(screen_, 1);
    }
    ~Emulator() { vterm_free(vterm_); }
    Emulator(const Emulator&) = delete;
    Emulator& operator=(const Emulator&) = delete;

    void show(std::string_view bytes) { vterm_input_write(vterm_, bytes.data(), bytes.size()); }
    void set_size(Size size) { vterm_set_size(vterm_, size.rows, size.columns); }
    Size size() const {
        Size size;
        vterm_get_size(vterm_, &size.rows, &size.columns);
        return size;
    }

    std::string row(int row) const {  // without trailing blanks
        char bytes[1 << 14];
        const VTermRect rect{row, row + 1, 0, size().columns};
        const std::string text(bytes,
                               vterm_screen_get_text(screen_, bytes, sizeof bytes, rect));
        return text.substr(0, text.find_last_not_of(' ') + 1);
    }
    std::string screen() const {  // all rows, with a newline after each
        std::string text;
        for (int at = 0; at < size().rows; ++at) text += row(at) + '\n';
        return text;
    }
    bool shows(std::string_view text) const { return screen().find(text) != text.npos; }
    Cell cell(int row, int column) const {
        VTermScreenCell seen{};
        vterm_screen_get_cell(screen_, {row, column}, &seen);
        return {seen.attrs.reverse != 0, !VTERM_COLOR_IS_DEFAULT_FG(&seen.fg)};
    }
    int cursor_column() const {
        VTermPos at{};
        vterm_state_get_cursorpos(vterm_obtain_state(vterm_), &at);
        return at.col;
    }
    bool cursor_shown() const { return cursor_shown_; }
    bool alternate_screen() const { return alternate_; }
    const std::string& title() const { return title_; }
    const std::string& answers() const { return answers_; }  // bytes sent to the program

private:
    static void on_answer(const char* bytes, std::size_t size, void* self) {
        static_cast<Emulator*>(self)->answers_.append(bytes, size);
    }
    static int on_property(VTermProp property, VTermValue* value, void* self) {
        auto& emulator = *static_cast<Emulator*>(self);
        if (property == VTERM_PROP_CURSORVISIBLE) emulator.cursor_shown_ = value->boolean != 0;
        if (property == VTERM_PROP_ALTSCREEN) emulator.alternate_ = value->boolean != 0;
        if (property == VTERM_PROP_TITLE) take(emulator.title_, value->string);
        return 1;
    }
    // Stores a string property, which newer versions pass in pieces.
    template <class String>
    static void take(std::string& text, const String& value) {
        if constexpr (std::is_pointer_v<String>) {
            text = value;
        } else {
            if (value.initial) text.clear();
            text.append(value.str, value.len);
        }
    }

    VTerm* const vterm_;
    VTermScreen* const screen_ = vterm_obtain_screen(vterm_);
    bool cursor_shown_ = true;
    bool alternate_ = false;
    std::string title_;
    std::string answers_;
};

}  // namespace test
