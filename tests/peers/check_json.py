"""Checks the output of `yodel --json` on standard input: an object for the recording and for the connection, an object
for each message (two for a late message), and an end object, whose counts and percentiles match
the messages. Prints the outcome of the messages.
"""
import collections
import json
import math
import sys

recording, connection, *objects, end = [json.loads(line) for line in sys.stdin]
assert recording["type"] == "recording", recording
assert connection["type"] == "connection", connection
assert connection["address"] and connection["framing"], connection
for phase in ["lookup_us", "connect_us"] + ["handshake_us"] * ("tls" in connection):
    assert connection[phase] >= 0, phase
if "tls" in connection:
    tls = connection["tls"]
    assert tls["version"] in ("TLSv1.2", "TLSv1.3") and tls["cipher"], tls
    assert tls["pin"].startswith("sha256//") and len(tls["pin"]) == 52, tls
    assert tls["subject"] and tls["not_after"] and isinstance(tls["verified"], bool), tls

unmatched = collections.Counter(one["fate"] for one in objects if "seq" not in one)
messages = [one for one in objects if "seq" in one]
verdicts = collections.Counter(one["fate"] for one in messages)
late = {one["seq"] for one in messages if one["fate"] == "late"}
assert late <= {one["seq"] for one in messages if one["fate"] == "lost"}, late
sequence = sorted(one["seq"] for one in messages if one["fate"] != "late")
assert sequence == list(range(1, len(sequence) + 1)), sequence
for one in messages:
    assert one["type"] == "message" and one["sent_bytes"] >= 0 and one["sent_us"] >= 0, one
    if one["fate"] == "lost":
        assert "rtt_us" not in one and "received_bytes" not in one, one
        continue
    assert one["right"] == (one["fate"] == "echoed" or "difference" not in one), one
    assert not one["right"] or one["received_bytes"] == one["sent_bytes"], one

assert end["type"] == "end" and end["reason"], end
assert end["sent"] == len(sequence), end
right = sum(one.get("right", False) for one in messages)
assert end["echoed"] == right and end["late"] == len(late), end
assert end["bad"] == sum(one.get("right") is False for one in messages), end
assert end["lost"] == verdicts["lost"] - len(late), end
assert (end["unsolicited"], end["duplicates"]) == (unmatched["unsolicited"], unmatched["duplicate"]), end
times = sorted(one["rtt_us"] for one in messages if "rtt_us" in one)
assert bool(times) == ("rtt_us" in end), end
for name, percent in [("p50", 50), ("p95", 95), ("p99", 99)] if times else []:
    exact = times[max(math.ceil(len(times) * percent / 100), 1) - 1]
    assert exact <= end["rtt_us"][name] <= exact * 1.01, (name, exact, end)
if times:
    assert (end["rtt_us"]["min"], end["rtt_us"]["max"]) == (times[0], times[-1]), end
    assert end["rtt_us"]["min"] <= end["rtt_us"]["mean"] <= end["rtt_us"]["max"], end
    assert abs(end["rtt_us"]["sum"] - sum(times)) < 0.001 * len(times), end
    buckets = end["histogram"]
    assert sum(count for _, count in buckets) == len(times), end
    for upper, count in buckets:
        assert sum(upper * 0.99 <= time <= upper for time in times) >= count, (upper, end)
phases = {"connect_us", "connect_histogram", "handshake_us", "handshake_histogram"}
counts = {"attempts", "opened", "failed"}
if "tls" in connection:
    counts |= {"handshakes_full", "handshakes_resumed"}
assert set(end["connections"]) - phases == counts, end
assert end["connections"]["opened"] >= 1 and end["rate"] >= 0, end
print(f"{len(sequence)} messages:", ", ".join(f"{n} {v}" for v, n in verdicts.items()))
