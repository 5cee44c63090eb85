// The keys of the full-screen client.

#include "tests/app/screen/screen_script.hpp"
#include "ui/key_parser.hpp"

using namespace yodel;
using test::OnTerminal;
using test::play_each;
using test::ScreenScript;
using ui::Chord;

namespace {

// Returns the keys named on the F1 page, such as M-x ^X M-Up Enter.
std::vector<Chord> named_keys(const char* keys) {
    std::vector<Chord> chords;
    std::istringstream words(keys);
    for (std::string word; words >> word;) {
        if (word == "n" || word == "N" || word == "Quit") continue;  // n and N: of the search
        ui::KeyParser parser;
        parser.feed(test::bytes_of(word));
        parser.expire();
        chords.push_back(parser.next().value().chord);
    }
    return chords;
}

bool has(const std::vector<Chord>& chords, const Chord& chord) {
    return std::find(chords.begin(), chords.end(), chord) != chords.end();
}

}  // namespace

TEST_CASE("the key page names exactly the handled keys, each with one meaning") {
    std::vector<Chord> seen;
    const auto check = [&seen](const auto& bindings, bool complete) {
        std::vector<Chord> named;  // by the help of a group of bindings
        std::vector<Chord> missing;
        for (const auto& each : bindings) {
            if (each.help) {
                CHECK(missing.empty());
                named = named_keys(each.key_names);
                missing = named;
            }
            for (const Chord& chord : each.chords) {
                if (named.empty() || chord == Chord()) continue;
                CAPTURE(each.key_names);
                if (complete) CHECK(has(named, chord));
                CHECK_FALSE(has(seen, chord));
                seen.push_back(chord);
                std::erase(missing, chord);
            }
        }
        CHECK(missing.empty());
    };
    check(ScreenClient::bindings, true);
    check(ui::LineEditor::bindings, false);
}

TEST_CASE("a terminal that cannot show a screen is refused") {
    const struct {
        const char* type;
        bool can_use;
        int null_fd = -1;  // this descriptor is /dev/null
    } rows[] = {{"xterm-256color", true},
                {"xterm-256color", false, 0},
                {"vt100", true},
                {"xterm-256color", false, 1},
                {"", false},
                {nullptr, false},
                {"dumb", false},
                {"no-such-type", false}};
    for (const auto& row : rows) {
        INFO((row.type ? row.type : "none"));
        bool found = !row.can_use;
        {
            const OnTerminal terminal(row.type);
            const bufio::Fd null(::open("/dev/null", O_RDWR));
            if (row.null_fd >= 0) ::dup2(null.get(), row.null_fd);
            found = can_use_screen_or_warn();
        }
        CHECK(found == row.can_use);
    }
}

