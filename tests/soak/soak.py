#!/usr/bin/env python3
"""Runs the programs for a long time under a changing load with faults, and checks that memory,
descriptors and round-trip times stay constant.

usage: soak.py FOLDER MINUTES [SEED]

FOLDER contains the programs. Five servers and four clients live for the whole run. Each round
starts many short-lived clients, good and faulty (load.py). After a quiet moment it prints a row of
measurements. The verdict at the end (verdict.py) compares the last third of the rows with the
first. Exit status: 0 if everything is flat and no failure occurred; 1 otherwise; 2 for a usage
error.
"""
import collections
import contextlib
import itertools
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import load
import verdict

ROUND = 24  # seconds of load; about 30 with the quiet moment and its measurements
MAX_SETTLING = 20
SETTLING = 2.5  # seconds: a server frees memory a second after the last traffic
WARM_UP_ROUND = load.INTENSITIES.index(max(load.INTENSITIES))
PINGS = 400
PING_RUNS = 5

SERVERS = {
    "plain": ["-m", "4000", "--idle-timeout", "10s"],
    "tls": ["--tls", "--idle-timeout", "10s"],
    "hasty": ["--tls", "--handshake-timeout", "1s", "--idle-timeout", "1s"],
    "faulty": ["-f", "len4", "--max-frame", "1M", "--idle-timeout", "3s", "--delay", "2ms~2ms",
               "--drop", "1%", "--corrupt", "1%", "--dup", "1%", "--chunk", "1000",
               "--close-after", "500"],
    "udp": ["-u", "--delay", "1ms~1ms", "--drop", "1%", "--corrupt", "1%",
            "--dup", "1%", "--reorder", "2%"],
}

Sample = collections.namedtuple("Sample", "rss peak descriptors threads")


class Process:
    """A program of ours, monitored from start to end."""

    def __init__(self, name, command, **streams):
        self.name = name
        self.samples = []
        self.child = subprocess.Popen(command, **{"stdin": subprocess.DEVNULL,
                                                  "stderr": subprocess.PIPE, **streams})
        self.lines = collections.Counter()  # its standard error output, without numbers
        self.reader = threading.Thread(target=self.read_errors, daemon=True)
        self.reader.start()

    def read_errors(self):
        for line in self.child.stderr:
            text = re.sub(r"\d+", "N", line.decode(errors="replace").strip())
            self.lines[re.sub(r"^.*?N: ", "", text)[:100]] += 1

    def status(self, field):
        text = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+)", text, re.M).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))

    def measure(self):
        """Adds a sample, and resets the peak."""
        self.samples.append(Sample(self.status("VmRSS"), self.status("VmHWM"), self.descriptors(),
                                   self.status("Threads")))
        pathlib.Path(f"/proc/{self.child.pid}/clear_refs").write_text("5")

    def settled(self):
        most = max(sample.descriptors for sample in self.samples) if self.samples else 0
        return self.descriptors() <= most

    def end(self, signo=signal.SIGTERM, allowed=frozenset({-signal.SIGTERM})):
        """Returns a sentence about a failure, or None if it ends correctly."""
        if signo and self.child.poll() is not None:
            return f"{self.name} ended by itself, with {self.child.returncode}"
        if signo:
            self.child.send_signal(signo)
        self.child.wait(load.PATIENCE)
        if self.child.returncode not in allowed:
            return f"{self.name} ended with {self.child.returncode}"
        return None


def start_server(name, yodeld, certificate):
    command = [yodeld, *SERVERS[name], f"{load.HOST}:0"]
    if "--tls" in command:
        command += ["--cert", str(certificate), "--key", str(certificate)]
    server = Process(name, command, stdout=subprocess.PIPE)
    server.port = int(server.child.stdout.readline().rsplit(b":", 1)[1])
    return server


