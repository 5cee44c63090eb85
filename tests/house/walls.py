#!/usr/bin/env python3
"""Checks the walls of the house: includes between rooms, and features restricted to a room.

usage: walls.py SOURCE_FOLDER

The linker notices only missing functions. Headers without functions and system calls can cross a
wall unnoticed, so this reads every include of the product. Prints one line for each finding, and
fails if there is any.
"""
import pathlib
import re
import sys

# Units without a folder of their own: ui/text is all of ui that a program without a screen needs.
UNITS = {"ui/text": "ui/text"}
# The parts of ev that only some rooms may include. CMake knows ev as one library.
PARTS_OF_EV = {"ev/backends": {"app/text", "program"}, "ev/threads": {"bufio", "app/run", "app/options/client"}}

# Restricted features: name, headers, calls, and the files that may use them.
KEPT_INSIDE = [
    ("a readiness call", r"(sys/)?(poll|select|epoll|event)\.h",
     # Our functions named `select` take one argument, the system's takes five.
     r"(?<![\w.>])(?<!\w::)(p?poll|epoll_\w+|kqueue|kevent|pselect)\s*\("
     r"|(?<![\w.>])(?<!\w::)select\s*\([^;]*?,[^;]*?,[^;]*?,", r"ev/"),
    ("OpenSSL", r"openssl/.*", None, r"bufio/tls[^/]*$"),
    ("curses", r"(.*/)?(n?curses|term|panel|menu|form)\.h", None, r"ui/"),
    ("a socket", r"(sys/(socket|un)|netdb|netinet/.*|arpa/.*)(\.h)?", None, r"(bufio|app)/"),
    ("the loop", r"ev/loop\.hpp", None, r"(?!app/stats/(?!recording))"),  # results need only its times
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# A comment or a literal. Literals are matched so that no comment begins inside them.
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')


def blank(found):
    return re.sub(r"[^\n]", " ", found.group())


def without_comments(text):
    return COMMENT.sub(lambda found: found.group(1) or blank(found), text)


def read_arrows(root):
    """Returns the rooms that each room, and the main file of each program, may include.

    CMakeLists.txt lists them; each new one is a decision.
    """
    listed = re.findall(r"^add_(room|program)\(([^\s)]+)([^)]*)\)", (root / "CMakeLists.txt").read_text("utf-8"),
                        re.MULTILINE)
    by_library = {name.replace("/", "_"): name for name in ["ui/text", *(name for _, name, _ in listed)]}
    arrows = {"ui/text": set()} | {part: {"ev"} for part in PARTS_OF_EV}
    for kind, name, lists in listed:
        room = name if kind == "room" else "app/" + name.replace("-", "_")
        arrows[room] = {by_library[each] for each in lists.partition("LINK")[2].split() if each in by_library}
        arrows[room] |= {part for part, users in PARTS_OF_EV.items() if users & {room, kind}}
    return arrows


def room_of(path):
    """Returns the room of a file: its folder, except for UNITS and for main files, which are their own."""
    folder, _, name = path.rpartition("/")
    unit = path.rpartition(".")[0]
    return unit if folder == "app" and name.endswith(".cpp") else UNITS.get(unit, folder)


def circle(graph):
    """Returns the nodes of a cycle in the graph, ending with the first node; or nothing."""
    done = set()

    def visit(node, way):
        if node in way:
            return way[way.index(node):] + [node]
        if node in done:
            return None
        done.add(node)
        found = (visit(each, way + [node]) for each in sorted(graph.get(node, ())))
        return next(filter(None, found), None)

    return next(filter(None, (visit(node, []) for node in sorted(graph))), None)


def sources(root):
    """Returns the text of each source of the product, by its path from the root."""
    folders = {name.partition("/")[0] for name in read_arrows(root)}
    return {path.relative_to(root).as_posix(): path.read_text("utf-8")
            for folder in folders for path in (root / folder).rglob("*.[ch]pp")}


class House:
    def __init__(self, files, arrows):
        self.arrows = arrows
        self.files = {path: without_comments(text) for path, text in files.items()}
        self.findings = []

    def check(self):
        for path in sorted(self.files):
            self.check_file(path)
        self.check_circle("the rooms", lambda path: room_of(path))
        self.check_circle("the headers", lambda path: path)
        return self.findings

    def report(self, path, at, text):
        line = self.files[path].count("\n", 0, at) + 1
        self.findings.append(f"{path}:{line}: {text}")

    def check_file(self, path):
        if room_of(path) not in self.arrows:
            self.report(path, 0, f"{room_of(path)} is no room of the house")
            return
        includes = list(INCLUDE.finditer(self.files[path]))
        own = path[:-3] + "hpp"
        if path.endswith(".cpp") and own in self.files:
            if not includes or includes[0].group(2) != own:
                self.report(path, 0, f'the first include is not "{own}"')
        if path.endswith(".hpp") and self.files[path] and "#pragma once\n" not in self.files[path]:
            self.report(path, 0, "it may be included twice")
        for include in includes:
            self.check_include(path, include)
        for name, headers, calls, place in KEPT_INSIDE:
            if not re.match(place, path):
                self.check_kept_inside(path, includes, name, headers, calls)

    def check_include(self, path, include):
        kind, name = include.groups()
        if name not in self.files:
            if kind == '"':
                self.report(path, include.start(), f'"{name}" is not written from the root')
            return
        room, other = room_of(path), room_of(name)
        if other != room and other not in self.arrows[room]:
            self.report(path, include.start(), f"{room} may not see {other} ({name})")

    def check_kept_inside(self, path, includes, name, headers, calls):
        for include in includes:
            if re.fullmatch(headers, include.group(2)):
                self.report(path, include.start(), f"{name} is not used here ({include.group(2)})")
        if calls:
            code = LITERAL.sub(blank, self.files[path])
            for call in re.finditer(calls, code):
                self.report(path, call.start(), f"{name} is not used here ({call.group()})")

    def check_circle(self, what, node_of):
        graph = {}
        for path, text in self.files.items():
            for include in INCLUDE.finditer(text):
                if include.group(2) in self.files and node_of(path) != node_of(include.group(2)):
                    graph.setdefault(node_of(path), set()).add(node_of(include.group(2)))
        if way := circle(graph):
            self.findings.append(f"a circle of {what}: " + " -> ".join(way))


def main():
    root = pathlib.Path(sys.argv[1])
    files = sources(root)
    findings = House(files, read_arrows(root)).check() if files else [f"no sources in {sys.argv[1]}"]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
