// The client on the whole screen: a status line, what was said, and the line being typed.
#pragma once

#include "app/session.hpp"
#include "app/tally.hpp"
#include "ev/loop.hpp"
#include "ui/history.hpp"
#include "ui/line_editor.hpp"
#include "ui/terminal.hpp"
#include "ui/transcript.hpp"

#include <optional>
#include <string>
#include <vector>

namespace yodel {

class ScreenClient final : private Session::User {
public:
    // Throws std::runtime_error: the terminal can't be used.
    ScreenClient(ev::Loop& loop, Session::Options options);

    // Closes the connection; for a signal from outside.
    void leave();
    // Draws, if something changed and the last drawing is not too fresh.
    void turn_ended();
    // Gives the terminal back, says on standard error how it went, returns the exit status.
    int report();

private:
    void session_changed() override;
    void session_answered(const Message& message, const Reply& reply) override;
    void session_lost(const Message& message) override;
    void session_unasked(std::string_view payload) override;

    struct Binding;
    static const Binding bindings[];

    void read_keys();
    void press(const ui::Key& key);
    void send_line();
    void older_line();
    void newer_line();
    void interrupt();
    void end_input();
    void suspend();
    void redraw() { terminal_.redraw(); }
    void reconnect();
    void disconnect();
    void page_up() { transcript_.scroll_pages(-1); }
    void page_down() { transcript_.scroll_pages(1); }
    void to_start() { transcript_.scroll_to_start(); }
    void to_end() { transcript_.scroll_to_end(); }
    void show_keys();

    void tell_state();
    void note(std::string text, ui::Style style = ui::Style::dim);
    void record(ui::Span label, std::string_view body, ui::Row suffix = {});
    void draw();
    void schedule_clock();
    ui::Row status(int width) const;
    std::vector<ui::Span> status_parts() const;
    std::string state_words() const;

    ev::Loop& loop_;
    ui::Terminal terminal_;
    ui::LineEditor editor_;
    ui::History history_;
    ui::Transcript transcript_;
    Tally tally_;
    std::optional<ev::Duration> last_round_trip_;
    Session::State told_state_ = Session::State::idle;  // by the transcript
    bool told_half_closed_ = false;
    ev::Timer quit_asked_;  // runs while another ^C quits
    bool changed_ = true;   // since the last drawing
    ev::Watch keyboard_;
    ev::Signal resized_;
    ev::Signal continued_;
    ev::Timer frame_;  // while it runs, the last drawing is too fresh
    ev::Timer clock_;  // draws what tells the time anew
    Session session_;
};

}  // namespace yodel
