#!/usr/bin/env python3
"""Refuses phrases that have to be read twice, and prints the plain ones.

usage: english.py FOLDER [PATH]...

Checks the comments, messages and test names of the sources below FOLDER, the help, the manuals
and the documents; or only the files whose paths begin with a PATH. A line that contains
"english:" and a reason is an exception. Its status is 1 if it found a phrase.
"""
import pathlib
import re
import subprocess
import sys

# What to look for, and what to write.
HABITS = [(re.compile(pattern.replace(" ", r"\s+")), advice) for pattern, advice in [
    (r"\b[Ww]here(?! to\b)", "if, when, at which"),
    (r"\b([Ss]o|[Aa]s) many\b", "N, the count"),
    (r"\b([Tt]hat|[Tt]hose) of\b", "name the noun"),
    (r"\b([Tt]hose|[Oo]nes?|[Tt]he one) (that|which|who)\b", "name the noun"),
    (r"\b[Ww]hat (is|are|was|were|has|have|comes?|came|goes|went)\b(?! (the|a|an|this|that)\b)",
     "name the noun"),
    (r"\b[Aa]new\b", "again"),
    (r"\b([Ss]ays?|[Ss]aid|[Ss]aying)\b", "send, print, report"),
    (r"\b[Ff]urther(?!more)\b", "more, other"),
    (r"\bfull screen\b(?! mode)", "full-screen mode"),
    (r"\b(the )?(system|kernel|peer|client|server|reader|pipe|terminal) takes\b", "accepts"),
    (r"\b(clos|end|finish|quit|left|leav)\w* (\w+ ){0,3}in order\b(?! to\b)", "gracefully"),
    (r"\b(arriv|receiv|com|sent|echo)\w* twice\b", "duplicate"),
    (r"\b([Tt]ells?|[Tt]old|[Tt]elling)\b", "print, report"),
    (r", too\b", "also"),
    (r"\b(sought|wanting|foreseen|dealt|unasked)\b", "the usual word"),
    (r"\bof before\b", "earlier, previous"),
    (r"\b[Ww]rong (reply|replies|echo|echoes|answers?|byte)\b(?! order)", "bad"),
    (r"\b[Tt]his many\b", "this number of"),
    (r"\b([Ee]very|[Ss]ome)body\b", "any peer, all clients, a program"),
    (r"\b[Oo]vert(ake|akes|aken|aking|ook)\b", "reorder, arrive before"),
    (r"\bas far as (it|they) (came|went)\b", "the bytes received so far"),
    (r"\bcounts from (then|there|here)\b", "is measured from"),
    (r"\b(file|line|list|page|message|reply|frame|datagram|record|packet|buffer|object|table|row|"
     r"summary|recording|log|text|output|string|vector|path|name|option|header) has "
     r"(an?|no|the|its|more|at|only|\d\w*)\b", "contains, prints, takes"),
    (r"^\s*([Oo]f|[Nn]or|From|That|Those|[Ww]hich)\b(?! here\b)",
     "a whole sentence, or a noun phrase"),  # how a comment begins
]]
EXCEPTION = "english:"
PAGES = (".1", ".5", ".8")  # the manuals

CODE = re.compile(r'R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<string>(?:[^"\\\n]|\\.)*)"|'
                  r"(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'|(?P<comment>//[^\n]*)", re.S)
SCRIPT = re.compile(r'(?P<comment>^[ \t]*#(?!!)[^\n]*)|"""(?P<block>.*?)"""', re.S | re.M)
# What is no prose in documents and in manuals.
FENCE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.S | re.M)
MACRO = re.compile(r'^\.\\".*$|^\.nf$.*?^\.fi$|^\.\w\w?\b|\\f[BIRP]|\\&', re.S | re.M)


def blank(found):
    return re.sub(r"[^\n]", " ", found[0])


def paragraphs(text):
    """Yields each paragraph of a document as (offset, text)."""
    for found in re.finditer(r"(?:.*\S.*\n?)+", text):
        yield found.start(), found[0]


def comments_and_strings(text, syntax):
    """Yields each comment and string of words as (offset, text). Comment lines that follow each
    other are one."""
    start, end = 0, -1
    for found in syntax.finditer(text):
        if not found["comment"]:
            words = next(filter(None, found.groups()[1:]), "")
            if " " in words.strip():
                yield found.start(), words
            continue
        if end < 0 or not re.fullmatch(r"\n[ \t]*", text[end:found.start()]):
            yield start, text[start:max(end, 0)]
            start = found.start()
        end = found.end()
    yield start, text[start:max(end, 0)]


def passages(path, text):
    """Yields each passage of prose as (offset, text of the same length)."""
    if path.suffix == ".md":
        return paragraphs(FENCE.sub(blank, text))
    if path.suffix in PAGES:
        return paragraphs(MACRO.sub(blank, text))
    return comments_and_strings(text, CODE if path.suffix in (".cpp", ".hpp") else SCRIPT)


def complaints(path, text):
    """Yields the line number, the phrase and the advice of each habit."""
    lines = text.splitlines()
    for start, passage in passages(path, text):
        words = re.sub(r"(?m)^[ \t]*(//|#)", blank, passage)
        for habit, advice in HABITS:
            if habit.pattern.startswith("^") and words == passage:
                continue
            for found in habit.finditer(words):
                line = text.count("\n", 0, start + found.end())
                if EXCEPTION not in lines[line]:
                    yield line + 1, " ".join(found[0].split()), advice


def sources(folder):
    listed = subprocess.check_output(["git", "-C", folder, "ls-files"], text=True).split("\n")
    for name in listed:
        path = pathlib.Path(folder, name)
        if (path.suffix in (".cpp", ".hpp", ".md", ".py", *PAGES) or path.name in (
                "Makefile", "CMakeLists.txt")) and path.is_file():
            yield name, path


def main():
    folder, only = sys.argv[1], tuple(sys.argv[2:])
    count = 0
    for name, path in sources(folder):
        if name == "tests/house/english.py" or (only and not name.startswith(only)):
            continue
        for line, phrase, advice in sorted(complaints(path, path.read_text())):
            print(f"{name}:{line}: \"{phrase}\": {advice}")
            count += 1
    if count:
        print(f"{count} phrases to write plainly")
    return count == 0


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
