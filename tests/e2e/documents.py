#!/usr/bin/env python3
"""Runs the commands of README, and those of the manuals' sections on services that do not echo and on WebSocket,
in order, as a reader would type them. Checks the size of README.

usage: documents.py SOURCE_FOLDER PROGRAM...     (the programs of the build)

A block of the kind "console" contains commands after "$ ", and below each one what it prints. Both
must agree, but for figures and remarks that depend on the machine. An indented line is a command
that must succeed. A server, which ends with "&" in a block, runs until the end. Ports are replaced
by free ones, of which those of known services get a Redis server, or a server of tests/peers. Long
runs are shortened. Skipped are commands of tools that are not installed, and those that fetch,
build and install all of this.
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
SHORTER = re.compile(r"-m (2|30)s")
PEER = "python3 tests/peers/"
LEFT_OUT = re.compile(r"(git|make) ")
PAGES = ["yodel.1", "yodel-load.1"]
ESCAPES = {r"\e": "\\", r"\(aq": "'", r"\(dq": '"'}
SERVICE = re.compile(r"\b(?:localhost|[\w.]+\.example\.org) (?!7\d\d\d)(\d+)\b")


def section_of(page, title):
    return page.partition(f"\n.Sh {title}\n")[2].split("\n.Sh ")[0]


def texts(root):
    """Yields README, and the commands of each page in the form of README."""
    yield (root / "README.md").read_text("utf-8")
    for name in PAGES:
        page = (root / "app" / name).read_text("utf-8")
        lines = re.findall(r'^\.Dl "?(.*?)"?$', section_of(page, "SERVICES THAT DO NOT ECHO"), re.M)
        for escape, text in ESCAPES.items():
            lines = [line.replace(escape, text) for line in lines]
        for block in re.findall(r"(?ms)^\.Bd -literal.*?\n(.*?)^\.Ed", section_of(page, "WEBSOCKET")):
            lines += block.splitlines()
        yield "".join(f"    {line}\n" for line in lines)


def free_port():
    """Returns a port that is free for TCP and UDP."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        tcp.bind(("127.0.0.1", 0))
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            return free_port()
        return str(tcp.getsockname()[1])


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
    output = re.sub(r"; (lateness p50|planned|p50 0)[^;\n]*", "", output)
    output = re.sub(r", most of it yodel's own lateness [^\n]*", "", output)
    output = re.sub(r"sha256//\S+=", "KEY", output)
    output = re.sub(r"(\B[-+])?[0-9]+(\.[0-9]+)?", "0", output)
    output = re.sub(r" +\n", "\n", output)  # fold leaves a blank
    return output.replace("0k/s", "0/s")  # 999/s on a loaded machine


class Reader:
    def __init__(self, root, programs, stack):
        self.stack = stack
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        shutil.copy(root / "README.md", self.folder)
        (self.folder / "tests").symlink_to(root / "tests")
        path = [*(program.parent for program in programs), root / "contrib/recipes", os.environ["PATH"]]
        self.environment = dict(os.environ, PATH=":".join(map(str, path)), PYTHONDONTWRITEBYTECODE="1",
                                SSL_CERT_FILE=str(self.folder / "cert.pem"))
        self.ports = {}

    def popen(self, words, **streams):
        server = subprocess.Popen(words, cwd=self.folder, env=self.environment, **streams)
        self.stack.callback(server.wait)
        self.stack.callback(server.kill)
        return server

    def serve(self, service):
        """Starts the server of a service. Returns its port."""
        port = free_port()
        words = [sys.executable, "tests/peers/mail.py", port]
        if service == "6379":
            words = ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", ""]
        if service == "465":
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test", "-addext",
                            "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
                           cwd=self.folder, check=True, capture_output=True)
            words += ["tls", "cert.pem", "key.pem"]
        self.popen(words, stdout=subprocess.DEVNULL)
        if not listens(port):
            sys.exit(f"the server for port {service} does not listen")
        return port

    def adapted(self, line):
        for port in set(re.findall(r"\b7\d\d\d\b", line)) - self.ports.keys():
            self.ports[port] = free_port()
        for service in set(SERVICE.findall(line)) - self.ports.keys():
            self.ports[service] = self.serve(service)
        line = SERVICE.sub(lambda target: "127.0.0.1 " + self.ports[target[1]], line)
        line = re.sub(r"\b7\d\d\d\b", lambda port: self.ports[port[0]], line)
        return SHORTER.sub("-m 300ms", line)

    def start(self, line, printed):
        """Starts a server, and waits until it listens. Some servers in tests/peers do not report it."""
        words = shlex.split(line.removesuffix("&"), comments=True)
        server = self.popen(words, stdout=subprocess.PIPE, text=True)
        if printed == "":
            return None if listens(words[2]) else f"{line}: it does not listen"
        first = server.stdout.readline()
        if first.startswith("listening") and printed in (first, None):
            return None
        return f"{line}\n  prints: {first}"

    def run(self, line, printed):
        done = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LIMIT, errors="replace")
        if printed is None:
            return f"{line}\n  status {done.returncode}: {done.stdout}" if done.returncode else None
        if without_chance(done.stdout) == without_chance(printed):
            return None
        return f"{line}\n  prints: {done.stdout}"

    def has_tools_of(self, line):
        bare = re.sub(r"'[^']*'|\"[^\"]*\"|\s# .*", "", line)
        names = re.findall(r"(?:^|[|;&(]\s*)([a-z]\w*\b)(?!=)", bare)
        return all(shutil.which(name, path=self.environment["PATH"]) for name in names)

    def complaints(self, text):
        """Yields each complaint about the commands of a text."""
        for line, printed in steps(text):
            if LEFT_OUT.match(line) or not self.has_tools_of(line):
                continue
            line = self.adapted(line)
            act = self.start if line.startswith(("yodeld ", PEER)) else self.run
            if complaint := act(line, printed and self.adapted(printed)):
                yield complaint


def main():
    root, *programs = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    readme, *pages = texts(root)
    found = []
    with contextlib.ExitStack() as stack:
        for text in (readme, *pages):
            found += Reader(root, programs, stack).complaints(text)
    if not all(pages) or "yodeld" not in pages[0]:
        found.append("there are no examples")
    if readme.count("\n") > LONGEST:
        found.append(f"README.md: more than {LONGEST} lines")
    printed = "".join(output or "" for _, output in steps(readme))
    found += [f"README.md: wider than {WIDEST}: {line}" for line in printed.splitlines() if len(line) > WIDEST]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
