"""The client tasks of a soak: good clients and faulty clients.

Each task is a function of a Load. It talks to one server for some seconds and returns. It reports
each failure as a sentence with Load.complain().
"""
import collections
import json
import random
import signal
import socket
import struct
import subprocess
import threading
import time

HOST = "127.0.0.1"
MAX_TASK = 5  # seconds
PATIENCE = 60  # seconds for a program to end, on a loaded machine
FRAMINGS = ["line", "crlf", "nul", "len1", "len2", "len4", "len2le", "len4le"]

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
            task = dice.choices(list(TASKS), list(TASKS.values()))[0]
            try:
                task(self, dice, max(0.5, min(MAX_TASK, end - time.monotonic())))
            except OSError as error:
                self.complain(f"{task.__name__}: {error}")
            self.count("tasks")

    def connect(self, server):
        self.count("connections")
        return socket.create_connection((HOST, self.ports[server]), timeout=PATIENCE)

    def target(self, server):
        """Returns the command line arguments that name and trust a server."""
        address = f"{HOST}:{self.ports[server]}"
        if server in ("tls", "hasty"):
            return ["--cacert", self.ca, "tls://" + address]
        return ["udp://" + address if server == "udp" else address]

    def start(self, *arguments):
        return subprocess.Popen([self.yodel_load, *map(str, arguments)], stdin=subprocess.DEVNULL,
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
        end = end_object(output)
        self.count("messages", end.get("sent", 0))
        self.count("connections", end.get("connections", {}).get("opened", 0))
        return end


def end_object(output):
    for line in reversed(output.splitlines()):
        if line.startswith('{"type":"end"'):
            return json.loads(line)
    return {}


# --- Good clients: no reply may be wrong.

# With a pace, a connection that is being replaced loses its scheduled messages.
PACES = [["--rate", 100], ["--rate", 1000], ["--rate", 3000], ["--rate", 20]]
CLOSED_LOOPS = [["-c", 2000], ["-c", 500, "--churn", 1], ["-c", 2000, "--churn", 10],
                ["--churn", 3, "--window", 8]]


def crowd_arguments(dice, seconds):
    connections = dice.choice([1, 5, 20, 60])
    arguments = ["--connections", connections, "--json", "-m", f"{seconds:.1f}s", "-W", "30s"]
    arguments += dice.choice(PACES + CLOSED_LOOPS)
    arguments += dice.choice([[], ["--connect-rate", 50]])
    return arguments + (["--threads", 2] if connections > 1 and dice.random() < 0.3 else [])


def crowd(load, dice, seconds, server, framing):
    most = 200 if framing == "len1" else dice.choice([16, 100, 1000, 20000])
    arguments = crowd_arguments(dice, seconds) + ["-f", framing, "--size", most]
    process = load.start(*arguments, *load.target(server))
    if load.finish(process, OVERLOADED).get("bad", 0) > 0:
        load.complain(f"{process.args}: bad replies")


def plain_crowd(load, dice, seconds):
    crowd(load, dice, seconds, "plain", dice.choice(FRAMINGS))


def tls_crowd(load, dice, seconds):
    crowd(load, dice, seconds, "tls", dice.choice(FRAMINGS))


def large_messages(load, dice, seconds):
    arguments = ["--connections", 2, "-c", 20, "--size", dice.choice(["300k", "3M"]), "--json",
                 "-m", f"{seconds:.1f}s", "-W", "60s", "-f", "len4"]
    server = dice.choice(["plain", "tls"])
    load.finish(load.start(*arguments, *load.target(server)), {0})


# A datagram may always get lost, which is reported.
def datagrams(load, dice, seconds):
    arguments = ["--connections", dice.choice([1, 10]), "--rate", dice.choice([50, 1000]),
                 "--size", dice.choice([10, 1000]), "-m", f"{seconds:.1f}s",
                 "-W", "1s", "--json"]
    load.finish(load.start(*arguments, *load.target("udp")), {0, 1})


# --- Good clients of a server with faults.

def unlucky_crowd(load, dice, seconds):
    arguments = crowd_arguments(dice, seconds) + ["-f", "len4", "-W", "1s", "--size",
                                                  dice.choice([10, 3000])]
    load.finish(load.start(*arguments, *load.target("faulty")), UNLUCKY)


# --- Faulty clients.

def killed(load, dice, seconds):
    """Dies while it sends messages."""
    server = dice.choice(["plain", "tls", "faulty", "udp"])
    arguments = ["--connections", 10, "--size", "60k", "-m", "60s"]
    arguments += ["--rate", 100] if server == "udp" else ["-f", "len4", "--window", 4]
    process = load.start(*arguments, *load.target(server))
    time.sleep(dice.uniform(0.05, 1))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    if server != "faulty" and process.returncode != -signal.SIGKILL:
        load.complain(f"{process.args}: ended by itself, with {process.returncode}")


def never_reads(load, dice, seconds):
    """Sends until the server blocks, waits, and closes with all replies unread."""
    with load.connect(dice.choice(["plain", "faulty"])) as connection:
        connection.settimeout(0.2)
        try:
            while True:
                connection.sendall(struct.pack(">I", 1000) + bytes(1000))
        except OSError:  # the connection blocks, or the server gave up
            time.sleep(dice.uniform(0, seconds / 2))


def half_closes(load, dice, seconds):
    """Half-closes after sending, and must receive everything back, then the end."""
    sent = dice.randbytes(dice.choice([0, 1, 1000, 300000]))
    with load.connect("plain") as connection:
        writer = threading.Thread(target=send_and_half_close, args=(connection, sent))
        writer.start()
        with connection.makefile("rb") as replies:
            received = replies.read()
        writer.join()
    if received != sent:
        load.complain(f"half_closes: {len(received)} of {len(sent)} bytes came back")


def send_and_half_close(connection, data):
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def resets(load, dice, seconds):
    """Cuts many connections in the middle of a message and its reply."""
    for _ in range(dice.choice([1, 20, 100])):
        with load.connect(dice.choice(["plain", "tls", "faulty"])) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.send(dice.randbytes(dice.choice([1, 100, 5000])))


def idle_crowd(load, dice, seconds):
    """Sends one message on each connection, then waits until the server closes it."""
    arguments = ["--connections", 5, "--rate", 0.25, "-m", f"{seconds:.1f}s", "-W", "1s", "--json"]
    load.finish(load.start(*arguments, *load.target("hasty")), UNLUCKY)


def leaves_at_once(load, dice, seconds):
    for _ in range(dice.choice([1, 20, 200])):
        load.connect(dice.choice(["plain", "hasty", "faulty"])).close()


def garbage(load, dice, seconds):
    """Sends bytes that are not TLS, an invalid length, or a truncated ClientHello."""
    server = dice.choice(["tls", "hasty", "faulty"])
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
    with load.connect(server) as connection:
        try:
            connection.sendall(dice.choice([dice.randbytes(300), b"GET / HTTP/1.0\r\n\r\n", hello,
                                            b"\xff" * 8]))
            connection.settimeout(seconds)
            while connection.recv(1000):
                pass
        except OSError:  # a reset is correct, and so is a timeout
            pass


def sends_slowly(load, dice, seconds):
    """Sends an incomplete message, a byte at a time."""
    end = time.monotonic() + seconds
    with load.connect(dice.choice(["plain", "tls", "hasty", "faulty"])) as connection:
        try:
            while time.monotonic() < end:
                connection.sendall(b"\0")
                time.sleep(0.05)
        except OSError:  # ended by --idle-timeout or --handshake-timeout
            pass


def odd_datagrams(load, dice, seconds):
    """Sends datagrams of any size, and never reads the answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(200):
            sender.sendto(dice.randbytes(dice.choice([0, 1, 1500, 60000])),
                          (HOST, load.ports["udp"]))
            time.sleep(0.002)
    load.count("datagrams", 200)


# The weight of each task.
TASKS = {plain_crowd: 4, tls_crowd: 4, large_messages: 2, datagrams: 3, unlucky_crowd: 3, killed: 3,
         never_reads: 3, half_closes: 3, idle_crowd: 1, resets: 3, leaves_at_once: 2, garbage: 3, sends_slowly: 1,
         odd_datagrams: 1}
