#!/usr/bin/env python3
"""Runs the commands of README in order, as a reader would type them. Checks the size of README.

usage: readme.py README PROGRAM...     (the programs of the build)

A block of the kind "console" contains commands after "$ ", and below each one what it prints. Both
must agree, but for figures and remarks that depend on the machine. An indented line is a command
that must succeed. A server, which ends with "&" in a block, runs until the end. Ports are replaced
by free ones, and long runs are shortened. Skipped are commands of tools that are not installed, and
those that fetch, build and install all of this.
"""
import contextlib
import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LONGEST = 100  # lines of README
WIDEST = 100  # columns of what its commands print
LIMIT = 20  # seconds, for one command
SHORTER = [(r"-m (2|30)s", "-m 300ms")]
PEER = "python3 tests/peers/"
LEFT_OUT = re.compile(r"(git|make) ")


def free_port():
    """Returns a port that is free for TCP and UDP."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            return free_port()
        return tcp.getsockname()[1]


def listens(port):
    """Waits until a program listens on a port. Returns whether it happened in time."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", int(port))):
            return True
        time.sleep(0.05)
    return False


def steps(text):
    """Yields each command of a text, and what it prints, or None if the text does not show it."""
    for block, line in re.findall(r"(?ms)^```console\n(.*?)^```|^    ([^\n]*)$", text):
        if line:
            yield line, None
        for part in re.findall(r"(?ms)^\$ (.*?)(?=^\$ |\Z)", block):
            command, printed = part.split("\n", 1)
            yield command, printed


def without_chance(output):
    """Replaces figures and keys, and omits remarks about a slow machine."""
    output = re.sub(r"; (late p50|planned|p50 0)[^;\n]*", "", output)
    output = re.sub(r", most of it yodel's own lateness [^\n]*", "", output)
    output = re.sub(r"sha256//\S+=", "KEY", output)
    output = re.sub(r"(\B[-+])?[0-9]+(\.[0-9]+)?", "0", output)
    output = re.sub(r" +\n", "\n", output)  # fold leaves a blank
    return output.replace("0k/s", "0/s")  # 999/s on a loaded machine


class Reader:
    def __init__(self, folder, path):
        self.folder = folder
        self.path = path
        self.ports = {}
        self.servers = []

    def adapted(self, line):
        for port in set(re.findall(r"\b7\d\d\d\b", line)):
            line = line.replace(port, str(self.ports.setdefault(port, free_port())))
        for pattern, text in SHORTER:
            line = re.sub(pattern, text, line)
        return line

    def start(self, line, printed):
        """Starts a server, and waits until it listens. Some servers in tests/peers do not report it."""
        words = shlex.split(line.removesuffix("&"), comments=True)
        server = subprocess.Popen(words, cwd=self.folder, env=self.path, stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        if printed == "":
            return None if listens(words[2]) else f"{line}: it does not listen"
        first = server.stdout.readline()
        if first.startswith("listening") and printed in (first, None):
            return None
        return f"{line}\n  prints: {first}"

    def complaint(self, line, printed):
        """Runs a command. Returns a complaint, or None."""
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.path, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT)
        if printed is None:
            return f"{line}\n  status {done.returncode}: {done.stdout}" if done.returncode else None
        if without_chance(done.stdout) == without_chance(printed):
            return None
        return f"{line}\n  prints: {done.stdout}"


def tools_are_there(line, path):
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\s# .*", "", line)
    names = re.findall(r"(?:^|[|;&(]\s*)([a-z]\w*\b)(?!=)", bare)
    return all(shutil.which(name, path=path) for name in names)


def complaints(text, reader):
    """Yields each complaint about the commands of a text."""
    for line, printed in steps(text):
        line = reader.adapted(line)
        if LEFT_OUT.match(line) or not tools_are_there(line, reader.path["PATH"]):
            continue
        is_server = line.startswith(("yodeld ", PEER))
        complaint = reader.start(line, printed and reader.adapted(printed)) if is_server else reader.complaint(line, printed)
        if complaint:
            yield complaint


def main():
    readme, *programs = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    path = dict(os.environ)
    path["PATH"] = ":".join([*(str(program.parent) for program in programs), str(readme.parent / "contrib/recipes"), path["PATH"]])
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        shutil.copy(readme, folder)
        os.symlink(readme.parent / "tests", pathlib.Path(folder) / "tests")
        reader = Reader(folder, path)
        stack.callback(lambda: [server.kill() for server in reader.servers])
        text = readme.read_text("utf-8")
        found = list(complaints(text, reader))
    if text.count("\n") > LONGEST:
        found.append(f"README.md: more than {LONGEST} lines")
    printed = "".join(output or "" for _, output in steps(text))
    found += [f"README.md: wider than {WIDEST}: {line}" for line in printed.splitlines() if len(line) > WIDEST]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
