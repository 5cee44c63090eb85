#!/usr/bin/env python3
"""Makes each system call and each allocation of short conversations fail once.

usage: torture.py [--every N] [--only TEXT] FOLDER LIBRARY

FOLDER contains the programs, LIBRARY is the compiled fail_once.cpp. A first run of each scenario
lists the calls. Then each call is made to fail with each possible error of its function. The run
must end in time, without a crash, with the terminal restored and no leaked descriptor. Status 0 is
allowed only if its output is complete; otherwise it must print a sentence on standard error. A
server must serve the next client, unless it has reported that it is out of memory. --every N takes
each Nth case, and --only the cases that begin with the text. If that is one, its output and the
callers of the failed call are printed.
"""
import argparse
import concurrent.futures
import errno
import fcntl
import json
import os
import pathlib
import re
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import termios
import time

# The errors of each function. "!": the program must continue as if nothing had happened. "~": the
# call is made anyway. fcntl() is omitted, because it can't fail for an own descriptor.
FILE = "EINTR EMFILE ENFILE EACCES ENOENT ENOMEM"
WAIT = "EINTR! ENOMEM EINVAL"
PATH = "EACCES ENOENT"
OUTPUT = "EINTR! EAGAIN! EPIPE EIO ENOSPC"
DATAGRAM = "EINTR! EAGAIN! ECONNREFUSED ENOBUFS ENOMEM"
ALLOCATORS = {"malloc", "calloc", "realloc", "aligned_alloc"}
ERRORS = dict.fromkeys(ALLOCATORS, "ENOMEM") | {
    "accept": "EINTR! EAGAIN! ECONNABORTED! EPROTO! ENETDOWN! EMFILE! ENFILE! ENOBUFS! EPERM!",
    "access": PATH, "bind": "EADDRINUSE EADDRNOTAVAIL EACCES", "close": "EINTR!~ EIO~ ENOSPC~",
    "connect": "EINTR!~ EINPROGRESS!~ ECONNREFUSED ENETUNREACH EADDRNOTAVAIL EACCES EAGAIN "
               "ETIMEDOUT ENOBUFS",
    "epoll_create1": "EMFILE ENOMEM", "epoll_ctl": "ENOMEM ENOSPC EPERM",
    "epoll_pwait2": WAIT + " ENOSYS!", "epoll_wait": WAIT, "fdopen": "ENOMEM",
    "fflush": OUTPUT, "fopen": FILE, "fopen64": FILE, "fputs": OUTPUT, "fstat": "EIO EOVERFLOW",
    "fstat64": "EIO EOVERFLOW", "getentropy": "EIO ENOSYS",
    "getaddrinfo": "EAI_AGAIN EAI_FAIL EAI_MEMORY EAI_NONAME EAI_SYSTEM",
    "getpeername": "ENOTCONN ENOBUFS", "getrlimit64": "EPERM", "getsockname": "ENOBUFS",
    "getsockopt": "ENOBUFS EINVAL", "ioctl": "ENOTTY EIO", "listen": "EADDRINUSE",
    "lstat64": PATH, "memfd_create": "EMFILE ENOMEM ENOSYS", "mmap": "ENOMEM EACCES",
    "open": FILE, "open64": FILE, "pipe": "EMFILE ENFILE", "pipe2": "EMFILE ENFILE",
    "poll": WAIT, "ppoll": WAIT,
    "prctl": "EINVAL EPERM", "pselect": WAIT, "pthread_create": "EAGAIN EPERM",
    "read": "EINTR! EAGAIN! EIO ECONNRESET",
    "recv": "EINTR! EAGAIN! ECONNRESET ETIMEDOUT ENOMEM ENOTCONN",
    "recvfrom": DATAGRAM, "recvmmsg": DATAGRAM + " ENOSYS", "recvmsg": DATAGRAM,
    "rename": "EACCES ENOSPC", "sched_getaffinity": "EPERM",
    "send": "EINTR! EAGAIN! EPIPE ECONNRESET ENOBUFS EPERM",
    "sendmmsg": DATAGRAM + " ENOSYS", "sendmsg": DATAGRAM, "sendto": DATAGRAM,
    "setlocale": "ENOMEM", "setrlimit64": "EPERM", "shutdown": "ENOTCONN", "signal": "EINVAL",
    "setsockopt": "ENOPROTOOPT ENOMEM EPERM", "sigaction": "EINVAL", "sigaltstack": "ENOMEM",
    "socket": "EMFILE ENFILE EAFNOSUPPORT EACCES ENOMEM", "stat": PATH, "stat64": PATH,
    "syscall": "ENOSYS! EOPNOTSUPP! EPERM EMFILE ENOMEM",  # the sandbox
    "sysconf": "EINVAL",
    "tcgetattr": "ENOTTY EIO", "tcsetattr": "EINTR! EIO", "tmpfile64": FILE, "ttyname": "ENOENT",
    "unlink": "EACCES ENOENT", "write": OUTPUT, "writev": OUTPUT,
}
# Calls that a server needs.
VITAL = {"poll", "ppoll", "pselect", "epoll_wait", "epoll_pwait2", "pthread_create"}
# Callers in libraries that, without memory, end the process, leave a file open, or report an
# algorithm as missing for ever.
CARELESS = re.compile(r"^(_nc_\w+|newterm\w*|delscreen|tigetstr\w*|start_color\w*|getaddrinfo|"
                      r"get_nss_addresses|EVP_\w+_fetch)$")
