#!/usr/bin/env python3
"""Compares --help, --json and the exit statuses with the manual pages and README.

usage: options.py SOURCE_FOLDER PROGRAM...     (the programs of the build)
"""
import pathlib
import re
import subprocess
import sys

PAGES = {"yodel": "yodel.1", "yodel-load": "yodel-load.1", "yodeld": "yodeld.8"}
HELP_ROW = re.compile(r"\n  (?:(-\w)(?:, (--[a-z-]+))?|    (--[a-z-]+))(?:[ =]([^ \n]+))?  ")
# The source of a page omits the first dash of each name and contains macros between the words.
PAGE_OPTION = re.compile(r"Fl (-?[A-Za-z0-9][a-z-]*)(?= |$)((?: (?!, )[^ ]+)*)")
MACROS = re.compile(r" (Ar|Cm|Ns|Op)\b")
OF_CLIENT = "\nThese options have the same meaning as in"
OF_OTHERS = {"--to", "--merge", "--compare", "--ssl-verify"}  # of results.py and ncat
# These commands write all fields.
SERVER = "127.0.0.1:PORT"  # corrupts half of the replies
RUNS = [("yodel", ["-W", "50ms", SERVER]),
        ("yodel", ["--tls", "-z"]),
        ("yodel-load", ["--connections", "2", "-m", "1100ms", "--rate", "20"]),
        ("yodel-load", ["--connections", "2"])]


def plain(argument):
    return re.sub(r"[\[\] ]", "", argument or "").lower()


def offered(text):
    """Returns the argument of each option in a help, by the option's name or else its letter."""
    return {name or alone or letter: plain(argument)
            for letter, name, alone, argument in HELP_ROW.findall(text)}


def described(page):
    return {"-" + name: plain(MACROS.sub("", argument))
            for item in re.findall(r"\n\.It (Fl [^\n]*)", page)
            for name, argument in PAGE_OPTION.findall(item)}


def documented(page, client_page):
    """Returns also the options for which a page refers to the page of the client."""
    options = described(page)
    _, _, rest = page.partition(OF_CLIENT)
    shared = re.findall(r"\n\.Fl ([^\n]*)", rest.split("\n.Ss ")[0])
    for name in re.findall(r"(?:^| )(-?[A-Za-z0-9][a-z-]*)", "\n".join(shared), re.M):
        options["-" + name] = described(client_page).get("-" + name)
    return options


def fields(programs, server):
    """Returns the names of all fields that --json writes."""
    output = ""
    for name, options in RUNS:
        command = [programs[name], "--json", *options]
        output += subprocess.run([word.replace("PORT", server) for word in command],
                                 input="a\nb\nc\nd\n", capture_output=True, text=True).stdout
    return set(re.findall(r'"([a-z0-9_]+)":', output))


def complaints(root, programs):
    pages = {path.name: path.read_text("utf-8") for path in (root / "app").glob("*.[158]")}
    helps = {name: subprocess.run([programs[name], "--help"], capture_output=True, text=True).stdout
             for name in PAGES}
    for program, page in PAGES.items():
        options = offered(helps[program])
        in_page = documented(pages[page], pages["yodel.1"])
        assert len(options) > 25, options
        for option, argument in options.items():
            if in_page.get(option) != argument:
                yield f"{page}: {option} {argument}: the page describes {in_page.get(option)}"
        yield from (f"{page}: {option} is missing in --help" for option in in_page
                    if option not in helps[program])

    statuses = set(re.findall(r"\n    \w+ = ([0-9]+),", (root / "app/text/exit_status.hpp").read_text("utf-8")))
    in_pages = {page: set(re.findall(r"\n\.It ([0-9]+)\n", pages[page])) for page in PAGES.values()}
    assert len(statuses) > 10, statuses
    if in_pages["yodel.1"] != statuses:
        yield f"yodel.1: the exit statuses differ: {in_pages['yodel.1'] ^ statuses}"
    if not in_pages["yodeld.8"] or in_pages["yodeld.8"] - statuses:
        yield f"yodeld.8: the program has no exit status {in_pages['yodeld.8'] - statuses}"

    mentioned = set(re.findall(r"(--[a-z][a-z-]+)", (root / "README.md").read_text("utf-8")))
    assert len(mentioned) > 8, mentioned
    for option in mentioned - OF_OTHERS:
        if not re.search(rf"[ ,]{option}[ =\n]", "".join(helps.values())):
            yield f"README.md: {option} is missing in --help"

    with subprocess.Popen([programs["yodeld"], "--corrupt", "0.5", "0"], stdout=subprocess.PIPE,
                          text=True) as server:
        written = fields(programs, server.stdout.readline().rsplit(":")[-1].strip())
        server.terminate()
    assert len(written) > 30, written
    for field in sorted(written):
        if not re.search(rf"\n\.(Pq |It )?Va [^\n]*\b{field}\b", pages["yodel-json.5"]):
            yield f"yodel-json.5: no field {field}"


if __name__ == "__main__":
    found = list(complaints(pathlib.Path(sys.argv[1]),
                            {pathlib.Path(program).name: program for program in sys.argv[2:]}))
    print("\n".join(found))
    sys.exit(bool(found))
