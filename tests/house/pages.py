#!/usr/bin/env python3
"""Checks the manual pages with mandoc, and checks that they contain the usual sections.

usage: pages.py SOURCE_FOLDER
"""
import pathlib
import subprocess
import sys

OF_PROGRAMS = ["ENVIRONMENT", "FILES", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
PAGES = {"app/yodel.1": OF_PROGRAMS, "app/yodel-load.1": OF_PROGRAMS, "app/yodeld.8": OF_PROGRAMS,
         "app/yodel-json.5": ["EXAMPLES", "SEE ALSO"], "app/yodel-examine.7": ["CAUSES", "SEE ALSO"]}
LONGEST = 1000  # lines
# Pages of other systems, and our own pages if they are not installed.
ALLOWED = "referenced manual not found"


def complaints(root, page):
    lint = subprocess.run(["mandoc", "-T", "lint", page], cwd=root, capture_output=True, text=True)
    yield from (line for line in lint.stdout.splitlines() if ALLOWED not in line)
    text = (root / page).read_text("utf-8")
    yield from (f"{page}: no section {name}" for name in PAGES[page] if f"\n.Sh {name}\n" not in text)
    if text.count("\n") > LONGEST:
        yield f"{page}: more than {LONGEST} lines"


def main():
    root = pathlib.Path(sys.argv[1])
    found = [line for page in PAGES for line in complaints(root, page)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
