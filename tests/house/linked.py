#!/usr/bin/env python3
"""Checks that no program contains code of a room that only other programs need.

usage: linked.py NM BUILD_FOLDER

Each program must contain global symbols of the rooms in its row, and no symbols of rooms that are
only in the rows of other programs. Prints each wrong symbol, and fails if there is any. Exits with
77 if the programs are stripped.
"""
import pathlib
import subprocess
import sys

ROOMS = {"yodel": "examine options_client run screen server stats",
         "yodel-load": "load options_client run screen server stats",
         "yodeld": "options_server server"}


def defined(nm, file):
    """Returns the names of the file's strong global symbols."""
    output = subprocess.run([nm, file], capture_output=True, text=True, check=True).stdout
    rows = (line.split() for line in output.splitlines())
    return {row[-1] for row in rows if len(row) == 3 and row[1] in "TDBR"}


def complaints(nm, build):
    rooms = {room: defined(nm, build / f"libapp_{room}.a")
             for rooms in ROOMS.values() for room in rooms.split()}
    for program, own in ROOMS.items():
        symbols = defined(nm, build / program)
        if not symbols:
            sys.exit(77)
        for room, names in rooms.items():
            if room not in own.split():
                yield from (f"{program} contains {name} of {room}" for name in sorted(names & symbols))
            elif not names & symbols:
                yield f"{program} contains nothing of {room}"


found = list(complaints(sys.argv[1], pathlib.Path(sys.argv[2])))
print("\n".join(found))
sys.exit(bool(found))
