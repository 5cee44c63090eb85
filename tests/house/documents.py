#!/usr/bin/env python3
"""Checks the manual pages with mandoc and for the usual sections, and that HACKING.md and tests/README.md name
only existing files, functions, classes and variables.

usage: documents.py SOURCE_FOLDER

A map with wrong names is worse than none, and no other check notices a rename.
"""
import pathlib
import re
import subprocess
import sys

OF_PROGRAMS = ["ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
PAGES = {"app/yodel.1": OF_PROGRAMS, "app/yodel-load.1": OF_PROGRAMS, "app/yodeld.8": OF_PROGRAMS,
         "app/yodel-json.5": ["EXAMPLES", "SEE ALSO"], "app/yodel-examine.7": ["CAUSES", "SEE ALSO"]}
LONGEST = 1000  # lines
# Pages of other systems, and our own pages if they are not installed.
ALLOWED = "referenced manual not found"
MAPS = ["HACKING.md", "tests/README.md"]
FOLDERS = ["app", "bufio", "ev", "ui", "tests"]
FILES = ["Makefile", "CMakeLists.txt", "app/yodel.1", "app/yodel-load.1", "app/yodel-json.5",
         ".ci/run", "contrib/packaging/deps", ".github/workflows/check.yml"]


def faults(root, page):
    lint = subprocess.run(["mandoc", "-T", "lint", page], cwd=root, capture_output=True, text=True)
    yield from (line for line in lint.stdout.splitlines() if ALLOWED not in line)
    text = (root / page).read_text("utf-8")
    yield from (f"{page}: no section {name}" for name in PAGES[page] if f"\n.Sh {name}\n" not in text)
    if text.count("\n") > LONGEST:
        yield f"{page}: more than {LONGEST} lines"


def words_of_sources(root):
    paths = [root / file for file in FILES]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*.[ch]pp")
        paths += (root / folder).rglob("*.py")
        paths += [path for path in (root / folder).rglob("run") if path.is_file()]
    return {word for path in paths for word in re.findall(r"\w+", path.read_text("utf-8"))}


def wrong_names(root, page, words):
    """Returns the names in backquotes that are neither files nor in any source."""
    for name in re.findall(r"`([^`\n]+)`", (root / page).read_text("utf-8")):
        if (root / name).exists() or (root / f"{name}.hpp").exists() or "NAME" in name:
            continue
        is_path = re.fullmatch(r"[\w.]+(/[\w.]+)+", name)
        is_name = re.fullmatch(r"\w+(::\w+)*(\(\))?", name)
        if is_path or is_name and not set(re.findall(r"\w+", name)) <= words:
            yield f"{page}: there is no {name}"


root = pathlib.Path(sys.argv[1])
words = words_of_sources(root)
found = [line for page in PAGES for line in faults(root, page)]
found += [line for page in MAPS for line in wrong_names(root, page, words)]
print("\n".join(found))
sys.exit(bool(found))