TEST_CASE("each key works as its help explains") {
    play_each<ScreenScript>({
        {"a line, its echo and the status",
         R"(shows connected to; last "F1 help; ^D quits; Enter sends a line; its echo is timed"
            keys hello Enter; shows 1…; last ; peer echoes; shows ms ‹ hello ✓
            shows  › hello; row 22 ● up 00:00 tcp://127.0.0.1:; shows 1↑ 1↓ 0… 0✗ 0?)"},
        {"the last eight round trips",
         "9 times ( ECHO a ); shows ms ████████; hides █████████"},
        {"history", R"(ECHO first; ECHO second; keys Up; last second; keys ^P; last first
            keys Down; last second; keys ^N; last ; keys ^P ^P; last first; keys ^C; keys ^P
            last second)"},
        {"the search of the history",
         R"(ECHO first; ECHO second; keys ^R
            last "search: search the history; ^R again finds an older line; Esc goes back"
            keys ^G; last ; keys ^R fir; last search: fir - first; keys ^E; last first
            keys ^U ^R nowhere; last not in the history: nowhere - second; keys ^G; last
            keys ^R sec; keys Esc; last ; keys ^R sec; keys ^C; last "^C again to quit")"},
        {"editing", R"(keys one Space two; cursor 7; keys ^W three ^A < ^E >; last <one three>
            keys ^B ^B ^K ^Y ^F; last <one three>; keys ^U; shows F1 help
            keys a M-Enter b ^V ^A; shows a^Jb^A  )"},
        {"a newline that separates messages",
         R"(keys a M-Enter b Enter; peer echoes; shows ‹ b ✓; shows 2↑ 2↓; keys M-Up Enter
            shows Message 2; shows sent        )"},
        {"a paste, whose last newline is dropped",
         R"(keys Paste one\rtwo\r EndPaste !; shows one^Jtwo!  ; shows 2 lines: Enter sends 2 messages; shows 0↑; keys Back Enter
            peer got one\ntwo\n; shows 2↑)"},
        {"a paste whose end does not arrive",
         "keys Paste half; hides half; +2s; last half; keys ^C; last \"^C again to quit\""},
        {"counting the replies to a text of several lines",
         R"(keys a M-Enter b Enter; last 0 of 2 answered; peer answers a; last 1 of 2 answered
            peer answers b; last )"},
        {"a message without its newline",
         R"(peer sends prompt>; +2s; last a message is incomplete after 7 bytes; peer sends \n
            shows « prompt>; shows F1 help)"},
        {"a text of SMTP",
         R"(-f smtp; --expect any; peer sends 220 hi\r\n; shows 220 hi; keys DATA Enter
            peer got DATA\r\n; peer sends 354 go\r\n
            last "M-Enter begins a new line; a line with only a dot ends the text"
            keys a M-Enter . Enter; peer got a\r\n.\r\n)"},
        {"selecting and opening", R"(ECHO first; ECHO second; keys M-Up
            last "Enter opens it; Esc goes back; Up Down select; M-w copies it"
            keys Enter; last "Esc goes back; e edits it; M-/ searches; M-w copies; Up Down PgUp PgDn scroll"; shows Message 2
            shows Received: identical; shows 73 65 63 6f 6e 64
            keys Down Up PgDn PgUp Enter; shows ‹ first ✓; last "Enter opens it; Esc goes back; Up Down select; M-w copies it"
            keys Up Up Enter; shows Message 1; keys ^G; hides Message; keys Down Down Enter
            shows Message 2; keys Esc; keys M-Up third Enter
            peer got third\n; last )"},
        {"a note is selected, but not opened",
         R"(shows connected; keys M-Up; last "Esc goes back; Up Down select; M-w copies it"
            keys Enter; shows - connected; keys Esc; shows F1 help)"},
        {"an open message shows its reply when it comes",
         R"(keys hello Enter M-Up Enter; shows reply       none yet; peer echoes
            shows Received: identical)"},
        {"an open message is edited and sent again",
         R"(ECHO first; ECHO second; keys M-Up Up Up Enter; shows Message 1; keys e; hides Message
            last first; keys ! Enter; peer got first!\n; shows › first!; hides HELD)"},
        {"an unsolicited message is edited, with unsafe bytes",
         R"(peer answers \x1b[m; shows « ^[[m; keys M-Up Enter; shows Unsolicited; keys e; last ^[[m)"},
        {"a message is edited as text with escapes",
         R"(escapes; -f nul; keys a\\n\\\\ Enter; peer got a\n\\\x00; keys M-Up Enter e; last a\n\\)"},
        {"a message that is too long to edit",
         R"(peer answers x{16777217}; shows 16777217 bytes; keys M-Up Enter e
            last "the message is too long for the line: 16777217 bytes; the limit is 16777216"; keys a; last a)"},
        {"searching",
         R"(ECHO first; ECHO second; keys M-/; last "find: Enter searches; Esc goes back"
            keys first; cursor 11; keys Enter; shows HELD; last "n older, N newer; Esc goes back to the end"
            keys n; last "n older, N newer; Esc goes back to the end"
            keys n; last "no more matches; n older, N newer; Esc goes back"
            keys N; last "n older, N newer; Esc goes back to the end"; keys N N
            last "no more matches; n older, N newer; Esc goes back"; keys x; last x
            keys ^U M-/ nowhere Enter; last not found: nowhere; keys Enter Back; last find: nowher
            keys M-/ given Space up; last find: given up; keys ^C kept; last kept
            keys M-/ Enter; last kept; keys M-/ a; keys Esc; last kept; hides again to quit)"},
        {"searching an open message",
         R"(size 8x80; ECHO first; keys M-Up Enter; shows Message 1; hides 00000000; keys M-/ irst Enter
            last "n next, N previous; Esc goes back"; keys n; shows 00000000  66; keys n
            last "no more matches; n next, N previous; Esc goes back"; keys M-/ none Enter
            last not found: none; keys Esc; last "Esc goes back; e edits it; M-/ searches; M-w copies; Up Down PgUp PgDn scroll"
            keys Esc; hides Message; last "Enter opens it; Esc goes back; Up Down select; M-w copies it")"},
        {"messages among the statistics",
         R"(ECHO one; keys M-s; last "Esc goes back; Up Down select a message; PgUp PgDn scroll"
            keys M-Up; last "Enter opens it; Esc goes back; Up Down select"; shows Slowest
            keys Down Up Up Enter; shows Received: identical; keys M-w
            last copied, if the terminal allows it (OSC 52); keys Esc; hides Received
            last "Enter opens it; Esc goes back; Up Down select"; keys Enter e; hides Slowest
            last one)"},
        {"a selected message scrolls into view",
         "size 8x80; ECHO one; keys M-s; hides Slowest; keys Down; shows Slowest"},
        {"a search beside a typed line",
         R"(ECHO Apple; keys half M-/ apple Enter; last "n older, N newer; Esc goes back to the end"
            keys n n; last "no more matches; n older, N newer; Esc goes back"; keys Esc; last half
            hides HELD)"},
        {"the view in hex",
         "ECHO first; keys M-h; shows 66 69 72 73 74; keys M-h; shows ‹ first"},
        {"hex from the start", "hex; keys first Enter; shows 66 69 72 73 74"},
        {"timestamps", R"(ECHO first; keys F6; shows  +0.; keys F6; hides  +0.; shows › first
                          hides  › first; keys F6; shows  › first)"},
        {"statistics", R"(ECHO first; keys M-s; shows Round trips; shows echoed              1
            shows Over time, one column per 10s; keys Esc; shows ‹ first; hides Round trips)"},
        {"the connection",
         R"(key log /tmp/keys; shows  KEYLOG ; keys M-i; shows address     127.0.0.1:
            shows secrets     written to /tmp/keys; keys Enter; hides secrets)"},
        {"disconnecting and reconnecting",
         R"(keys F8; shows closed: disconnected; keys later Enter
            shows 1 queued; keys F5; peer got later\n; shows ● up; hides queued)"},
        {"holding and scrolling", R"(keys F7; shows HELD; hides below; keys F7; hides HELD
            30 times ( keys line Enter ); shows 30↑; keys PgUp; shows HELD; shows below
            keys M-<; shows connected to; keys PgDn; hides connected to; keys M->; hides below
            keys M-<; keys Esc; hides HELD)"},
        {"a line sent from above returns to the end",
         "30 times ( keys a Enter ); keys M-< b Enter; hides HELD; shows › b"},
        {"a transcript", R"(log to /dev/null; shows  FILE ; keys M-o; hides FILE
                            shows stopped writing the transcript)"},
        {"a transcript that is full",
         R"(log to /dev/full; shows could not write all; hides FILE)"},
        {"the key page",
         R"(-f line; keys F1; row 1 Keys; row 2 Quit        ^D on; row 22 ● up
            last "Esc goes back; Up Down PgUp PgDn scroll"; shows Up Dn ^P ^N go through the history; row 24 F1 Keys; keys PgDn
            shows M-Enter     a newline, which begins a new message with this framing; keys PgDn; shows … 
            keys PgDn PgDn PgDn PgDn; shows this cell's share; keys x; last x; hides on an empty line)"},
        {"scrolling a page by rows, by windows and to its ends",
         R"(size 6x80; keys F1; row 1 Keys; keys Down; row 1 Quit; keys Up Up; row 1 Keys
            keys PgDn; row 2 Up Dn; keys PgUp; row 1 Keys; keys PgDn PgUp PgUp; row 1 Keys
            keys M-> PgDn; row 4 ░▒▓█; keys Up; row 4 █; resize 9x80; row 7 ░▒▓█; keys M-<
            row 1 Keys; resize 3x80; keys PgDn; row 1 Quit; keys PgUp; row 1 Keys)"},
        {"the key page for other framings",
         "-f len4; keys M-? PgDn; shows M-Enter     a newline in the message"},
        {"redrawing", R"(ECHO first; keys ^L; writes \x1b[2J; shows ‹ first; keys M-s ^L
            writes \x1b[2J; shows Round trips; keys M-/ first ^L; writes \x1b[2J; last find: first)"},
        {"copying",
         R"(keys M-w; last "M-Up selects; M-w then copies the message"; keys x; last x
            keys Back; ECHO rm; keys M-Up M-w; last copied, if the terminal allows it (OSC 52)
            writes \x1b]52;c;cm0=\x1b\\; keys M-h M-w; writes \x1b]52;c;NzIgNmQ=\x1b\\)"},
        {"copying too much", R"(keys x{75000} Enter M-Up M-w
                                last "not copied; the text exceeds the limit of 74991 bytes")"},
        {"a key without a meaning", R"(keys M-z; last "this key does nothing; F1 lists the keys"
                                       keys x; last x)"},
    });
}

TEST_CASE("Esc and then a key acts as the M- key, however slowly it is typed") {
    play_each<ScreenScript>({
        {"a letter", "keys Esc; last \"Esc- press a key; it then acts as with Alt; F1 lists "
                     "the keys; Esc cancels\"; "
                     "keys s; shows Messages; keys Esc; hides Messages; shows F1 help"},
        {"a key of the editor",
         R"(keys one Space two Esc; last Esc- one two; keys b >; last one >two
                                   keys Esc; keys Enter !; shows one >^J!two  )"},
        {"an arrow", "ECHO first; keys Esc; keys Up; shows Enter opens it"},
        {"Esc leaves it", "keys Esc; keys Esc; shows F1 help; keys s; last s"},
        {"a key without a binding for it", "keys Esc; keys z; last z"},
        {"a paste", "keys Esc; keys Paste pasted EndPaste; last pasted"},
    });
}

TEST_CASE("a second ^C quits, whatever the first one ended") {
    play_each<ScreenScript>({
        {"a line",
         R"(keys half; last half; keys ^C; last "^C again to quit"; keys ^C; stops; status 0)"},
        {"an empty line", R"(keys ^C ^C; stops; status 0)"},
        {"after Esc", "keys Esc; keys ^C ^C; stops; status 0"},
        {"with Alt", "keys M-^C ^C; stops; status 0"},
        {"a page", "keys F1 ^C ^C; stops; status 0"},
        {"the search of the history", "keys ^R some ^C ^C; stops; status 0"},
        {"a search", "keys M-/ some ^C ^C; stops; status 0"},
        {"a message in flight", "keys hello Enter ^C ^C; stops; status 0"},
        {"not after a key in between",
         R"(keys ^C; last "^C again to quit"; keys x ^C; last "^C again to quit"
                                          keys x; last x)"},
        {"not as a literal character",
         "keys ^V ^C; last ^C; keys ^C; last \"^C again to quit\""},
        {"not after two seconds",
         R"(keys ^C; +2s; shows F1 help; keys ^C; last "^C again to quit")"},
        {"connecting and waiting end with the first",
         R"(to nobody; --retry forever; shows refused; keys ^C; shows closed: cannot connect
            keys x ^C ^C; stops; status 7)"},
        {"but not an open connection", "keys ^C x; shows ● up"},
    });
}

TEST_CASE("^D quits once all replies have arrived") {
    play_each<ScreenScript>({
        {"at once", "shows connected; keys ^D; peer got the end; shows closing; peer ends; "
                    "stops; status 0"},
        {"after a reply",
         R"(keys hello Enter ^D; shows closing; peer echoes; peer ends; stops; status 0)"},
        {"not on a line", "keys ab ^A ^D; last b; shows ● up"},
        {"a line sent meanwhile returns",
         R"(keys hello Enter ^D; shows closing; keys more Enter; last more
                                             shows not sent)"},
    });
}

TEST_CASE("the screen is readable at every size, and resumes after a suspension") {
    play_each<ScreenScript>({
        {"small",
         R"(size 2x20; row 1 ● up 00:0; row 2 F1 help; resize 1x20; keys half; row 1 half
                     resize 3x20; row 1 127.0.0.1:; row 2 ● up; last half)"},
        {"a screen on which no hint is cut",
         R"(size 5x20; keys M-w; last M-Up selects; keys Esc; last Esc- press a key
            keys Esc; keys ^R; last search:; keys ^G M-/; last find: Enter searches)"},
        {"a message in flight across a suspension is untimed",
         R"(keys hello Enter; peer got hello\n; continue; peer sends hello\n; shows untimed ‹ hello ✓)"},
        {"so is a message before ^Z",
         R"(^Z cannot stop the test; keys hello Enter; peer got hello\n; keys ^Z
            peer sends hello\n; +1s; continue; shows untimed ‹ hello ✓)"},
        {"keys typed behind ^Z are handled afterwards",
         "^Z cannot stop the test; keys ^Z half; continue; last half"},
        {"the clock",
         "shows up 00:00; +1s; shows up 00:01; +58s; shows up 00:59; +1s; shows up 01:00"},
    });
}
