#!/usr/bin/env python3
"""Writes each habit into a made-up source, and expects english.py to find it and no more.

usage: english_test.py SOURCE_FOLDER
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True  # nothing is written into the source tree
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import english  # noqa: E402  # it is found by the line above


class English(unittest.TestCase):
    def expect(self, name, text, *expected):
        found = [(line, phrase) for line, phrase, _ in english.complaints(pathlib.Path(name), text)]
        self.assertEqual(found, list(expected))

    def test_finds_habits_in_comments(self):
        for words, phrase in [("Returns the size where it is known.", "where"),
                              ("Keeps so many bytes.", "so many"),
                              ("The limit is that of the sender.", "that of"),
                              ("Takes the one that is due.", "the one that"),
                              ("Counts what came after the end.", "what came"),
                              ("Reads each line that has a number: a line has a number.",
                               "line has a"),
                              ("Marks the first wrong byte: not a wrong byte order.", "wrong byte"),
                              ("Reads this many bytes.", "this many"),
                              ("Until somebody reads.", "somebody"),
                              ("An answer may overtake it.", "overtake"),
                              ("Printed as far as it came.", "as far as it came"),
                              ("The time counts from then.", "counts from then"),
                              ("Writes until the peer takes no more.", "the peer takes"),
                              ("Of the whole run.", "Of"), ("of the whole run", "of")]:
            self.expect("a.hpp", f"int a;  // {words}\n", (1, phrase))
            self.expect("a.py", f"a = 0\n# {words}\n", (2, phrase))

    def test_leaves_plain_words_alone(self):
        self.expect("a.hpp", '// Returns it.\nint those(int where);\n#include "one/that.hpp"\n')
        self.expect("a.md", "Run `echo where`:\n\n```\nso many\n```\n")
        self.expect("a.1", '.\\" so many\n.SH NAME\nThe line has been read.\n')

    def test_finds_a_phrase_that_two_lines_share(self):
        self.expect("a.cpp", "\n// Keeps so\n// many bytes.\n", (3, "so many"))
        self.expect("a.cpp", "f();  // keeps so\n\n// many bytes\n")
        self.expect("a.md", "Keeps so\nmany bytes.\n", (2, "so many"))

    def test_finds_habits_in_messages_and_test_names(self):
        self.expect("a.cpp", 'fail("it is anew");\nTEST_CASE("one that waits") {}\n',
                    (1, "anew"), (2, "one that"))
        self.expect("a.cpp", 'f("anew", \'"\', R"(so many)");\n', (1, "so many"))

    def test_leaves_exceptions_alone(self):
        self.expect("a.cpp", 'f("one that");  // english: a word of the test\n')


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
