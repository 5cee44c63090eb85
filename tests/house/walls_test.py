#!/usr/bin/env python3
"""Breaks each wall of a fake house, and expects walls.py to report only that.

usage: walls_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import walls  # noqa: E402  # found by the line above


ROOT = pathlib.Path(sys.argv[1])
ARROWS = walls.read_arrows(ROOT)
MAINS = {room for room in ARROWS if room.startswith("app/") and (ROOT / f"{room}.cpp").exists()}
# A header in each room.
HEADERS = {f"{room}/a.hpp": "#pragma once\n" for room in ARROWS.keys() - MAINS - {"ui/text"}}
HEADERS["ui/text.hpp"] = "#pragma once\n"
CURSES = ["curses.h", "ncursesw/curses.h", "term.h"]


def header_of(room):
    return "ui/text.hpp" if room == "ui/text" else f"{room}/a.hpp"


class Walls(unittest.TestCase):
    def expect(self, files, *expected):
        self.assertEqual(walls.House(HEADERS | files, ARROWS).check(), list(expected))

    def test_a_house_without_includes_has_no_findings(self):
        self.expect({})

    def test_reads_rooms_and_programs_from_cmake(self):
        self.assertEqual(ARROWS["app/websocket"], {"ui/text", "bufio"})
        self.assertEqual(ARROWS["bufio"], {"ev", "ev/threads"})
        self.assertIn("app/load", ARROWS["app/yodel_load"])
        self.assertNotIn("app/load", ARROWS["app/yodel"])

    def test_finds_each_arrow_that_the_table_does_not_allow(self):
        for room, allowed in ARROWS.items():
            for other in ARROWS.keys() - MAINS - {room}:
                is_file = room in MAINS or room == "ui/text"
                file = f"{room}.cpp" if is_file else f"{room}/b.cpp"
                own = '#include "ui/text.hpp"\n\n' if room == "ui/text" else ""
                text = f'{own}#include "{header_of(other)}"\n'
                found = f"{file}:{3 if own else 1}: {room} may not see {other} ({header_of(other)})"
                with self.subTest(room=room, other=other):
                    self.expect({file: text}, *([] if other in allowed else [found]))

    def test_finds_cycles_of_rooms_and_of_headers(self):
        self.expect({"ev/b.hpp": '#pragma once\n#include "bufio/b.hpp"\n',
                     "bufio/b.hpp": '#pragma once\n#include "ev/b.hpp"\n'},
                    "ev/b.hpp:2: ev may not see bufio (bufio/b.hpp)",
                    "a circle of the rooms: bufio -> ev -> bufio",
                    "a circle of the headers: bufio/b.hpp -> ev/b.hpp -> bufio/b.hpp")
        self.expect({"ev/b.hpp": '#include "ev/c.hpp"\n', "ev/c.hpp": '#include "ev/b.hpp"\n'},
                    "ev/b.hpp:1: it may be included twice", "ev/c.hpp:1: it may be included twice",
                    "a circle of the headers: ev/b.hpp -> ev/c.hpp -> ev/b.hpp")

    def test_readiness_calls_stay_in_ev(self):
        for line, named in [("#include <poll.h>", "poll.h"),
                            ("#    include <sys/epoll.h>", "sys/epoll.h"),
                            ("#include <sys/select.h>", "sys/select.h"),
                            ("int n = ::poll(fds, 1, 0);", "poll("),
                            ("int n = poll (fds, 1, 0);", "poll ("),
                            ("return ::ppoll(fds, 1, nullptr, nullptr);", "ppoll("),
                            ("epoll_ctl(fd, 1, 2, nullptr);", "epoll_ctl("),
                            ("::select(1, &set, nullptr, nullptr, &t);", None)]:
            with self.subTest(line=line):
                self.expect({"ev/b.cpp": line})
                found = walls.House(HEADERS | {"bufio/b.cpp": "\n" + line}, ARROWS).check()
                self.assertEqual(len(found), 1)
                self.assertIn("bufio/b.cpp:2: a readiness call is not used here", found[0])
                self.assertIn(named or "select(", found[0])

    def test_ignores_lookalikes_of_readiness_calls(self):
        self.expect({"ui/b.cpp": "// poll(fds, 1, 0)\n"
                                 "/* #include <poll.h>\n#include <poll.h> */\n"
                                 'const char* text = "ppoll(fds)";\n'
                                 'const char* url = "tcp://"; void select(Id id);\n'
                                 "log.select(1); if (found) select(found); Log::poll(1);\n"})

    def test_finds_each_broken_wall_and_no_other(self):
        own, other = '#include "ev/a.hpp"\n', '#include <vector>\n'
        late = '1: the first include is not "ev/a.hpp"'
        for file, text, *found in [
                ("app/yodel.cpp", ""),
                ("app/b.cpp", "", "1: app/b is no room of the house"),
                ("app/new/b.cpp", "", "1: app/new is no room of the house"),
                ("app/protocol/session.hpp", '#pragma once\n#include "ui/a.hpp"\n',
                 "2: app/protocol may not see ui (ui/a.hpp)"),
                ("ev/b.cpp", "#  include <bufio/a.hpp>\n", "1: ev may not see bufio (bufio/a.hpp)"),
                ("ev/b.cpp", '#include "a.hpp"\n', '1: "a.hpp" is not written from the root'),
                ("bufio/tls_x.cpp", "#include <openssl/ssl.h>\n"),
                *((file, "#include <openssl/ssl.h>\n", "1: OpenSSL is not used here (openssl/ssl.h)")
                  for file in ("bufio/stream.cpp", "app/text/b.cpp", "ev/tls.cpp")),
                *(("ui/b.cpp", f"#include <{header}>\n") for header in CURSES),
                *(("app/screen/b.cpp", f"#include <{header}>\n", f"1: curses is not used here ({header})")
                  for header in CURSES),
                ("app/text/b.cpp", "#include <termios.h>\n"),
                *((f"{room}/b.cpp", "#include <sys/socket.h>\n", "1: a socket is not used here (sys/socket.h)")
                  for room in ("ui", "ev")),
                ("ev/a.cpp", "// comment\n\n" + own + other),
                ("ev/a.cpp", other + own, late), ("ev/a.cpp", "int a;\n", late)]:
            with self.subTest(file=file, text=text):
                self.expect({file: text}, *(f"{file}:{each}" for each in found))


class Sources(unittest.TestCase):
    def test_finds_the_sources_of_each_room_in_a_tree(self):
        rooms = {walls.room_of(path) for path in walls.sources(ROOT)}
        self.assertEqual(rooms, ARROWS.keys())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
