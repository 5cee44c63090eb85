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
HABITS = [(re.compile(pattern), advice) for pattern, advice in [
    (r"\b[Ww]here(?! to\b)", "if, when, at which"),
    (r"\b([Ss]o|[Aa]s) many\b", "N, the count"),
    (r"\b([Tt]hat|[Tt]hose) of\b", "name the noun"),
    (r"\b([Tt]hose|[Oo]nes?|[Tt]he one) (that|which|who)\b", "name the noun"),
    (r"\b[Ww]hat (is|are|was|were|has|have|comes?|came|goes|went)\b(?! (the|a|an|this|that)\b)",
     "name the noun"),
    (r"\b[Aa]new\b", "again"),
    (r"\b([Ss]ays?|[Ss]aid|[Ss]aying)\b", "send, print, report"),
    (r"\b([Tt]ells?|[Tt]old|[Tt]elling)\b", "print, report"),
    (r", too\b", "also"),
    (r"\b(sought|wanting|foreseen|dealt|unasked)\b", "the usual word"),
    (r"\bof before\b", "earlier, previous"),
    (r"\b(file|line|list|page|message|reply|frame|datagram|record|packet|buffer|object|table|row|"
     r"summary|recording|log|text|output|string|vector|path|name|option|header) has "
     r"(an?|no|the|its|more|at|only|\d\w*)\b", "contains, prints, takes"),
    (r"^(Of|Nor|From|That|Those|Which)\b(?! here\b)", "a sentence of its own, or a noun phrase"),
]]
EXCEPTION = "english:"

CODE = re.compile(r'R"(\w*)\((?P<raw>.*?)\)\1"|"(?P<string>(?:[^"\\\n]|\\.)*)"|'
                  r"(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+'|"
                  r"//(?P<comment>[^\n]*)|/\*(?P<block>.*?)\*/", re.S)
SCRIPT = re.compile(r'^\s*#(?!!)(?P<comment>[^\n]*)|"""(?P<block>.*?)"""', re.S | re.M)
FENCE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.S | re.M)
MACRO = re.compile(r'^\.\\".*$|^\.nf$.*?^\.fi$|^\.\w\w?\b|\\f[BIRP]|\\&', re.S | re.M)


def blank(text):
    """Returns the text with all but its line ends replaced by spaces."""
    return re.sub(r"[^\n]", " ", text)


def passages(path, text):
    """Yields each passage of prose as (line number, text); neighbouring comments are one."""
    if path.suffix in (".md", ".1", ".8", ".in"):
        pattern = FENCE if path.suffix == ".md" else MACRO
        text = pattern.sub(lambda found: blank(found[0]), text)
        start = 1
        for paragraph in re.split(r"(\n\s*\n)", text):
            yield start, paragraph
            start += paragraph.count("\n")
        return
    is_code = path.suffix in (".cpp", ".hpp")
    first = last = 0
    comment = ""
    for found in (CODE if is_code else SCRIPT).finditer(text):
        words = found.groupdict()
        line = text.count("\n", 0, found.start()) + 1
        if not is_code:
            line += found[0].count("\n", 0, len(found[0]) - len(found[0].lstrip()))
        if words["comment"] is not None:
            if comment and line == last + 1 and re.fullmatch(
                    r"\s*", text[text.rfind("\n", 0, found.start()) + 1:found.start()]):
                comment += "\n" + words["comment"]
            else:
                yield first, comment
                first, comment = line, words["comment"]
            last = line
        else:
            prose = next((words[kind] for kind in ("block", "string", "raw") if words.get(kind)), "")
            if " " in prose:
                yield line, prose
    yield first, comment


def complaints(path, text):
    """Yields the line number, the phrase and the advice of each habit."""
    lines = text.splitlines()
    for first, passage in passages(path, text):
        indent = len(passage) - len(passage.lstrip())
        flat = re.sub(r"\s", " ", passage)
        for habit, advice in HABITS:
            at = indent if habit.pattern.startswith("^") else 0
            for found in habit.finditer(flat, at) if not at else filter(None, [habit.match(flat, at)]):
                line = first + passage.count("\n", 0, found.start())
                if EXCEPTION not in lines[line - 1]:
                    yield line, found[0], advice


def sources(folder):
    listed = subprocess.check_output(["git", "-C", folder, "ls-files"], text=True).split("\n")
    for name in listed:
        path = pathlib.Path(folder, name)
        if (path.suffix in (".cpp", ".hpp", ".md", ".1", ".8", ".py") or path.name in (
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
