// The full-screen client: the messages, a status line, and the line being typed. Its bases send
// and receive the messages, and own the terminal; this class handles keys and draws the screen.
#pragma once

#include "app/screen/conversation.hpp"
#include "app/screen/full_screen.hpp"
#include "app/screen/pages.hpp"
#include "app/screen/status_line.hpp"
#include "ev/loop.hpp"
#include "ui/frame.hpp"
#include "ui/key.hpp"
#include "ui/line_editor.hpp"
#include "ui/search.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace yodel {

class ScreenClient final : public FullScreen, private Conversation {
public:
    using Conversation::Options;

    // Throws as FullScreen and Conversation do.
    ScreenClient(ev::Loop& loop, const Options& options);

    // Call it for a signal that ends the program. Closes the connection, and stops the loop
    // once the session has reported the end.
    void quit(int /*signo*/) { Conversation::quit(); }
    // The keys, in the order of the key page.
    static const std::span<const ui::Binding<ScreenClient>> bindings;
    int report();  // also restores the terminal; see Conversation::report()

private:
    static const ui::Binding<ScreenClient> table[];

    // The mode is the first to handle a key, and decides when to return to Typing.
    struct Typing {};       // keys act on the page on top, then on the line, then by `bindings`
    struct MessageSearch {  // searches the messages, or the message on the page on top
        ui::LineEditor text = {};
        bool has_match = false;   // if true, n and N find more matches
        bool has_failed = false;  // the last key found no match
    };
    using Mode = std::variant<Typing, ui::HistorySearch, MessageSearch>;

    // A page that covers the messages, in a window that keys scroll. It is composed again for
    // each drawing, so that it follows changes of its content and of the width.
    struct Page {
        Rows (ScreenClient::*compose)(int width);       // all rows of the page on top
        std::optional<Transcript::Entry> message = {};  // the opened message, on its page
        std::vector<Transcript::Entry> notable = {};    // on the statistics page
        std::optional<std::size_t> selected = {};       // an index in `notable`
        ui::Needle needle = {};                         // its matches are marked
        int top_row = 0;                                // the first visible row
        int found_row = 0;                              // the row of the last match
    };

    void conversation_changed() override { mark_changed(); }
    void line_refused(const std::string& line) override;

    void press(const ui::Key& key) override;
    void suspending() override { session().void_round_trips(); }
    // Nobody sees what arrives, so an endless flood need not be read.
    void stalled(bool is_stalled) override { session().pause(is_stalled); }
    void draw() override;

    // Each may end its mode. Returns false if the key must also have its usual effect.
    static bool press_in(Typing&, const ui::Key&) { return false; }
    bool press_in(ui::HistorySearch& search, const ui::Key& key);
    bool press_in(MessageSearch& find, const ui::Key& key);
    bool press_in(Page& page, const ui::Key& key);
    bool scroll(Page& page, const ui::Chord& chord) const;
    bool find_on_page(ui::Style style, int step = 0);

    // Actions that are too long for the table of bindings.
    void submit();
    void open_message(const Transcript::Entry& of);
    void back_to_end();
    void browse(bool is_older);
    void interrupt();
    void copy();

    // True while a message is selected and no line is being typed. Enter, Up and Down then
    // apply to the message.
    bool is_selecting() { return editor_.empty() && transcript().selected(); }
    Rows key_rows(int width);
    Rows statistics_rows(int width);
    Rows connection_rows(int width);
    Rows message_rows(int width);

    bool has_key_bar() const { return terminal().size().rows >= 12; }
    // Returns the number of rows above the status line, the input line and the key bar.
    int main_height() const { return terminal().size().rows - (has_key_bar() ? 3 : 2); }
    std::vector<Part> status() const;
    std::string hint_text() const;
    std::string progress_hint() const;
    ui::Row input_row(int width, ui::Frame& frame);
    ui::Row search_row(const ui::HistorySearch& search, int width, ui::Frame& frame) const;

    ev::Loop& loop_;
    ui::LineEditor editor_;
    ui::History history_;
    Mode mode_;
    bool is_escaped_ = false;  // Esc was pressed: the next key counts as pressed with Alt
    std::vector<Page> pages_;  // over the messages, the last one on top
    std::string notice_;       // replaces the input line until the next key
    ev::Timer quit_timer_;     // runs while another ^C quits
    ev::Timer clock_timer_;    // fires when a displayed time changes
};

}  // namespace yodel