STATUSES = {0, 1, 6, 7, 23, 26, 28, 35, 55, 56, 58, 60, 77, 90}
LONGEST = 60  # seconds; a run takes 0.1, but more on a loaded machine
LISTING = ("list", 0, "EIO")
WORDS = "one\ntwo\nthree\n"


class Run:
    """A program in which one call fails: (function, number of the call, error)."""

    def __init__(self, rig, fault, program, arguments, **more):
        self.folder = tempfile.TemporaryDirectory(dir=rig.folder.name)
        function, call, error = fault
        name = error.strip("!~")
        code = getattr(socket if name.startswith("EAI") else errno, name)
        environment = dict(
            os.environ, LD_PRELOAD=rig.library, TORTURE_REPORT=self.path("report"),
            TORTURE=f"{function} {call} {code}{' late' if '~' in error else ''}",
            TERM="xterm-256color", LC_ALL="C.UTF-8", SSLKEYLOGFILE=self.path("keys"))
        arguments = [each.replace("FOLDER", self.folder.name) for each in arguments]
        self.process = subprocess.Popen([rig.program(program), *arguments], env=environment,
                                        start_new_session=True, stderr=subprocess.PIPE, **more)
        self.output = self.errors = ""
        self.restored = self.complete = True
        self.hangs = self.interrupted = self.deserted = False

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def lines(self, file="report", word=""):
        path = pathlib.Path(self.path(file))
        found = path.read_text().splitlines() if path.exists() else []
        return [line for line in found if line.startswith(word)]

    def running(self):
        return self.process.poll() is None

    def finish(self, sent=None):
        try:
            output, errors = self.process.communicate(sent, LONGEST)
        except subprocess.TimeoutExpired:
            self.hangs = True
            self.process.kill()
            output, errors = self.process.communicate()
        self.output += (output or b"").decode(errors="replace")
        self.errors = errors.decode(errors="replace")
        self.status = self.process.returncode

    def failed(self):
        return bool(self.lines(word="failed"))

    def calls(self):
        """Returns the function, number, digest of the callers and file of each call."""
        return [line.split(" ", 4)[1:] for line in self.lines(word="call")]

    def open_files(self):
        return [line.split(" ", 2)[2] for line in self.lines(word="open")]

    def callers(self):
        """Returns the places and names of the callers of the failed call."""
        frames = [re.fullmatch(r"(.*)\+(.*):(.*)", each).groups()
                  for line in self.lines(word="failed") for each in line.split()[3:]]
        for module, address, name in frames:
            if not module.endswith("fail_once.so"):
                found = subprocess.run(["addr2line", "-Cfspe", module, address],
                                       capture_output=True, check=False).stdout.decode()
                place = found.strip().partition(" at ")[0]
                yield os.path.basename(module), name if place in ("", "??") else place


