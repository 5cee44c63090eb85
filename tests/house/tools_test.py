#!/usr/bin/env python3
"""Breaks each wall of a fake house, and expects walls.py or systems.py to report only that.

usage: tools_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
import systems  # noqa: E402
import walls  # noqa: E402

ROOT = pathlib.Path(sys.argv[1])
ARROWS = walls.read_arrows(ROOT)
MAINS = {room for room in ARROWS if room.startswith("app/") and (ROOT / f"{room}.cpp").exists()}
# A header in each room.
HEADERS = {f"{room}/a.hpp": "#pragma once\n" for room in ARROWS.keys() - MAINS - {"ui/text"}}
HEADERS["ui/text.hpp"] = "#pragma once\n"
READINESS = "2: a readiness call is not used here ({})"
OWN, OTHER, LATE = '#include "ev/a.hpp"\n', "#include <vector>\n", '1: the first include is not "ev/a.hpp"'


class Walls(unittest.TestCase):
    def expect(self, files, *expected):
        self.assertEqual(walls.House(HEADERS | files, ARROWS).check(), list(expected))

    def test_reads_rooms_and_programs_from_cmake(self):
        self.assertEqual({walls.room_of(path) for path in walls.sources(ROOT)}, ARROWS.keys())
        self.assertEqual(ARROWS["app/websocket"], {"app/text", "bufio"})
        self.assertEqual(ARROWS["bufio"], {"ev", "ev/threads"})
        self.assertIn("app/load", ARROWS["app/yodel_load"])
        self.assertNotIn("app/load", ARROWS["app/yodel"])

    def test_finds_each_arrow_that_the_table_does_not_allow(self):
        for room, allowed in ARROWS.items():
            for other in ARROWS.keys() - MAINS - {room}:
                header = "ui/text.hpp" if other == "ui/text" else f"{other}/a.hpp"
                file = f"{room}.cpp" if room in MAINS or room == "ui/text" else f"{room}/b.cpp"
                own = '#include "ui/text.hpp"\n\n' if room == "ui/text" else ""
                found = f"{file}:{3 if own else 1}: {room} may not see {other} ({header})"
                with self.subTest(room=room, other=other):
                    self.expect({file: f'{own}#include "{header}"\n'}, *([] if other in allowed else [found]))

    def test_finds_cycles_of_rooms_and_of_headers(self):
        self.expect({"ev/b.hpp": '#pragma once\n#include "bufio/b.hpp"\n',
                     "bufio/b.hpp": '#pragma once\n#include "ev/b.hpp"\n'},
                    "ev/b.hpp:2: ev may not see bufio (bufio/b.hpp)",
                    "a circle of the rooms: bufio -> ev -> bufio",
                    "a circle of the headers: bufio/b.hpp -> ev/b.hpp -> bufio/b.hpp")
        self.expect({"ev/b.hpp": OWN}, "ev/b.hpp:1: it may be included twice")

    def test_finds_each_broken_wall_and_no_other(self):
        for file, text, *found in [
                ("app/yodel.cpp", ""),
                ("app/new/b.cpp", "", "1: app/new is no room of the house"),
                ("ev/b.cpp", "#  include <bufio/a.hpp>\n", "1: ev may not see bufio (bufio/a.hpp)"),
                ("ev/b.cpp", '#include "a.hpp"\n', '1: "a.hpp" is not written from the root'),
                ("bufio/tls_x.cpp", "#include <openssl/ssl.h>\n"),
                *((file, "#include <openssl/ssl.h>\n", "1: OpenSSL is not used here (openssl/ssl.h)")
                  for file in ("bufio/stream.cpp", "app/text/b.cpp", "ev/tls.cpp")),
                ("ui/b.cpp", "#include <ncursesw/curses.h>\n"),
                ("app/screen/b.cpp", "#include <term.h>\n", "1: curses is not used here (term.h)"),
                ("app/text/b.cpp", "#include <termios.h>\n"),
                ("ui/b.cpp", "#include <sys/socket.h>\n", "1: a socket is not used here (sys/socket.h)"),
                ("ev/a.cpp", "// comment\n\n" + OWN + OTHER),
                ("ev/a.cpp", OTHER + OWN, LATE), ("ev/a.cpp", "int a;\n", LATE),
                ("ev/b.cpp", "#include <poll.h>\nint n = ::poll(fds, 1, 0);"),
                *(("bufio/b.cpp", "\n" + line, READINESS.format(name))
                  for line, name in [("#    include <sys/epoll.h>", "sys/epoll.h"),
                                     ("int n = poll (fds, 1, 0);", "poll ("),
                                     ("return ::ppoll(fds, 1, nullptr, nullptr);", "ppoll("),
                                     ("::select(1, &a, b, c, &t);", "select(1, &a, b,")]),
                ("ui/b.cpp", "// poll(fds, 1, 0)\n/* #include <poll.h>\n#include <poll.h> */\n"
                 'const char* text = "ppoll(fds)";\nconst char* url = "tcp://"; void select(Id id);\n'
                 "log.select(1); if (found) select(found); Log::poll(1);\n")]:
            with self.subTest(file=file, text=text):
                self.expect({file: text}, *(f"{file}:{each}" for each in found))


EPOLL = "epoll_ctl(set, 1, fd, &event);\n"


class Systems(unittest.TestCase):
    def test_features_of_one_system_need_a_question_for_them(self):
        for text, *found in [
                (f"#if EV_HAS_EPOLL\n{EPOLL}#endif\n",),
                (f"#if BUFIO_HAS_X\n#else\n#    if EV_HAS_EPOLL\n{EPOLL}#    endif\n#endif\n",),
                (f"#if UI_HAS_X\n#elif EV_HAS_EPOLL\n{EPOLL}#endif\n",),
                (EPOLL, 1, "epoll_ctl("),
                (f"#if EV_HAS_EPOLL\n#else\n{EPOLL}#endif\n", 3, "epoll_ctl("),
                (f"#if EV_HAS_EPOLL\n#endif\n{EPOLL}", 3, "epoll_ctl("),
                (f"#if NDEBUG\n{EPOLL}#endif\n", 2, "epoll_ctl("),
                (f"#ifndef EV_HAS_EPOLL\n{EPOLL}#endif\n", 2, "epoll_ctl("),
                ("::send(fd, from, size, MSG_MORE);", 1, "MSG_MORE"), ("mmsghdr header;", 1, "mmsghdr"),
                ('open("/proc/self/fd");', 1, '"/proc/'), ("#include <linux/tcp.h>", 1, "<linux/"),
                ("// epoll_ctl(1), of __linux__\nlist.splice(end, other); my_accept4(1); EPOLL_IN; SIGIOT;\n",)]:
            with self.subTest(text=text):
                expected = [f"ev/a.cpp:{found[0]}: not all systems have this ({found[1]})"] if found else []
                self.assertEqual(systems.check_sources({"ev/a.cpp": text}), expected)
        self.assertEqual(systems.check_archive("/build/libev.a", {"poll", "pipe2"}),
                         ["libev.a: not all systems have this (pipe2)"])

    def test_only_system_hpp_may_ask_for_a_system(self):
        for line, name in [("#ifdef __linux__\n#endif\n", "__linux__"),
                           ("#if !defined(__APPLE__) && A\n#endif\n", "__APPLE__"),
                           ("#if __GLIBC_PREREQ(2, 35)\n#endif\n", "__GLIBC_PREREQ"),
                           ("bool portable = YODEL_PORTABLE;\n", "YODEL_PORTABLE")]:
            with self.subTest(line=line):
                self.assertEqual(systems.check_sources({"ev/a.cpp": line, "ev/system.hpp": line}),
                                 [f"ev/a.cpp:1: only system.hpp asks which system it is ({name})"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