class Talker(Process):
    """A pipe client that receives a line now and then, and must print its echo."""

    def __init__(self, yodel, port):
        super().__init__("pipe", [yodel, "-W", "30s", f"{load.HOST}:{port}"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
        self.complaint = None
        self.ending = threading.Event()
        self.talker = threading.Thread(target=self.talk, daemon=True)
        self.talker.start()

    def talk(self):
        number = 0
        while not self.ending.wait(0.02) and not self.complaint:
            number += 1
            line = b"%d %s\n" % (number, b"x" * (number * 37 % 5000))
            self.child.stdin.write(line)
            self.child.stdin.flush()
            if self.child.stdout.readline() != line:
                self.complaint = f"pipe: line {number} came back as another one"

    def end(self, signo=None, allowed=frozenset({0})):
        self.ending.set()
        self.talker.join(load.PATIENCE)
        self.child.stdin.close()
        return self.complaint or super().end(signo, allowed)


class Screen(Process):
    """A client on a terminal, with a simulated user."""

    def __init__(self, yodel, port):
        self.terminal, other = pty.openpty()
        super().__init__("screen", [yodel, f"{load.HOST}:{port}"], stdin=other, stdout=other,
                         env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"})
        os.close(other)
        for work in (self.type, self.show):
            threading.Thread(target=work, daemon=True).start()

    def type(self):
        for number in itertools.count():
            time.sleep(0.05)
            os.write(self.terminal, b"typed %d %s\r" % (number, b"y" * (number % 60)))

    def show(self):
        with contextlib.suppress(OSError):  # the terminal is closed
            while os.read(self.terminal, 65536):
                pass


class Soak:
    def __init__(self, programs, folder, seed):
        yodel, yodel_load, yodeld = (str(programs / name)
                                     for name in ("yodel", "yodel-load", "yodeld"))
        self.folder = folder
        self.certificates = [self.make_certificate(number) for number in range(2)]
        self.use_certificate(0)
        self.ca = folder / "ca.pem"
        self.ca.write_bytes(b"".join(path.read_bytes() for path in self.certificates))
        self.servers = [start_server(name, yodeld, folder / "server.pem") for name in SERVERS]
        ports = {server.name: server.port for server in self.servers}
        self.load = load.Load(yodel_load, ports, str(self.ca), seed)
        crowds = [Process(f"{name} crowd", [yodel_load, "--connections", "3", "--rate", "60",
                                            "--json", *self.load.target(name)],
                          stdout=subprocess.DEVNULL) for name in ("tls", "udp")]
        self.clients = [Talker(yodel, ports["plain"]), Screen(yodel, ports["plain"]), *crowds]
        self.processes = [*self.servers, *self.clients]
        self.pings = collections.defaultdict(list)

    def make_certificate(self, number):
        path = self.folder / f"{number}.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        f"/CN=soak {number}", "-addext", f"subjectAltName=IP:{load.HOST}",
                        "-keyout", str(path) + ".key", "-out", str(path)],
                       check=True, capture_output=True)
        return path

    def use_certificate(self, number):
        path = self.certificates[number % 2]
        both = path.read_bytes() + pathlib.Path(f"{path}.key").read_bytes()
        (self.folder / "new.pem").write_bytes(both)
        (self.folder / "new.pem").rename(self.folder / "server.pem")

    def play_round(self, number):
        self.load.run(number, ROUND)
        if number % 3 == 2:
            self.use_certificate(number)
            for server in self.servers:
                server.child.send_signal(signal.SIGHUP)
        self.settle()
        for server in self.servers:
            server.child.send_signal(signal.SIGUSR1)
        self.probe()

    def settle(self):
        """Waits until the servers have noticed the end of the clients."""
        end = time.monotonic() + MAX_SETTLING
        while time.monotonic() < end and not all(each.settled() for each in self.processes):
            time.sleep(0.1)
        time.sleep(SETTLING)

    def probe(self):
        for process in self.processes:
            if process.child.poll() is not None:
                raise SystemExit(f"soak: {process.name} has ended, with {process.child.returncode}: "
                                 f"{list(process.lines)[-3:]}")
            process.measure()
        for name in ("plain", "tls"):
            self.pings[name].append(min(self.ping(name) for _ in range(PING_RUNS)))

    def ping(self, name):
        """Returns p50 and p99 of some sequential round trips, in microseconds."""
        process = self.load.start(name, f"--connections 1 -c {PINGS} --json -W 30s")
        times = self.load.finish(process, {0}).get("rtt_us", {})
        return times.get("p50", float("inf")), times.get("p99", float("inf"))

    def print_head(self):
        print("rss/peak MB, descriptors, threads of each; p50/p99 us")
        print("min  conns  messages", *(f"{process.name:>20}" for process in self.processes),
              *(f"{name + ' ping':>11}" for name in ("plain", "tls")), flush=True)

    def print_row(self, minutes):
        cells = []
        for process in self.processes:
            now = process.samples[-1]
            cells.append(f"{now.rss / 1024:6.2f}/{now.peak / 1024:5.1f}"
                         f"{now.descriptors:4d}{now.threads:3d}".rjust(20))
        for pings in self.pings.values():
            cells.append(f"{pings[-1][0]:5.0f}/{pings[-1][1]:5.0f}")
        done = self.load.done
        print(f"{minutes:4.1f}{done['connections']:7d}{done['messages']:10d}", *cells, flush=True)

    def end(self):
        """Ends the clients, then the servers. Returns sentences about failures."""
        ended = [client.end() for client in self.clients]
        ended += [server.end(allowed={0}) for server in self.servers]
        return [sentence for sentence in ended if sentence] + self.load.complaints

    def kill(self):
        for process in self.processes:
            process.child.kill()

    def findings(self):
        found = [finding for process in self.processes
                 for finding in verdict.judge_process(process.name, process.samples)]
        for name, pings in self.pings.items():
            found += verdict.judge_latency(f"{name} ping", pings)
        return found

    def print_logs(self):
        for process in self.processes:
            for text, count in process.lines.most_common(6):
                print(f"  {process.name}: {count} times: {text}")


def soak(run, minutes):
    """Prints the results, and returns the exit status."""
    start = time.monotonic()
    run.load.run(WARM_UP_ROUND, ROUND)
    run.settle()
    run.probe()
    run.print_head()
    for number in itertools.count():
        run.play_round(number)
        passed = (time.monotonic() - start) / 60
        run.print_row(passed)
        if passed >= minutes:
            break
    findings = run.findings()
    complaints = run.end()
    run.print_logs()
    print("done:", ", ".join(f"{count} {what}" for what, count in run.load.done.items()))
    for finding in findings:
        print(finding)
    for complaint in complaints:
        print("WRONG     ", complaint)
    flat = all(finding.flat for finding in findings) and not complaints
    if len(run.servers[0].samples) < verdict.MIN_MEASUREMENTS:
        print(f"soak: too short for a verdict, which takes {verdict.MIN_MEASUREMENTS} rounds")
        return 1
    print("soak: all is flat" if flat else "soak: not all is flat")
    return 0 if flat else 1


def main():
    if len(sys.argv) not in (3, 4):
        print("usage: soak.py FOLDER MINUTES [SEED]", file=sys.stderr)
        return 2
    folder = pathlib.Path(tempfile.mkdtemp(prefix="soak."))
    run = None
    try:
        run = Soak(pathlib.Path(sys.argv[1]), folder, int((sys.argv[3:] or ["1"])[0]))
        return soak(run, float(sys.argv[2]))
    except KeyboardInterrupt:
        return 1
    finally:
        if run:
            run.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
