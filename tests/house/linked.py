#!/usr/bin/env python3
"""Checks that yodel contains no code of yodel-load's room.

usage: linked.py NM LIBRARY PROGRAM WITHOUT

PROGRAM must contain global symbols of LIBRARY, and WITHOUT none of them. Prints each wrong
symbol, and fails if there is any. Exits with 77 if the programs are stripped.
"""
import subprocess
import sys


def defined(nm, file):
    """Returns the names of the file's strong global symbols."""
    output = subprocess.run([nm, file], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in output.splitlines())
    return {row[-1] for row in rows if len(row) == 3 and row[1] in "TDBR"}


def main():
    nm, library, program, without = sys.argv[1:]
    own = defined(nm, library)
    if not defined(nm, program) or not defined(nm, without):
        return 77
    if not own & defined(nm, program):
        print(f"{program} contains nothing of {library}")
        return 1
    found = sorted(own & defined(nm, without))
    for name in found:
        print(f"{without} contains {name}")
    return 1 if found else 0


sys.exit(main())
