#!/usr/bin/env python3
"""Writes sources with wrong tests for a system, and expects systems.py to find each.

usage: systems_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import systems  # noqa: E402  # found by the line above

EPOLL = "epoll_ctl(set, 1, fd, &event);\n"


class Systems(unittest.TestCase):
    def expect(self, text, *expected):
        self.assertEqual(systems.check_sources({"ev/a.cpp": text}), list(expected))

    def test_only_system_hpp_may_test_for_a_system(self):
        for line, named in [("#ifdef __linux__\n#endif\n", "__linux__"),
                            ("#if !defined(__APPLE__) && A\n#endif\n", "__APPLE__"),
                            ("#if __GLIBC_PREREQ(2, 35)\n#endif\n", "__GLIBC_PREREQ"),
                            ("#elif defined(__FreeBSD__)\n", "__FreeBSD__"),
                            ("bool portable = YODEL_PORTABLE;\n", "YODEL_PORTABLE")]:
            with self.subTest(line=line):
                text = line if "elif" not in line else f"#if EV_HAS_X\n{line}#endif\n"
                found = systems.check_sources({"ev/a.cpp": text})
                self.assertEqual(len(found), 1)
                self.assertIn(f"only system.hpp asks which system it is ({named})", found[0])
                self.assertEqual(systems.check_sources({"ev/system.hpp": text,
                                                        "app/text/system.hpp": text}), [])

    def test_features_of_one_system_need_a_test_for_them(self):
        found = "ev/a.cpp:{}: not all systems have this (epoll_ctl()"
        self.expect(f"#if EV_HAS_EPOLL\n{EPOLL}#endif\n")
        self.expect(f"#if BUFIO_HAS_X\n#else\n#    if EV_HAS_EPOLL\n{EPOLL}#    endif\n#endif\n")
        self.expect(f"#if UI_HAS_X\n#elif EV_HAS_EPOLL\n{EPOLL}#endif\n")
        self.expect(EPOLL, found.format(1))
        self.expect(f"#if EV_HAS_EPOLL\n#else\n{EPOLL}#endif\n", found.format(3))
        self.expect(f"#if EV_HAS_EPOLL\n#endif\n{EPOLL}", found.format(3))
        self.expect(f"#if NDEBUG\n{EPOLL}#endif\n", found.format(2))
        self.expect(f"#ifndef EV_HAS_EPOLL\n{EPOLL}#endif\n", found.format(2))

    def test_finds_names_and_files_like_calls(self):
        for line in ["::send(fd, from, size, MSG_MORE);", "int fd = ::pipe2(ends, 0);",
                     "mmsghdr header;", 'open("/proc/self/fd");', "#include <linux/tcp.h>",
                     "#include <sys/epoll.h>", "int n = sigaction[NSIG];"]:
            with self.subTest(line=line):
                self.assertEqual(len(systems.check_sources({"ui/a.cpp": line})), 1)

    def test_ignores_lookalikes(self):
        self.expect("// epoll_ctl(1), of __linux__\n"
                    "list.splice(end, other); my_accept4(1); EPOLL_IN; SIGIOT; Pledge pledge_;\n")

    def test_finds_an_archive_that_calls_functions_of_one_system(self):
        self.assertEqual(systems.check_archive("/build/libev.a", {"poll", "pipe2", "ppoll"}),
                         ["libev.a: not all systems have this (pipe2)",
                          "libev.a: not all systems have this (ppoll)"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
