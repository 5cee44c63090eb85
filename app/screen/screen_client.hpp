// The client on the whole screen: what was said, a status line, and the line being typed. Here
// is what the keys do and how it is drawn; what is said is the conversation's.
//
// Nothing is drawn by what happens: it marks what changed, and one drawing at most follows at
// the end of the loop's turn, about 60 a second at most.
#pragma once

#include "app/screen/conversation.hpp"
#include "app/screen/pages.hpp"
#include "app/screen/status_line.hpp"
#include "ev/loop.hpp"
#include "ui/history.hpp"
#include "ui/line_editor.hpp"
#include "ui/page.hpp"
#include "ui/terminal.hpp"

#include <optional>
#include <string>

namespace yodel {

class ScreenClient final : private Conversation::User {
public:
    struct Options {
        Conversation::Options conversation;
        ui::Color color = ui::Color::automatic;
        bool hex = false;     // begin with messages in hex
        std::string key_log;  // where the secrets of TLS are written; empty: nowhere
    };

    // Throws std::runtime_error: the terminal can't be used.
    ScreenClient(ev::Loop& loop, const Options& options);

    // Closes the connection; for a signal from outside.
    void leave(int signo);
    // Draws, if something changed and the last drawing is not too fresh.
    void turn_ended();
    // Gives the terminal back, says on standard error how it went, returns the exit status.
    int report();

private:
    struct Binding;
    static const Binding bindings[];

    void conversation_changed() override { changed_ = true; }
    void line_refused(const std::string& line) override;

    Session& session() { return conversation_.session(); }
    ui::Transcript& transcript() { return conversation_.log().transcript(); }

    void enter_terminal();
    void read_keys();
    void press(const ui::Key& key);
    bool press_bound(const ui::Key& key);
    bool press_after_escape(const ui::Key& key);
    bool press_in_search(const ui::Key& key);
    bool press_in_find(const ui::Key& key);
    bool press_among_found(const ui::Key& key);
    bool press_in_page(const ui::Key& key);

    // What the keys do.
    void enter();
    void escape();
    void older_line();
    void newer_line();
    void search_history();
    void page_up() { transcript().scroll_pages(-1); }
    void page_down() { transcript().scroll_pages(1); }
    void to_start() { transcript().scroll_to_start(); }
    void to_end() { transcript().scroll_to_end(); }
    void select_older() { transcript().select_older(); }
    void select_newer() { transcript().select_newer(); }
    void find();
    void toggle_hex() { transcript().show_hex(!transcript().hex()); }
    void next_times();
    void show_statistics();
    void show_connection();
    void show_keys();
    void toggle_hold();
    void toggle_file() { conversation_.toggle_file(); }
    void reconnect() { conversation_.reconnect(); }
    void disconnect() { conversation_.disconnect(); }
    void end_input();
    void interrupt();
    void suspend();
    void redraw() { terminal_.redraw(); }

    void quit();
    void send_line();
    // A message is selected, and the keys are for it.
    bool selecting() { return editor_.empty() && transcript().selected(); }
    Rows key_page(int width);

    void draw();
    void await_display();
    // Of the messages, or the page over them: below are the status line and the input line.
    int main_height() const { return terminal_.size().rows - 2; }
    std::vector<StatusPart> status() const;
    const char* words() const;
    const char* hint() const;
    const char* state_hint() const;
    ui::Row input_row(int width, ui::Frame& frame);
    void schedule_clock();

    ev::Loop& loop_;
    const std::string key_log_;
    // Watched before the terminal is taken, so that it is given back whatever comes meanwhile.
    ev::Signal resized_;
    ev::Signal continued_;
    ev::Signal stopped_;
    ui::Terminal terminal_;
    ui::LineEditor editor_;
    ui::History history_;
    std::optional<ui::HistorySearch> search_;  // while ^R goes on
    std::optional<ui::LineEditor> find_;       // while what to find is typed
    bool find_failed_ = false;      // to find that, or a further place, until the next key
    bool finding_ = false;          // n and N go on to the next place
    std::optional<ui::Page> page_;  // over the messages
    bool escaped_ = false;          // Esc was pressed: the next key is with Alt
    bool changed_ = true;           // since the last drawing
    bool entering_ = false;         // the terminal, after a stop
    ev::Timer quit_asked_;          // runs while another ^C quits
    ev::Watch keyboard_;
    ev::Timer escape_;   // runs while an ESC may be a key or the beginning of one
    ev::Watch display_;  // while the terminal has yet to take what was drawn
    ev::Timer frame_;    // while it runs, the last drawing is too fresh
    ev::Timer clock_;    // draws what shows the time
    Conversation conversation_;
};

}  // namespace yodel
