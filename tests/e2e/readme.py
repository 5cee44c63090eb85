#!/usr/bin/env python3
"""Runs the commands of README, block by block, as a reader would type them.

usage: readme.py README PROGRAM...     (the programs of the build)

Every indented line of README is a command. Ports are replaced by free ones, and long runs are
shortened. Lines with yodeld or a server in tests/peers are run first: they start a server that
keeps running. Lines that end in the background are typed into a shell on a terminal. "# status N" after a
command is its exit status, 0 by default. Skipped are commands of tools that are not installed,
make, which builds all of this, and the search for the highest rate, which takes long.

A block of the kind "console" is a session: a command after "$ ", and below it what it prints.
Both must agree, but for figures and remarks that depend on the machine.
"""
import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import pty
import re
import select
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

LIMIT = 20  # seconds, for one command
SHORTER = [(r"-m (2|30)s", "-m 300ms"), (r"-c 5000\b", "-c 100"), (r"-i (20|200)ms", "-i 1ms"),
           (r"seq 10\b", "seq 2"), (r"\+5 sec", "+2 sec"), (r"sleep 10\b", "sleep 0.1"),
           (r"sleep 1\.4", "sleep 0.1"), (r"sleep 1\b", "sleep 0.3"), (r"--rate 20k", "--rate 2k"),
           (r"-W 1s", "-W 600ms"), (r"'p99<5ms,", "'p99<5s,"), (r"parallel -j 4", "xargs -P 4 -I {} sh -c")]
PROMPT = "typed> "
JOB = re.compile(r"& \w+=\$!")  # a command in the background
PEER = "python3 tests/peers/"
LEFT_OUT = re.compile(r"make ")


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


def on_terminal(lines, folder, environment):
    """Types lines into a shell on a terminal. Returns its output."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "--noprofile", "--norc", "--noediting", "-i"],
                   dict(environment, TERM="xterm", PS1=PROMPT))
    lines = [*lines, "exit"]
    typed = 0
    output = b""
    until = time.monotonic() + LIMIT
    with open(master, "r+b", buffering=0) as terminal:
        try:
            while select.select([terminal], [], [], max(until - time.monotonic(), 0))[0]:
                output += terminal.read(4096)
                if typed < min(output.count(PROMPT.encode()), len(lines)):
                    terminal.write(lines[typed].encode() + b"\n")
                    typed += 1
        except OSError:  # all users of the terminal have ended
            pass
    os.waitpid(pid, 0)
    return output.decode()


def commands(text):
    """Returns the indented lines of a text."""
    return [line[4:] for line in text.splitlines() if line.startswith("    ")]


def sessions(text):
    """Yields each command of the console blocks, and what it prints."""
    for block in re.findall(r"(?ms)^```console\n(.*?)^```", text):
        for part in re.findall(r"(?ms)^\$ (.*?)(?=^\$ |\Z)", block):
            yield tuple(part.split("\n", 1))


def without_chance(output):
    """Replaces figures and keys, and omits remarks about a slow machine."""
    output = re.sub(r"; (late p50|planned|p50 0)[^;\n]*", "", output)
    output = re.sub(r", most of it yodel's own lateness [^\n]*", "", output)
    output = re.sub(r"sha256//\S+=", "KEY", output)
    output = re.sub(r"(\B[-+])?[0-9]+(\.[0-9]+)?", "0", output)
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

    def start(self, line):
        """Starts a server, and waits until it listens. The servers in tests/peers do not report it."""
        if line.startswith(PEER):
            self.servers.append(subprocess.Popen(shlex.split(line, comments=True), cwd=self.folder))
            return None if listens(line.split()[2]) else f"{line}: it does not listen"
        server = subprocess.Popen(["bash", "-c", "exec " + line], cwd=self.folder, env=self.path,
                                  stdout=subprocess.PIPE, text=True)
        self.servers.append(server)
        if not server.stdout.readline().startswith("listening"):
            return f"{line}: it does not listen"
        return None

    def run(self, lines):
        """Runs lines as one script. Returns a complaint, or None."""
        script = "\n".join(lines)
        if JOB.search(script):
            return self.run_jobs(lines)
        wanted = int((re.findall(r"# status (\d+)", script) or ["0"])[0])
        done = subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.path, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        if done.returncode == wanted:
            return None
        return f"{script}\n  status {done.returncode}, not {wanted}: {done.stderr}{done.stdout}"

    def compare(self, command, printed):
        """Returns a complaint if a command prints something else."""
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.path, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT)
        if without_chance(done.stdout) == without_chance(printed):
            return None
        return f"{command}\n  prints: {done.stdout}"

    def run_jobs(self, lines):
        """Checks that each load in the background prints its summary, and the shell no error."""
        output = on_terminal(lines, self.folder, self.path)
        jobs = sum(line.startswith("yodel-load ") for line in lines)
        if output.count(" echoed, ") == jobs and "bash:" not in output:
            return None
        return f"{lines}\n  {jobs} summaries are wanted: {output}"


def tools_are_there(line, path):
    bare = re.sub(r"'[^']*'|\"[^\"]*\"|\s# .*", "", line)
    names = re.findall(r"(?:^|[|;&(]\s*)([a-z]\w*\b)(?!=)", bare)
    shell = {"for", "do", "done", "wait", "kill", "date"}
    return all(name in shell or shutil.which(name, path=path) for name in names)


def is_server(line):
    return line.startswith(("yodeld ", PEER)) and "&" not in line


def complaints(text, reader):
    """Yields each complaint. Lines that share a pipe or jobs are one script."""
    lines = [line for line in map(reader.adapted, commands(text))
             if not LEFT_OUT.match(line) and tools_are_there(line, reader.path["PATH"])]
    yield from filter(None, map(reader.start, filter(is_server, lines)))
    pool = concurrent.futures.ThreadPoolExecutor()
    compared = [pool.submit(reader.compare, reader.adapted(command), printed)
                for command, printed in sessions(text)]  # they mostly wait
    script = []
    for line in itertools.filterfalse(is_server, lines):
        script.append(line)
        if line.endswith("|") or (JOB.search(line) and "wait" not in line):
            continue
        complaint = reader.run(script)
        if complaint:
            yield complaint
        script = []
    yield from filter(None, (session.result() for session in compared))


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
        found = list(complaints(readme.read_text("utf-8"), reader))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
