// The full-screen client on a pseudo-terminal, in virtual time, as a user sees it.
#pragma once

#include "app/screen/screen_client.hpp"
#include "tests/app/session_script.hpp"
#include "tests/support/blocked.hpp"
#include "tests/support/emulator.hpp"
#include "tests/support/text.hpp"
#include "tests/ui/locale.hpp"

namespace test {

// Returns what a terminal sends for a key, or text.
inline std::string bytes_of(const std::string& key) {
    static const std::map<std::string, std::string> names{
        {"Enter", "\r"},          {"Esc", "\x1b"},       {"Up", "\x1b[A"},
        {"Down", "\x1b[B"},       {"Dn", "\x1b[B"},      {"PgUp", "\x1b[5~"},
        {"PgDn", "\x1b[6~"},      {"M-Up", "\x1b[1;3A"}, {"M-Down", "\x1b[1;3B"},
        {"F1", "\x1bOP"},         {"F2", "\x1bOQ"},      {"F3", "\x1bOR"},
        {"F4", "\x1bOS"},         {"F5", "\x1b[15~"},    {"F6", "\x1b[17~"},
        {"F7", "\x1b[18~"},       {"F8", "\x1b[19~"},    {"F9", "\x1b[20~"},
        {"Back", "\x7f"},         {"Space", " "},        {"Paste", "\x1b[200~"},
        {"EndPaste", "\x1b[201~"}};
    if (const auto name = names.find(key); name != names.end()) return name->second;
    if (key.size() == 2 && key[0] == '^') return {static_cast<char>(key[1] & 0x1f)};
    if (key.starts_with("M-")) return "\x1b" + bytes_of(key.substr(2));
    return bytes(key);
}

// A script of a client. PORT stands for the port of the peer. Each check is repeated every 20
// ms until it holds, for a second at most. Settings: escapes; hex; key log NAME; log to PATH;
// sandbox X; --ws; size 5x20; to a missing socket; to a missing host. More verbs:
//
//     keys X Y         presses keys: Enter, M-Up, ^C, or text
//     ECHO X           sends a line, and receives its echo
//     shows X, hides X the screen contains X, or does not
//     last X           the last row, or the row above the key bar, is X
//     cursor N         the column of the cursor, counted from 0
//     row N X          this row, counted from 1, begins with X
//     bad X, not bad X a row of the page begins with X, and its value is in color, or not
//     width N X        with N columns, the status line is X
//     writes X         the program has written these bytes, since the last keys
//     resize 5x20      resizes the terminal
//     continue         continues after a suspension
//     ^Z cannot stop the test
//     stops            the loop stops within an hour
//     status N         what the end reports
class ScreenScript : public SessionScript {
public:
    explicit ScreenScript(const char* locale = "C.UTF-8", const std::string& size = "24x80")
        : locale_(locale) {
        resize(size);
        setting("size", [this](const std::string& text) { resize(text); });
        setting("to a missing socket",
                [this](const std::string&) { options.endpoint.path = "/missing"; });
        setting("to a missing host", [this](const std::string&) { host_ = "no.such"; });
        setting("escapes", [this](const std::string&) { with_.has_escapes = true; });
        setting("hex", [this](const std::string&) { with_.is_hex = true; });
        setting("key log", [this](const std::string& name) { with_.key_log = name; });
        setting("sandbox", [this](const std::string& state) { with_.sandbox = state; });
        setting("--ws", [this](const std::string&) {
            options.websocket = {.host = "a"};
            options.framing = yodel::websocket_framing();
        });
        setting("log to",
                [this](const std::string& name) { with_.log = yodel::JournalFile(name); });
        add_checks();
        on("keys", [this](const std::string& keys) {
            std::istringstream words(keys);
            std::string typed;
            for (std::string word; words >> word;) typed += bytes_of(word);
            type(typed);
        });
        on("ECHO", [this](const std::string& line) {
            play_steps("keys " + line + " Enter; peer echoes; shows ‹ " + line);
        });
        on("resize", [this](const std::string& text) {
            resize(text);
            std::raise(SIGWINCH);
        });
        on("continue", [this](const std::string&) { client_->continued(); });
        on("^Z cannot stop the test",
           [](const std::string&) { std::signal(SIGTSTP, SIG_IGN); });
    }

protected:
    void type(std::string typed) {
        written_.clear();
        for (; !typed.empty(); turn()) terminal_.type(typed);
        for (int i = 0; i < 2; ++i) turn();
    }
    // Lets 20 ms pass, more than the time between two drawings.
    void turn() {
        const ev::Time end = loop.time + std::chrono::milliseconds(20);
        while (loop.time < end) {
            if (loop.step(end - loop.time)) continue;
            stopped_ = true;
            loop.time = end;
        }
        client_->turn_ended();
        const std::string drawn = terminal_.take();
        emulator_.show(drawn);
        written_ += drawn;
    }

