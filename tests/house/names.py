#!/usr/bin/env python3
"""Checks that HACKING.md and tests/README.md name only existing files, functions, classes and variables.

usage: names.py SOURCE_FOLDER

A map with wrong names is worse than none, and no other check notices a rename.
"""
import pathlib
import re
import sys

FOLDERS = ["app", "bufio", "ev", "ui", "tests"]
FILES = ["Makefile", "CMakeLists.txt", "app/yodel.1", "app/yodel-load.1", "app/yodel-json.5",
         ".ci/run", "contrib/packaging/deps", ".github/workflows/check.yml"]


def texts(root):
    paths = [root / file for file in FILES]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*.[ch]pp")
        paths += (root / folder).rglob("*.py")
        paths += [path for path in (root / folder).rglob("run") if path.is_file()]
    return "\n".join(path.read_text("utf-8") for path in paths)


def missing(page, root):
    """Returns the names in backquotes that are neither files nor in any source."""
    words = set(re.findall(r"\w+", texts(root)))
    for name in re.findall(r"`([^`\n]+)`", page):
        if (root / name).exists() or (root / f"{name}.hpp").exists() or "NAME" in name:
            continue
        is_path = re.fullmatch(r"[\w.]+(/[\w.]+)+", name)
        is_name = re.fullmatch(r"\w+(::\w+)*(\(\))?", name)
        if is_path or is_name and not set(re.findall(r"\w+", name)) <= words:
            yield name


def main():
    root = pathlib.Path(sys.argv[1])
    found = [f"{page}: there is no {name}" for page in ("HACKING.md", "tests/README.md")
             for name in missing((root / page).read_text("utf-8"), root)]
    for each in found:
        print(each)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
