"""The client tasks of a soak: good clients and faulty clients.

Each task is a row of TASKS. It talks to one server for some seconds. Each failure is reported as a
sentence with Load.complain().
"""
import collections
import json
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time

HOST = "127.0.0.1"
MAX_TASK = 5  # seconds
PATIENCE = 60  # seconds for a program to end, on a loaded machine
STEPS = pathlib.Path(__file__).parents[1] / "peers/steps.py"

# The number of concurrent tasks, by round: from quiet to busy.
INTENSITIES = [2, 4, 1, 6, 3, 10, 2, 5]

# Allowed exit statuses of a client whose server loses, damages and cuts on purpose. Usage errors,
# crashes and signals are failures.
UNLUCKY = {0, 1, 28, 55, 56}

# A busy machine may be too slow for a rate or for the length of a run, so that messages are lost or
# a limit ends connections. But no reply may ever be wrong.
OVERLOADED = {0, 1, 28, 56}


class Load:
    def __init__(self, yodel_load, ports, ca, seed):
        self.yodel_load = yodel_load
        self.ports = ports  # by server
        self.ca = ca
        self.dice = random.Random(seed)
        self.lock = threading.Lock()
        self.complaints = []
        self.done = collections.Counter()  # counts of tasks, messages and so on

    def complain(self, sentence):
        with self.lock:
            self.complaints.append(sentence)

    def count(self, what, number=1):
        with self.lock:
            self.done[what] += number

    def run(self, number, seconds):
        """Plays one round, and returns when all of its clients have ended."""
        end = time.monotonic() + seconds
        workers = [threading.Thread(target=self.work, args=(self.dice.random(), end))
                   for _ in range(INTENSITIES[number % len(INTENSITIES)])]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def work(self, seed, end):
        dice = random.Random(seed)
        while time.monotonic() < end:
            _, servers, task, *row = dice.choices(TASKS, [weight for weight, *_ in TASKS])[0]
            server = dice.choice(servers.split())
            try:
                task(self, dice, server, max(0.5, min(MAX_TASK, end - time.monotonic())), *row)
            except OSError as error:
                self.complain(f"{task.__name__} {server}: {error}")
            self.count("tasks")

    def target(self, server):
        """Returns the command line arguments that name and trust a server."""
        address = f"{HOST}:{self.ports[server]}"
        if server in ("tls", "hasty"):
            return ["--cacert", self.ca, "tls://" + address]
        return ["udp://" + address if server == "udp" else address]

    def start(self, server, options):
        return subprocess.Popen([self.yodel_load, *options.split(), *self.target(server)], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, process, allowed):
        """Waits for its end, and adds up its counts."""
        try:
            output, errors = process.communicate(timeout=MAX_TASK + PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            self.complain(f"{process.args}: does not end")
        if process.returncode not in allowed:
            self.complain(f"{process.args}: status {process.returncode}: {errors[-300:]}")
        end = json.loads((['{}'] + [line for line in output.splitlines() if line.startswith('{"type":"end"')])[-1])
        self.count("messages", end.get("sent", 0))
        self.count("connections", end.get("connections", {}).get("opened", 0))
        return end


def drawn(dice, choices):
    return [dice.choice(each) for each in choices]


def crowd(load, dice, server, seconds, allowed, choices):
    options = " ".join(["--json", f"-m {seconds:.1f}s", *drawn(dice, choices)])
    process = load.start(server, options)
    if load.finish(process, allowed).get("bad", 0) > 0 and server not in ("faulty", "udp"):
        load.complain(f"{process.args}: bad replies")


def killed(load, dice, server, seconds):
    """Dies while it sends messages."""
    pace = "--rate 100" if server == "udp" else "-f len4 --window 4"
    process = load.start(server, f"--connections 10 --size 60k -m 60s {pace}")
    time.sleep(dice.uniform(0.05, 1))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if server != "faulty" and process.returncode != -signal.SIGKILL:
        load.complain(f"{process.args}: ended by itself, with {process.returncode}")


def perform(load, dice, server, seconds, *choices):
    """Performs steps of tests/peers/steps.py, for some seconds at most."""
    steps = drawn(dice, choices)
    load.count("connections", int(steps[0]) if steps[0].isdigit() else 1)
    try:
        done = subprocess.run([sys.executable, STEPS, "ask", str(load.ports[server]), *steps],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:  # its server need not end it
        return b""
    if done.returncode != 0:
        load.complain(f"{steps}: {done.stderr.decode()}")
    return done.stdout


def half_closes(load, dice, server, seconds):
    """Half-closes after sending, and must receive everything back, then the end."""
    size = dice.choice([1, 1000, 300000])
    received = perform(load, dice, server, PATIENCE, [f"send:{size}*x"], ["shut"], ["show"])
    if received != size * b"x":
        load.complain(f"half_closes: {len(received)} of {size} bytes came back")


def odd_datagrams(load, dice, server, seconds):
    """Sends datagrams of any size, and never reads the answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(200):
            sender.sendto(dice.randbytes(dice.choice([0, 1, 1500, 60000])), (HOST, load.ports[server]))
            time.sleep(0.002)
    load.count("datagrams", 200)


# With a pace, a connection that is being replaced loses its scheduled messages.
CROWD = [["--connections 1", "--connections 5", "--connections 20", "--connections 60", "--connections 60 --threads 2"],
         ["--rate 100", "--rate 1000", "--rate 3000", "--rate 20", "-c 2000", "-c 500 --churn 1", "-c 2000 --churn 10",
          "--churn 3 --window 8"],
         ["", "--connect-rate 50"]]
MESSAGES = ["-f len1 --size 200", *(f"-f {framing} --size {size}" for size in (16, 100, 1000, 20000)
                                    for framing in ("line", "crlf", "nul", "len2", "len4", "len2le", "len4le"))]
TASKS = [
    # weight, servers, task, and its choices
    (8, "plain tls", crowd, OVERLOADED, [*CROWD, MESSAGES, ["-W 30s"]]),
    (2, "plain tls", crowd, {0}, [["--size 300k", "--size 3M"], ["--connections 2 -c 20 -W 60s -f len4"]]),
    (3, "udp", crowd, {0, 1}, [["--connections 1", "--connections 10"], ["--rate 50", "--rate 1000"],
                               ["--size 10", "--size 1000"], ["-W 1s"]]),  # a datagram may always get lost
    (3, "faulty", crowd, UNLUCKY, [*CROWD, ["--size 10", "--size 3000"], ["-f len4 -W 1s"]]),
    (1, "hasty", crowd, UNLUCKY, [["--connections 5 --rate 0.25 -W 1s"]]),  # is idle until the server closes
    (3, "plain tls faulty udp", killed),
    (3, "plain", half_closes),
    (1, "udp", odd_datagrams),
    # Never reads, resets inside a message and its reply, leaves, speaks no TLS, or sends a byte at a time.
    (3, "plain faulty", perform, [r"flood:251*\0\0\x03\xe8"]),
    (3, "plain tls faulty", perform, ["1", "20", "50"], ["send:1*x", "send:100*x", "send:5000*x"], ["reset"]),
    (2, "plain hasty faulty", perform, ["1", "20", "50"], ["close"]),
    (3, "tls hasty faulty", perform, [r"send:300*\x8f", r"send:GET / HTTP/1.0\r\n\r\n", r"send:8*\xff",
                                      r"send:\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"], ["wait"]),
    (1, "plain tls hasty faulty", perform, [r"talk:\0"]),
]