class Client:
    """A client without a screen."""

    def __init__(self, *arguments, program="yodel", complete=lambda run: run.output == WORDS,
                 sent=WORDS):
        self.arguments, self.program = arguments, program
        self.complete, self.sent = complete, sent

    def play(self, rig, fault):
        run = Run(rig, fault, self.program, rig.filled_in(self.arguments),
                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        run.finish(self.sent.encode())
        run.complete = self.complete(run)
        return run


def is_unattended_whole(run):
    """Writes the end object and the log of five messages."""
    try:
        end = json.loads(run.output.splitlines()[-1])
        log = [json.loads(line) for line in run.lines("log.json")]
    except (ValueError, IndexError):
        return False
    return end.get("echoed") == 5 and len(log) >= 5


class Screen:
    """The full-screen client. Its user sends a word, waits for the echo and leaves, or interrupts
    it if that takes too long."""

    def __init__(self, *arguments):
        self.arguments = arguments

    def play(self, rig, fault):
        master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        before = termios.tcgetattr(slave)
        run = Run(rig, fault, "yodel", rig.filled_in(self.arguments), stdin=slave, stdout=slave,
                  preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY))
        shown = self.converse(run, master)
        run.finish()
        while select.select([master], [], [], 0)[0]:
            shown += os.read(master, 65536)
        run.output = shown.decode(errors="replace")
        run.restored = (termios.tcgetattr(slave) == before
                        and run.output.count("\x1b[?1049h") <= run.output.count("\x1b[?1049l"))
        run.complete = run.interrupted or "✓" in run.output
        os.close(master)
        os.close(slave)
        return run

    @staticmethod
    def converse(run, master):
        shown = b""
        steps = [("line", b"word\r"), ("✓", b"\x04")]
        patience = time.monotonic() + 5
        end = time.monotonic() + LONGEST
        while run.running() and time.monotonic() < end:
            if select.select([master], [], [], 0.01)[0]:
                shown += os.read(master, 65536)
            if steps and steps[0][0].encode() in shown:
                os.write(master, steps.pop(0)[1])
            if time.monotonic() > patience:
                os.write(master, b"\x03\x03")
                run.interrupted = True
                patience += 2
        return shown


class Server:
    """yodeld. The fault may lose the current client, but not the next one."""

    def __init__(self, *arguments, served):
        self.arguments, self.served = arguments, served

    def play(self, rig, fault):
        run = Run(rig, fault, "yodeld", self.arguments, stdin=subprocess.DEVNULL,
                  stdout=subprocess.PIPE)
        if select.select([run.process.stdout], [], [], LONGEST)[0]:
            run.output = run.process.stdout.readline().decode()
        port = re.search(r":(\d+)$", run.output.strip())
        run.complete = bool(port)
        for _ in range(3 if port else 0):
            before = run.failed()
            if not self.served(int(port[1])) and run.failed() == before:
                run.deserted = True
        try:
            if run.deserted:
                run.process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        run.deserted = run.deserted or not run.running()
        run.process.send_signal(signal.SIGTERM)
        run.finish()
        return run


def served_stream(port, wrap=lambda plain: plain):
    try:
        with wrap(socket.create_connection(("127.0.0.1", port), 20)) as peer:
            peer.sendall(WORDS.encode())
            got = part = peer.recv(100)
            while part and len(got) < len(WORDS):
                part = peer.recv(100)
                got += part
            return got == WORDS.encode()
    except OSError:
        return False


