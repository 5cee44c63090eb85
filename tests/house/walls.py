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

# The rooms, and the rooms that each may include, besides standard and system headers. A new arrow
# is a decision: it also belongs in HACKING.md and CMakeLists.txt.
ALLOWED = {
    "ev": set(),  # the core of the loop
    "ev/backends": {"ev"},
    "ev/threads": {"ev"},
    "bufio": {"ev", "ev/threads"},
    "ui/text": set(),  # visible text: all of ui that a program without a screen needs
    "ui": {"ui/text"},
    "app/text": {"ui/text", "bufio", "ev/backends", "ev"},
    "app/process": {"app/text", "bufio"},
    "app/stats": {"app/text", "ev"},
    "app/websocket": {"bufio", "ui/text"},
    "app/protocol": {"app/websocket", "app/text", "ui/text", "bufio", "ev"},
    "app/server": {"app/protocol", "app/websocket", "app/text", "bufio", "ev/threads", "ev"},
    "app/run": {"app/protocol", "app/stats", "app/process", "app/text", "ui/text", "bufio", "ev/threads",
                "ev"},
    "app/screen": {"app/protocol", "app/stats", "app/process", "app/text", "ui/text", "ui", "ev"},
    "app/load": {"app/run", "app/screen", "app/stats", "app/protocol", "app/process", "app/text", "ui/text",
                 "ev"},
    "app/options": {"app/load", "app/run", "app/server", "app/protocol", "app/stats",
                    "app/text", "bufio", "ev/threads", "ev"},
    "app": {"app/options", "app/load", "app/screen", "app/run", "app/server", "app/protocol", "app/stats",
            "app/process", "app/text", "ui/text", "ui", "bufio", "ev/backends", "ev/threads", "ev"},
}
MAINS = {"app/yodel.cpp", "app/yodel_load.cpp", "app/yodeld.cpp"}
# The units of ui/text, a room without a folder.
UI_TEXT = {"ui/text", "ui/utf8"}

# Restricted features: name, headers, calls, and the files that may use them.
KEPT_INSIDE = [
    ("a readiness call", r"(sys/)?(poll|select|epoll|event)\.h",
     # Our functions named `select` take one argument, the system's takes five.
     r"(?<![\w.>])(?<!\w::)(p?poll|epoll_\w+|kqueue|kevent|pselect)\s*\("
     r"|(?<![\w.>])(?<!\w::)select\s*\([^;]*?,[^;]*?,[^;]*?,", r"ev/"),
    ("OpenSSL", r"openssl/.*", None, r"bufio/tls[^/]*$"),
    ("curses", r"(.*/)?(n?curses|term|panel|menu|form)\.h", None, r"ui/"),
    ("a socket", r"(sys/(socket|un)|netdb|netinet/.*|arpa/.*)(\.h)?", None, r"(bufio|app)/"),
    ("the loop", r"ev/loop\.hpp", None, r"(?!app/stats/)"),  # app/stats needs only its times
]

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# A comment or a literal. Literals are matched so that no comment begins inside them.
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)
LITERAL = re.compile(r'"(?:\\.|[^"\\\n])*"')


def blank(found):
    return re.sub(r"[^\n]", " ", found.group())


def without_comments(text):
    return COMMENT.sub(lambda found: found.group(1) or blank(found), text)


def room_of(path):
    """Returns the room of a file: its folder, except for the units of ui/text."""
    return "ui/text" if path.rpartition(".")[0] in UI_TEXT else path.rpartition("/")[0]


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
    folders = {name.partition("/")[0] for name in ALLOWED}
    return {path.relative_to(root).as_posix(): path.read_text("utf-8")
            for folder in folders for path in (root / folder).rglob("*.[ch]pp")}


class House:
    def __init__(self, files):
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
        if room_of(path) not in ALLOWED:
            self.report(path, 0, f"{room_of(path)} is no room of the house")
            return
        if room_of(path) == "app" and path not in MAINS:
            self.report(path, 0, "app holds the mains; a room has to be found for this")
        includes = list(INCLUDE.finditer(self.files[path]))
        own = path[:-3] + "hpp"
        if path.endswith(".cpp") and own in self.files:
            if not includes or includes[0].group(2) != own:
                self.report(path, 0, f'the first include is not "{own}"')
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
        if other != room and other not in ALLOWED[room]:
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
    files = sources(pathlib.Path(sys.argv[1]))
    findings = House(files).check() if files else [f"no sources in {sys.argv[1]}"]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
