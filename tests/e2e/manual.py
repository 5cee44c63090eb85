#!/usr/bin/env python3
"""Runs the examples of the manuals' sections on services that do not echo and on WebSocket.

usage: manual.py FOLDER_OF_PAGES PROGRAM...     (the programs of the build)

Each .Dl line is a command. Its target is replaced by a Redis server, or by a server in
tests/peers, on a free port. Long runs are shortened as in README. The lines of the example on
WebSocket, of which one starts a server, are run like lines of README.
"""
import contextlib
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from readme import LIMIT, SHORTER, Reader, complaints, free_port, listens

PAGES = ["yodel.1", "yodel-load.1"]
SECTION = "SERVICES THAT DO NOT ECHO"
ESCAPES = {r"\e": "\\", r"\(aq": "'", r"\(dq": '"'}
TARGET = re.compile(r"\b(?:localhost|[\w.]+\.example\.org) (\d+)\b")


def section_of(page, title):
    return page.split(f"\n.Sh {title}\n")[1].split("\n.Sh ")[0]


def examples(page):
    """Returns the commands of the section."""
    for line in re.findall(r"^\.Dl (.*)", section_of(page, SECTION), re.MULTILINE):
        line = line.removeprefix('"').removesuffix('"')
        for escape, text in ESCAPES.items():
            line = line.replace(escape, text)
        yield line


def websocket_lines(page):
    """Returns the literal lines of the section, indented as in README."""
    blocks = re.findall(r"(?ms)^\.Bd -literal.*?\n(.*?)^\.Ed", section_of(page, "WEBSOCKET"))
    return re.sub("^", "    ", "".join(blocks), flags=re.MULTILINE)


def certificate(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
                   cwd=folder, check=True, capture_output=True)
    return ["tls", "cert.pem", "key.pem"]


def command_of(service, port, peers, folder):
    mail = [sys.executable, str(peers / "mail.py"), port]
    if service == "6379":
        return ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", ""]
    return mail + (certificate(folder) if service == "465" else [])


class Examples:
    def __init__(self, folder, stack, pages, programs):
        self.folder = folder
        self.stack = stack
        self.peers = pages.parent / "tests" / "peers"
        recipes = pages.parent / "contrib" / "recipes"
        path = ":".join([*(str(program.parent) for program in programs), str(recipes), os.environ["PATH"]])
        self.environment = dict(os.environ, PATH=path, SSL_CERT_FILE=str(folder / "cert.pem"),
                                PYTHONDONTWRITEBYTECODE="1")
        self.ports = {}

    def port_of(self, service):
        if service not in self.ports:
            self.ports[service] = port = str(free_port())
            server = subprocess.Popen(command_of(service, port, self.peers, self.folder), cwd=self.folder,
                                      stdout=subprocess.DEVNULL)
            self.stack.callback(server.wait)
            self.stack.callback(server.kill)
            if not listens(port):
                sys.exit(f"the server for port {service} does not listen")
        return self.ports[service]

    def complaint(self, line):
        adapted = TARGET.sub(lambda target: "127.0.0.1 " + self.port_of(target[1]), line)
        for pattern, text in SHORTER:
            adapted = re.sub(pattern, text, adapted)
        done = subprocess.run(["bash", "-c", adapted], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, errors="replace")
        return f"{line}\n  status {done.returncode}: {done.stderr}" if done.returncode != 0 else ""


def main():
    pages, *programs = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    texts = [(pages / name).read_text("utf-8") for name in PAGES]
    lines = [list(examples(text)) for text in texts]
    websocket = websocket_lines(texts[0])
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        runner = Examples(folder, stack, pages, programs)
        reader = Reader(folder, runner.environment)
        stack.callback(lambda: [server.kill() for server in reader.servers])
        found = [*filter(None, map(runner.complaint, itertools.chain(*lines))), *complaints(websocket, reader)]
    if not all(lines) or "yodeld" not in websocket:
        found.append("there are no examples")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