def served_tls(port):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return served_stream(port, context.wrap_socket)


def served_datagram(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
        peer.settimeout(1)
        peer.connect(("127.0.0.1", port))
        for _ in range(5):  # one may be lost
            try:
                peer.send(b"word")
                return peer.recv(100) == b"word"
            except OSError:
                pass
    return False


def is_known(name):
    try:
        return socket.gethostbyname(name) == "127.0.0.1"
    except OSError:
        return False


HERE = ("127.0.0.1", "STREAM")
NAME = "LOCALHOST"  # not numeric, so looked up; a bare system lacks it
SCENARIOS = {
    "pipe": Client(*HERE),
    "name": Client(NAME, "STREAM"),
    "tls": Client("--tls", "--cacert", "AUTHORITY", "localhost", "TLS"),
    "own": Client("--tls", "--no-tui"),
    "datagrams": Client("-u", "-W2", *HERE),
    "unattended": Client("-c5", "-i0", "-W2", "--json", "-o", "FOLDER/log.json",
                         *HERE, complete=is_unattended_whole, sent=""),
    "crowd": Client("--connections", "3", "--threads", "2", "-c6", "-W2", "--json", *HERE,
                    program="yodel-load", complete=lambda run: '"echoed":6' in run.output,
                    sent=""),
    "screen": Screen(*HERE),
    "server": Server("--port-file", "FOLDER/ports", "0", served=served_stream),
    "server-tls": Server("--tls", "--self-signed", "0", served=served_tls),
    "server-datagrams": Server("-u", "0", served=served_datagram),
}


class Rig:
    """Shared by all runs: the programs, servers without faults, and the runs that list calls."""

    def __init__(self, programs, library):
        self.programs, self.library = programs, os.path.abspath(library)
        self.folder = tempfile.TemporaryDirectory(prefix="torture.")
        self.servers = []
        authority = os.path.join(self.folder.name, "authority")
        self.words = {"STREAM": self.serve("-u", "0"), "AUTHORITY": authority,
                      "TLS": self.serve("--tls", "--self-signed", "0")}
        certificate = ssl.get_server_certificate(("127.0.0.1", int(self.words["TLS"])))
        pathlib.Path(authority).write_text(certificate)
        self.listings = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for server in self.servers:
            server.kill()
            server.wait()

    def program(self, name):
        return os.path.join(self.programs, name)

    def scenarios(self):
        """Returns all scenarios that the system supports."""
        return [name for name in SCENARIOS if name != "name" or is_known(NAME)]

    def serve(self, *arguments):
        server = subprocess.Popen([self.program("yodeld"), *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.servers.append(server)
        return server.stdout.readline().decode().strip().rpartition(":")[2]

    def filled_in(self, arguments):
        return [self.words.get(each, each) for each in arguments]

    def listing(self, name):
        if name not in self.listings:
            run = SCENARIOS[name].play(self, LISTING)
            wrong = verdict(run, run, LISTING) or (run.status and f"status {run.status}")
            if wrong:
                sys.exit(f"{name}, without a fault: {wrong}\n{run.output}{run.errors}")
            self.listings[name] = run
        return self.listings[name]


def verdict(run, listing, fault):
    """Returns the failure of a run, or nothing."""
    function, _, error = fault
    by_terminal = run.status in (-signal.SIGHUP, -signal.SIGINT) and "ended by" in run.errors
    unheard = function in ("write", "writev")  # the sentence itself may have failed
    if run.hangs:
        return "does not end"
    if not run.restored and (error.endswith("!") or function not in ("write", "tcsetattr")):
        return "does not restore the terminal"
    if by_terminal or (run.interrupted and run.status == -signal.SIGINT):
        return None
    # The C library ends a program that lacks memory for the first thread_local object of a kind.
    if run.status == -signal.SIGABRT and "failed to register TLS destructor: out of" in run.errors:
        return None
    if run.status == 2 and fault[::2] == ("connect", "EACCES"):
        return None  # so the system refuses a broadcast address, which is a usage error
    if run.status not in STATUSES:
        return f"dies by signal {-run.status}" if run.status < 0 else f"status {run.status}"
    if run.status == 0 and not run.complete:
        return "ends with 0, and its output is not complete"
    if run.status != 0 and "!" in error:
        return f"does not go on: status {run.status}"
    if run.status != 0 and not run.errors.strip() and not unheard:
        return f"status {run.status} without a sentence"
    if "Success" in run.errors:
        return "an error called Success"
    vital = function in VITAL or "out of memory" in run.errors
    if run.deserted and not vital and is_while_serving(listing, fault):
        return f"the next client is not served, status {run.status}"
    if function in VITAL:
        return None  # a look-up's thread may still have its pipe
    more = run.open_files()[len(listing.open_files()):]
    if any(called == "pthread_create" for called, *_ in listing.calls()):  # the same thread
        more = [name for name in more if not name.startswith("pipe:")]
    return f"leaves open: {more}" if more else None


def is_while_serving(listing, fault):
    calls = [(function, int(call)) for function, call, _, _ in listing.calls()]
    first_wait = next(i for i, (function, _) in enumerate(calls) if function == "poll")
    return fault[:2] in calls[first_wait:]


def play(rig, name, fault):
    """Returns the run and its failure, if any."""
    run = SCENARIOS[name].play(rig, fault)
    if not run.failed():
        return run, None
    wrong = verdict(run, rig.listing(name), fault)
    if wrong and fault[0] in ALLOCATORS and not run.hangs and run.restored:
        careless = any("ld-linux" in module or CARELESS.match(caller)
                       for module, caller in run.callers())
        wrong = None if careless else wrong
    return run, wrong


def errors_of(function, file, standard):
    """Omits errors that an internal pipe or a file can't cause."""
    errors = ERRORS[function].split()
    if file.startswith("pipe:") and file not in standard:
        return [each for each in errors if each.startswith("EINTR")]
    if file.startswith("/") and not file.startswith("/dev/"):
        return [each for each in errors if each not in ("EAGAIN!", "EPIPE", "ECONNRESET")]
    return errors


def cases(rig, name):
    """Returns the cases of a scenario; of many allocations by the same callers, only the first."""
    listing = rig.listing(name)
    many = len(listing.calls()) > 3000
    standard = listing.open_files()[:3]
    seen = set()
    for function, call, digest, file in listing.calls():
        if many and function in ALLOCATORS and (function, digest) in seen:
            continue
        seen.add((function, digest))
        for error in errors_of(function, file, standard):
            yield name, (function, int(call), error)


def case_name(name, fault):
    return " ".join([name, *map(str, fault)])


def play_all(rig, options):
    names = [name for name in rig.scenarios()
             if f"{name} ".startswith(options.only[:len(name) + 1])]
    chosen = [case for name in names for case in cases(rig, name)
              if case_name(*case).startswith(options.only)][::options.every]
    if len(chosen) == 1:
        run, wrong = play(rig, *chosen[0])
        print(run.output, run.errors, *(" ".join(each) for each in run.callers()),
              f"status {run.status}: {wrong or 'as it should be'}", sep="\n")
        return wrong is None
    missed = wrongs = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for case, (run, wrong) in zip(chosen, pool.map(lambda case: play(rig, *case), chosen)):
            missed += not run.failed()
            wrongs += wrong is not None
            if wrong:
                print(f"{case_name(*case)}: {wrong}", flush=True)
    print(f"{len(chosen)} runs, {missed} of them without their call; {wrongs} went wrong")
    if wrongs:
        print(f"One again: {sys.argv[0]} {options.folder} {options.library} --only CASE")
    return wrongs == 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("usage: ")[2].partition("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("library")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with Rig(options.folder, options.library) as rig:
        return play_all(rig, options)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