    Emulator emulator_{{}};
    yodel::ScreenClient::Options with_;
    std::optional<yodel::ScreenClient> client_;

private:
    void add_checks() {
        on("shows", [this](const std::string& part) {
            check([&] { return emulator_.shows(filled(part)); });
        });
        on("hides", [this](const std::string& part) {
            turn();
            check([&] { return !emulator_.shows(part); });
        });
        on("last", [this](const std::string& row) {
            check([&] {
                std::string all = "\n" + emulator_.screen();
                if (const std::size_t bar = all.rfind("\nF1 Keys"); bar != all.npos)
                    all.resize(bar + 1);
                return all.ends_with("\n" + filled(row) + "\n");
            });
        });
        on("cursor", [this](const std::string& column) {
            REQUIRE(std::to_string(emulator_.cursor_column()) == column);
        });
        on("row", [this](const std::string& text) {
            const std::string begin = filled(text.substr(text.find(' ') + 1));
            check([&] { return emulator_.row(std::stoi(text) - 1).starts_with(begin); });
        });
        for (const bool wanted : {true, false})
            on(wanted ? "bad" : "not bad", [this, wanted](const std::string& fact) {
                int row = 0;
                while (row < 40 && !emulator_.row(row).starts_with(filled(fact))) ++row;
                REQUIRE(row < 40);
                REQUIRE(emulator_.cell(row, yodel::fact_name_width).colored == wanted);
            });
        on("width", [this](const std::string& text) {
            resize("24x" + text);
            std::raise(SIGWINCH);
            for (int i = 0; i < 2; ++i) turn();  // the emulator had cut the old rows
            const std::string status = filled(text.substr(text.find(' ') + 1));
            check([&] { return emulator_.row(21) == status; });
        });
        on("writes", [this](const std::string& text) {
            check([&] { return contains(written_, bytes(text)); });
        });
        on("stops", [this](const std::string&) {
            for (const ev::Time end = loop.time + std::chrono::hours(1); !stopped_; turn())
                REQUIRE(loop.time < end);
        });
        on("status", [this](const std::string& status) {
            REQUIRE(std::to_string(client_->report()) == status);
        });
    }
    void begin() override {
        with_.session = with_port(options, port());
        if (!host_.empty()) with_.session.endpoint.host = host_;
        with_.is_quiet = true;
        client_.emplace(loop, with_);
        for (int i = 0; i < 20 && !emulator_.shows(" up 00:"); ++i) turn();
    }
    // Returns the text without quotes, and with the port of the peer.
    std::string filled(std::string text) const {
        std::erase(text, '"');
        const std::size_t at = text.find("PORT");
        if (at != text.npos) text.replace(at, 4, with_.session.endpoint.service);
        return text;
    }
    void resize(const std::string& size) {
        const int rows = std::stoi(size);
        const int columns = std::stoi(size.substr(size.find('x') + 1));
        terminal_.resize(static_cast<unsigned short>(rows),
                         static_cast<unsigned short>(columns));
        emulator_.set_size({rows, columns});
    }
    void check(const std::function<bool()>& condition) {
        for (int i = 0; i < 50 && !condition(); ++i) turn();
        CAPTURE(emulator_.screen());
        REQUIRE(condition());
    }

    const Locale locale_;
    const OnTerminal terminal_{"xterm-256color"};
    std::string host_;
    std::string written_;
    bool stopped_ = false;
};

}  // namespace test
