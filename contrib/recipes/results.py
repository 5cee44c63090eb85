#!/usr/bin/env python3
# Needs Python 3.8 or later, and nothing but its standard library.
# Run: results.py --merge FILE... [--require LIST], --compare OLD NEW [--require LIST], or --to FORMAT [FILE...]
# Reads the output of yodel --json. Adds up or compares runs, or prints the last run, or the sum, as HdrHistogram's text (ms) or
# interval log (ns), OpenMetrics, JUnit's XML or JSON, or all files as a page. LIST is that of yodel-load; with --compare, p99<+10%
# means at most 10 % more than in OLD. The exit status is that of yodel-load.
import argparse, base64, collections, datetime, itertools, json, math, operator, os, re, struct, sys, zlib
from xml.sax import saxutils


def report(text):
    print("results.py: " + "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text), file=sys.stderr)


def leave(text, status=2):
    """Ends the program with a sentence and this exit status."""
    report(text)
    sys.exit(status)


def number(text):
    """Returns a number of JSON. Refuses numbers that no result has."""
    value = float(text) if re.search("[.eE]", text) else int(text)
    if not 0 <= value <= 1e18:
        raise ValueError
    return value


def read_run(path, each=lambda record: None):
    """Returns the last end object, its intervals, and its first hundred differences of a replay.

    Passes each interval and each end object to a function as soon as it is read."""
    run, intervals, failed_messages, name = None, [], [], path or "standard input"
    try:
        with open(path or 0, encoding="utf-8") as file:
            for place, line in enumerate(iter(lambda: file.readline(1 << 26), ""), 1):
                try:
                    record = json.loads(line, parse_int=number, parse_float=number, parse_constant=number)
                    kind, outcome = record["type"], record.get("fate")
                except (ValueError, TypeError, KeyError):
                    leave(f"{name}: line {place} is not an object of yodel --json")
                if kind in ("interval", "end"):
                    each(record)
                if kind == "interval":
                    intervals.append(record)
                elif kind == "message" and outcome in ("bad", "lost", "missing", "unrecorded") and len(failed_messages) < 100:
                    failed_messages.append(record)
                elif kind == "end":
                    run, intervals, failed_messages = (record, intervals, failed_messages), [], []
    except OSError as error:
        leave(f"{name}: {error.strerror}", 26)
    except UnicodeDecodeError:
        leave(f"{name}: the text is not UTF-8")
    return run or leave(f"{name}: no end object found (expected --json output)")


# --- Times, in nanoseconds.

def ns(us):
    return round(us * 1000)


def times(of, prefix=""):
    """Returns the statistics (us) and the buckets of an end or interval object."""
    of = of.get("connections", of) if prefix in ("connect_", "handshake_") else of
    return of.get((prefix or "rtt_") + "us", {}), {ns(us): count for us, count in of.get(prefix + "histogram", [])}


def main_times(end, of=None):
    """Returns the times of round trips, or of connecting without messages."""
    prefix = "" if not end.get("probe") else "handshake_" if "handshake_us" in end["connections"] else "connect_"
    return times(of or end, prefix)


def percentile(buckets, percent):
    """Returns the time that this percentage of all times does not exceed, or None without times."""
    rank, order = max(-(-sum(buckets.values()) * round(percent * 10**7) // 10**9), 1), sorted(buckets)
    counts = itertools.accumulate(buckets[bucket] for bucket in order)
    return next((bucket for bucket, count in zip(order, counts) if count >= rank), None)


def statistic(end, prefix, name):
    known, buckets = times(end, prefix)
    if not buckets or name[0] != "p":
        return ns(known[name]) if buckets else None
    return min(max(percentile(buckets, float(name[1:])), ns(known["min"])), ns(known["max"]))


# --- Adding up.

achieved = lambda end: end["connections"]["opened"] if end.get("probe") else end["echoed"]
TIMES = {"": "no reply was timed", "lateness_": "no message had a planned time",  # prefixes, and why there are none
         "connect_": "no connection was opened", "handshake_": "there was no handshake"}
STATISTICS = ("min", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", "max")
COUNTS = ("sent", "echoed", "bad", "lost", "late", "unsent", "unsolicited", "duplicates", "reordered")
OF_CONNECTIONS = ("attempts", "opened", "failed", "handshakes_full", "handshakes_resumed")
OPTIONAL = {"reordered": "messages were not datagrams",  # counts, and why there are none
            **dict.fromkeys(("handshakes_full", "handshakes_resumed"), "there was no TLS handshake")}
REQUIRED = {*COUNTS, *OF_CONNECTIONS, "connections"} - {*OPTIONAL}
RULES = {**dict.fromkeys((*COUNTS, "planned", "planned_rate", "reached_rate"), sum), "late_start_us": max,
         "connections": dict.fromkeys(OF_CONNECTIONS, sum), "warm_up": dict.fromkeys(("sent", "echoed", "bad", "lost", "unsent"), sum),
         "tcp": {"min_rtt_us": min, "retransmits": sum, "mss": min, "cwnd": min},
         "replay": dict.fromkeys(("replayed", "matched", "bad", "lost", "unsolicited_matched", "missing", "unrecorded"), sum)}


def combined(records, rules):
    """Returns the members of all records, each combined by its rule."""
    made = {}
    for name, rule in rules.items():
        values = [record[name] for record in records if name in record or name in REQUIRED]
        if values:
            made[name] = combined(values, rule) if isinstance(rule, dict) else rule(values)
    return made


def add_times(ends, prefix, total):
    runs = [each for each in (times(end, prefix) for end in ends) if each[1]]
    buckets = sum((collections.Counter(each) for _, each in runs), collections.Counter())
    if not buckets:
        return
    whole, count = sum(ns(known["sum"]) for known, _ in runs), sum(buckets.values())
    known = {**dict.fromkeys(STATISTICS), "min": min(each["min"] for each, _ in runs), "max": max(each["max"] for each, _ in runs),
             "mean": (2 * whole + count) // (2 * count) / 1000, "sum": whole / 1000}
    to = total["connections"] if prefix in ("connect_", "handshake_") else total
    to[(prefix or "rtt_") + "us"], to[prefix + "histogram"] = known, [[key / 1000, buckets[key]] for key in sorted(buckets)]
    known.update({name: statistic(total, prefix, name) / 1000 for name in STATISTICS})


def utc(text):
    """Returns the nanoseconds since 1970 of a time such as 2026-11-23T18:00:00.000000Z."""
    zero = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    return (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) - zero) // datetime.timedelta(microseconds=1) * 1000


def overlap(spans):
    """Returns the part of the time that all runs share."""
    first, last = min(began for _, began, _ in spans), max(ended for *_, ended in spans)
    shared = min(ended for *_, ended in spans) - max(began for _, began, _ in spans)
    return max(shared, 0) / (last - first) if last > first else 1


def add_span(ends, names, total):
    """Stores the time from the first start to the last end. Returns a clause about how well the runs coincided, and a remark."""
    spans = [(name, utc(end["began"]), utc(end["began"]) + ("ended" in end and ns(end["duration_us"])))
             for name, end in zip(names, ends) if "began" in end]
    silent = [name for name, end in zip(names, ends) if "began" not in end]
    first, last = min((each[1] for each in spans), default=0), max((each[2] for each in spans), default=0)
    for member, time in (("began", first), ("ended", last)):
        if any(member in end for end in ends):
            total[member] = (datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=time // 1000)).isoformat("T", "microseconds") + "Z"
    total["duration_us"], total["rate"] = (last - first) / 1000, achieved(total) * 1e9 / (last - first) if last > first else 0
    total["overlap"] = 0 if silent else overlap(spans)
    if silent or len(spans) == 1:
        return "", f"{silent[-1]} contains a run that sent nothing" if silent else ""
    apart = milliseconds(max(began for _, began, _ in spans) - first)
    text = f", began within {apart} ms, together for {significant(overlap(spans) * 100)} % of the time"
    name, began, ended = max(spans, key=lambda off: overlap([each for each in spans if each is not off]))
    remark = f"{name} began {shown(began - first)} after the first run and ended {shown(last - ended)} before the last"
    return text, remark if overlap(spans) < 0.9 else ""


def add_up(paths):
    """Returns the sum of runs, two statuses of the first failures, and what add_span() returns."""
    for one, other in itertools.combinations(paths, 2):
        if os.path.realpath(one) == os.path.realpath(other):
            leave(f"--merge: {one} and {other} are the same file{HELP}")
    ends = [read_run(path)[0] for path in paths]
    total = combined(ends, RULES)
    total["probe"] = any(end.get("probe") for end in ends) and total["sent"] == 0
    weights = [(end["jitter_us"], end["echoed"] + end["bad"]) for end in ends if "jitter_us" in end]
    if weights:
        total["jitter_us"] = round(1000 * sum(us * count for us, count in weights) / max(sum(count for _, count in weights), 1)) / 1000
    clauses = add_span(ends, paths, total)
    for prefix in TIMES:
        add_times(ends, prefix, total)
    errors, statuses = {}, [0, 0]  # statuses of failures after a connection had opened, and of others
    for end in ends:
        for each in end["errors"]:
            known = errors.setdefault((each["text"], each["status"]), {**each, "count": 0, "failed": 0})
            known.update({name: known[name] + each[name] for name in ("count", "failed")})
        status = end["status"] if end["status"] <= 125 else 1
        if status == 1 and faults(end, set()):
            continue  # the sum is judged anew
        unopened = any(each["status"] == status and each["failed"] == each["count"] for each in end["errors"])
        statuses[unopened] = statuses[unopened] or status
    total["errors"] = list(errors.values())
    return total, statuses, *clauses


# --- Requirements.

OPERATORS = {"<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt, "=": operator.eq}
NUMBER = r"((?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)"
THOUSANDS = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}
UNITS = {"time": ({"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}, "a duration with its unit (us, ms, s, m or h), such as 5ms"),
         "count": (THOUSANDS, "a number, or a percentage such as 0.1%"),
         "rate": ({**THOUSANDS, **{unit + "/s": factor for unit, factor in THOUSANDS.items()}}, "a number per second, such as 10k")}
SCALES = {"time": ((1e3, "us", 1e6), (1e6, "ms", 1e9), (1e9, "s", math.inf)), "count": ((1, "", math.inf),), "%": ((1, "%", math.inf),),
          "rate": ((1, "/s", 1e3), (1e3, "k/s", 1e6), (1e6, "M/s", math.inf))}
FIGURES = {"rate": ("rate", lambda end: end["rate"] if achieved(end) else None, "no reply was right"),
           "jitter": ("time", lambda end: ns(end["jitter_us"]) if "jitter_us" in end and end["echoed"] + end["bad"] else None, "no datagrams were timed"),
           **{name: ("count", operator.methodcaller("get", name), OPTIONAL.get(name)) for name in COUNTS},
           **{name: ("count", lambda end, name=name: end["connections"].get(name), OPTIONAL.get(name)) for name in OF_CONNECTIONS}}


def find_figure(name):
    """Returns the kind of a figure, a function from an end object to its value, and why that may be none."""
    name = "lateness_p99" if name == "lateness" else name
    for prefix, why in TIMES.items():
        percent = re.fullmatch(prefix + r"p(\d+\.?\d*|\.\d+)", name)
        if name in (prefix + "min", prefix + "mean", prefix + "max") or (percent and 0 < float(percent[1]) < 100):
            return "time", lambda end: statistic(end, prefix, name[len(prefix):]), why
    return FIGURES.get(name)


def whole_of(end, name):
    """Returns the number that is 100 % of a count, and why it may be 0."""
    connections = end["connections"]
    if name.startswith("handshakes"):
        return sum(connections.get(each, 0) for each in OF_CONNECTIONS[3:]), "there was no TLS handshake"
    if name in OF_CONNECTIONS:
        return connections["attempts"], "no connection was attempted"
    return (end["sent"] + end["unsent"], "no message was due") if name == "unsent" else (end["sent"], "nothing was sent")


def significant(value, digits=3):
    decimals = max(digits - 1 - math.floor(math.log10(abs(value) or 1)), 0)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def shown(value, kind="time", agrees=lambda shown: True, limit=0):
    """Returns a value with its unit and enough digits that `agrees` is true. A time has the unit of the limit, or a smaller one."""
    unit, suffix, _ = next(scale for scale in SCALES[kind] if (min(value, limit) if limit > 0 and kind == "time" else value or 1e6) < scale[2])
    texts = (significant(value / unit, digits) for digits in range(3, 18))
    return next((text for text in texts if agrees(float(text) * unit)), repr(value / unit)) + suffix


class Requirement:
    def __init__(self, clause, relative):
        found = re.fullmatch(r"([^<>=]*?) *(<=|>=|<|>|=) *(.*)", clause.strip())
        self.clause, quoted = clause.strip(), f'--require: "{clause.strip()}"'
        if not found:
            leave(f"{quoted} is not a requirement such as p99<5ms, lost<0.1% or rate>10k{HELP}")
        self.name, figure, self.holds = found[1], find_figure(found[1]), OPERATORS[found[2]]
        if not figure:
            leave(f'{quoted}: unknown figure "{found[1]}"; the figures are min, mean, pN (0 < N < 100), max, '
                  f"{', '.join(FIGURES)}; lateness; and min to max with the prefix lateness_, connect_ or handshake_{HELP}")
        self.kind, self.value, self.unmeasured = figure
        limit = re.fullmatch(r"([+-]?) *" + NUMBER + r" *([A-Za-z%/]*)", found[3])
        sign, digits, unit = limit.groups() if limit else ("", "nan", "?")
        self.relative, self.part = relative and sign != "" and unit == "%", sign == "" and unit == "%" and self.kind == "count"
        units, values = UNITS[self.kind]
        factor = 1 if self.relative or self.part else None if sign else units.get(unit)
        self.limit = float(sign + digits) * (factor or math.inf)
        if not math.isfinite(self.limit):
            leave(f"{quoted}: {self.name} needs {values}{', or a change such as +10%' if relative else ''}{HELP}")

    def judge(self, end, old=None):
        """Returns the member of an end object, and a sentence if the requirement does not hold."""
        value, required = self.value(end), f"required {self.clause}, "
        whole, empty = whole_of(end, self.name) if self.kind == "count" else (1, "")
        before = self.value(old) if self.relative else 0
        why = (self.unmeasured if value is None else "before, " + self.unmeasured if before is None else
               empty if not whole and (self.part or self.name != "sent") else "")
        if why:
            return {"clause": self.clause, "holds": False}, f"{required}but {why}"
        measured = 100 * value / whole if self.part else value
        if self.relative:
            measured = 100 * (value / before - 1) if before else math.inf if value else 0
        holds = self.holds(measured, self.limit)
        kind, changed = "%" if self.part or self.relative else self.kind, f"{shown(value, self.kind)} after {shown(before, self.kind)}"
        was = changed if measured == math.inf else shown(measured, kind, lambda other: self.holds(other, self.limit) == holds, self.limit)
        if self.relative and was != changed:
            was = f"{'+' if measured >= 0 else ''}{was} ({changed})"
        late = find_figure("lateness_" + self.name)
        late = late[1](end) if late and not self.relative and value >= self.limit else 0
        own = f", most of it yodel's own lateness ({significant(100 * late / value, 2)}%)" if late and value / 2 < late <= value else ""
        return {"clause": self.clause, "was": was, "holds": holds}, "" if holds else f"{required}was {was}{own}"


def faults(end, tolerated):
    """Returns the counts of faults that no requirement tolerates."""
    names = [name for name in ("bad", "lost", "unsent", "duplicates") if name not in tolerated and (name != "duplicates" or "jitter_us" not in end)]
    counts = [(end.get(name, 0) + end.get("warm_up", {}).get(name, 0), name) for name in names]
    replay = end.get("replay", {})
    counts += [(replay.get("missing", 0), "missing"), (replay.get("unrecorded", 0), "not in the recording")]
    return ", ".join(f"{count} {name}" for count, name in counts if count)


# --- Sentences.

def plural(count, thing):
    return f"{count} {thing}{'s' * (count != 1)}"


def milliseconds(time):
    return f"{time / 1e6:.{2 if time < 1e6 else 1 if time < 1e7 else 0}f}"


def several(end, prefix, *names):
    return "/".join(milliseconds(statistic(end, prefix, name)) for name in names) + " ms"


def reached(end):
    """Returns true if the client sent the last message at most 50 ms or 5 % of the run late."""
    planned, rate, due = end.get("planned_rate", 0), end.get("reached_rate", 0), end["sent"] + end["unsent"]
    late = due / rate - due / planned if rate and planned else math.inf  # seconds
    return not planned or rate >= planned or late <= max(0.05 * due / planned, 0.05)


def summary(end):
    connections, replay, warm_up, udp = end["connections"], end.get("replay"), end.get("warm_up"), "jitter_us" in end

    def some(of, *names):
        return "".join(f", {of[name]} {word}" for name, word in names if of.get(name))

    def counts(of, first="sent", second="echoed"):
        return f"{of['sent']} {first}, {of['echoed']} {second}, {of['bad']} bad, {of['lost']} lost"

    text = counts(end, "replayed", "matched") if replay else counts(end)
    if end.get("probe"):
        text = f"{plural(connections['opened'], 'connection')} opened, {connections['failed']} failed"
    text += some(end, ("late", "late"), ("unsent", "unsent"))
    text += some(replay or {}, ("unsolicited_matched", "unsolicited matched"), ("missing", "unsolicited missing"),
                 ("unrecorded", "unsolicited not recorded")) or some({} if replay else end, ("unsolicited", "unsolicited"))
    text += f", {end['duplicates']} duplicate, {end['reordered']} reordered" if udp else some(end, ("duplicates", "duplicate"))
    text += ", " + shown(end["rate"], "rate") if end["rate"] else ""
    count, half, late = sum(times(end)[1].values()), statistic(end, "", "p50") or 0, statistic(end, "lateness_", "p99") or 0
    if count:
        text += "; rtt " + (several(end, "", "max") if count == 1 else "min/p50/p95/p99/max " + several(end, "", "min", "p50", "p95", "p99", "max"))
        text += f"; jitter {milliseconds(ns(end['jitter_us']))} ms" if udp and count > 1 else ""
    text += "; lateness p50/p99 " + several(end, "lateness_", "p50", "p99") if late > half // 10 else ""
    text += "" if reached(end) else f"; planned {shown(end['planned_rate'], 'rate')}, reached {shown(end['reached_rate'], 'rate')}"
    text += f"; began {milliseconds(ns(end['late_start_us']))} ms after --start-at" if end.get("late_start_us") else ""
    text += "; warm-up: " + counts(warm_up) + some(warm_up, ("unsent", "unsent")) if warm_up else ""
    if connections["failed"] and not end.get("probe"):
        text += f"; {connections['failed']} of {connections['attempts']} attempts to connect failed"
    if end.get("probe") and times(end, "connect_")[1]:
        text += "; connect p50/p99/max " + several(end, "connect_", "p50", "p99", "max")
        if times(end, "handshake_")[1]:
            text += ", handshake " + several(end, "handshake_", "p50", "p99", "max")
            text += ", {handshakes_full} full, {handshakes_resumed} resumed".format(**connections) if "handshakes_full" in connections else ""
    return text


def merge(paths, required):
    """Returns the sum of runs with its verdict, the summary, and the sentences to report."""
    total, (status, unopened), text, remark = add_up(paths)
    judged = [(each.name, *each.judge(total)) for each in required]
    tolerated = {name for name, *_ in judged} - {name for name, _, sentence in judged if sentence}
    failed = [sentence for *_, sentence in judged if sentence]
    status = unopened if status <= 1 and unopened and "failed" not in tolerated else status
    status = max(status, 1 if failed or faults(total, tolerated) else 0)
    reasons = [each["text"] for each in total["errors"] if each["status"] == status]
    found = [faults(total, tolerated)] if status <= 1 and faults(total, tolerated) else []
    reason = (failed if status <= 1 else []) + reasons + found + [plural(len(paths), "run") + " merged"]
    end = {"type": "end", "reason": reason[0], "status": status, **total, "required": [each for _, each, _ in judged]}
    errors = [each["text"] + f" ({each['count']} times)" * (each["count"] != 1) for each in end["errors"]]
    errors[10:] = [f"{len(errors) - 10} other kinds of failures (--to json lists them all)"] * (len(errors) > 10)
    sentences = [*errors, *failed] or [summary(end)] * (status > 0)
    return end, f"{plural(len(paths), 'run')}{text}: {summary(end)}\n", [remark] * bool(remark) + sentences


def compare(paths, required):
    """Returns the newer run with its verdict, both runs with their differences, and failed requirements."""
    old, new = (read_run(path)[0] for path in paths)
    text = f"old: {summary(old)}\nnew: {summary(new)}\n"
    for name in (*FIGURES, *(prefix + name for prefix in TIMES for name in STATISTICS)):
        kind, value, _ = find_figure(name)
        values = [value(old), value(new)]
        if None not in values and any(values):
            change = f"{100 * (values[1] / values[0] - 1):+.1f} %" if values[0] else "was 0"
            text += f"{name:18} {shown(values[0], kind):>10} {shown(values[1], kind):>10} {change:>10}\n"
    judged = [each.judge(new, old) for each in required]
    failed = [sentence for _, sentence in judged if sentence]
    return {**new, "status": 1 if failed else 0}, text, failed


# --- Formats.

def hgrm(end, *_):
    times, buckets = main_times(end)
    total, seen, level, text = sum(buckets.values()), 0, 0.0, ""
    most, mean = times.get("max", 0) / 1e3, times.get("mean", 0) / 1e3  # ms
    for bucket, count in sorted(buckets.items()):
        seen += count
        while level <= 100 * seen / total:
            text += f"{min(bucket / 1e6, most):12.3f} {level / 100:.12f} {seen:10} {100 / (100 - level):14.2f}\n"
            level += 20 / 2 ** (math.floor(math.log2(100 / (100 - level))) + 1)  # five rows for each halving
            if seen == total:
                break
    text += f"{most:12.3f} {1:.12f} {seen:10}\n" if total else ""
    squares = sum(count * (bucket / 1e6 - mean) ** 2 for bucket, count in buckets.items())
    return (f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}\n\n{text}"
            f"#[Mean    = {mean:12.3f}, StdDeviation   = {math.sqrt(squares / max(total, 1)):12.3f}]\n"
            f"#[Max     = {most:12.3f}, Total count    = {total:12}]\n"
            f"#[Buckets = {57:12}, SubBuckets     = {128:12}]\n")


def variable_size(number):
    """Returns a number of variable length: seven bits per byte, the lowest first, and eight in the ninth byte. The sign is in bit 0."""
    rest, coded = (number << 1 if number >= 0 else (-number << 1) - 1), bytearray()
    while rest >= 0x80 and len(coded) < 8:
        coded.append(rest & 0x7f | 0x80)
        rest >>= 7
    return bytes(coded) + bytes([rest])


def encoded(buckets):
    """Returns a histogram of nanoseconds with two significant digits, in HdrHistogram's encoding V2."""
    counts, following = b"", 0
    for bucket, count in sorted(buckets.items()):
        shift = max(bucket.bit_length(), 8) - 8
        index = (shift << 7) + (bucket >> shift)
        if index > following:
            counts += variable_size(0 if index - following == 1 else following - index)
        counts += variable_size(count)
        following = index + 1
    counts = counts or variable_size(0)
    longest = max([3600 * 10**9, *buckets])  # an hour, so that histograms can be added up
    packed = zlib.compress(struct.pack(">IIIIQQd", 0x1c849313, len(counts), 0, 2, 1, longest, 1.0) + counts)
    return base64.b64encode(struct.pack(">II", 0x1c849314, len(packed)) + packed).decode()


def hlog(end, intervals, _):
    times, rest = main_times(end)
    began = end.get("began", "1970-01-01T00:00:00.000000Z")
    start = datetime.datetime.fromisoformat(began.replace("Z", "+00:00")).timestamp()
    text = ("#[Times in nanoseconds, made from yodel --json]\n#[Histogram log format version 1.3]\n"
            f"#[BaseTime: {start:.3f} (seconds since epoch)]\n#[StartTime: {start:.3f} (seconds since epoch), {began}]\n"
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n')

    def line(since, until, buckets):
        most = min(max(buckets, default=0) / 1e6, times.get("max", 0) / 1e3)
        return f"{since:.3f},{until - since:.3f},{most:.3f},{encoded(buckets)}\n"

    since = 0.0
    for interval in intervals:
        buckets = main_times(end, interval)[1]
        text += line(since, interval["t"], buckets)
        since = interval["t"]
        rest = {each: count - buckets.get(each, 0) for each, count in rest.items() if count > buckets.get(each, 0)}
    return text + (line(since, max(since, end["duration_us"] / 1e6), rest) if rest or not intervals else "")


def openmetrics(end, *_):
    def members(of, path):
        for key, value in of.items():
            if isinstance(value, dict):
                yield from members(value, [*path, key])
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and key != "sum":
                name = {"status": "exit_status", "t": "duration_us"}.get(key, key)
                value = value * 1_000_000 if key == "t" else value
                yield "_".join(["yodel", *path, name]), ".".join([*path, key]), value

    texts = {}
    for place, member, value in members(end, []):
        unit = "seconds" if re.search(r"_us\b|_us_", place) else "ratio" if member == "overlap" else ""
        name = re.sub(r"\W", "_", re.sub(r"_us(?=_|$)", "", place), flags=re.ASCII) + ("_" + unit if unit else "")
        texts.setdefault(name, f"# TYPE {name} gauge\n" + (f"# UNIT {name} {unit}\n" if unit else "") +
                         f"# HELP {name} The member {json.dumps(member)[1:-1]} of the {end.get('type', 'end')} object of yodel --json.\n"
                         f"{name} {value / 1e6 if unit == 'seconds' else value:.15g}\n")
    return "".join(texts.values()) + "# EOF\n"


def replace_file(path, text):
    """Replaces a file in one step, so that a collector never reads half of it."""
    try:
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
    except OSError as error:
        leave(f"{path}: {error.strerror}", 23)


def junit(end, _, failed_messages):
    required, held = end.get("required", []), end.get("held", {})
    counts = ", ".join(f"{end[name]} {name}" for name in ("sent", "echoed", "bad", "lost"))
    found = faults(end, {re.split(" *[<>=]", each["clause"])[0] for each in required}) if end["status"] == 1 else ""
    failed = end["status"] > 1 or found or (end["status"] == 1 and all(each["holds"] for each in required))
    cases = [("run", "run", failed, "\n".join([found or end["reason"], *(each["text"] for each in end["errors"]), counts] if failed else [counts]))]
    for each in required:
        clause, rate = each["clause"], held.get(each["clause"])
        was = "was " + each["was"] if "was" in each else "but it was not measured"
        up_to = f"{clause} held up to {shown(rate, 'rate')}" if rate else ""
        failure = f"{up_to}, then {was}" if up_to else f"required {clause}, {was}" + " in the first step of the climb" * (rate == 0)
        cases.append(("require", clause, not each["holds"], up_to if each["holds"] else failure))
    cases += [("message", f"message {each.get('seq', '')}", True, json.dumps(each)) for each in failed_messages if "replay" in end]
    text = ""
    for kind, name, has_failed, output in cases:
        begin = f"failure message={saxutils.quoteattr(output.partition(chr(10))[0])}" if has_failed else "system-out"
        text += f'<testcase classname="yodel.{kind}" name={saxutils.quoteattr(name)} time="0">'
        text += (f"<{begin}>{saxutils.escape(output)}</{begin.split()[0]}>" if output else "") + "</testcase>\n"
    began = f' timestamp="{end["began"][:19]}"' if "began" in end else ""
    text = (f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="yodel"{began}'
            f' tests="{len(cases)}" failures="{text.count("<failure")}"'
            f' errors="0" skipped="0" time="{end["duration_us"] / 1e6:.3f}">\n{text}</testsuite>\n</testsuites>\n')
    return re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)  # what XML cannot contain


STYLE = """
:root{color-scheme:light dark;--a:#2b83d6;--b:#d9731a;--c:#9a5bc8;--d:#17948e;--bad:#d9483f;--good:#23924f}body{font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 3rem}h1{font-size:1.5rem}h2{font-size:1rem;margin:2.25rem 0 .5rem}figcaption,th{opacity:.7;font-weight:400}
figure{margin:0}svg{display:block;width:100%}svg text{font-size:12px;fill:currentColor}.grid{stroke:currentColor;opacity:.2}
.series{fill:none;stroke-width:2}.thin{stroke-width:1.25;stroke-dasharray:4 3}.a{stroke:var(--a)}.b{stroke:var(--b)}.c{stroke:var(--c)}.d{stroke:var(--d)}
.key{display:inline-block;width:1.4em;border-top:2px solid;vertical-align:middle;margin-right:.35em}.good{color:var(--good)}.bad{color:var(--bad)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid #8886;overflow-wrap:anywhere}
"""


def chart(title, ticks, lines, high):
    """Returns a chart in SVG. A point of a line is a part of the width and a time (us), whose axis is logarithmic."""
    def up(us):
        return 206 - 194 * math.log(max(us, 1)) / math.log(high)

    text = "".join(f'<line class="grid" x1="64" x2="852" y1="{up(us):.1f}" y2="{up(us):.1f}"/>'
                   f'<text x="56" y="{up(us) + 4:.1f}" text-anchor="end">{shown(1000 * us)}</text>'
                   for us in (10 ** power for power in range(13)) if us <= high)
    text += "".join(f'<text x="{64 + 788 * part:.1f}" y="228" text-anchor="{"end" if part > 0.96 else "middle"}">{label}</text>' for part, label in ticks)
    for kind, points in lines:
        text += f'<polyline class="series {kind}" points="' + " ".join(f"{64 + 788 * part:.1f},{up(us):.1f}" for part, us in points) + '"/>'
    return f'<h2>{title}</h2><figure><svg viewBox="0 0 860 240" role="img" aria-label="{title}">{text}</svg>'


def table(head, rows):
    rows = ["<tr>" + "".join(f"<td>{each}</td>" for each in row) + "</tr>" for row in rows]
    return "<table><tr>" + "".join(f"<th>{each}</th>" for each in head) + "</tr>" + "".join(rows) + "</table>" if rows else ""


def html(runs):
    """Returns a page about runs, each given with its name."""
    all_of, columns = [], ("min", "p50", "p90", "p99", "p99.9", "max")
    for ((end, intervals, _), name), colour in zip(runs, itertools.cycle("abcd")):
        starts = [0.0] + [each["t"] for each in intervals]
        slices = [((start + each["t"]) / 2, main_times(end, each)[1]) for start, each in zip(starts, intervals)]
        key = f'<span class="key {colour}" style="color:var(--{colour})"></span>{saxutils.escape(name)}'
        all_of.append((end, saxutils.escape(name), key, colour, slices, max([end.get("duration_us", 0) / 1e6, *starts, 1e-3]), *main_times(end)))
    length, high = max(each[5] for each in all_of), max([us / 1e3 for each in all_of for us in each[7]], default=1000) * 1.1 + 1
    across, spread, legend = [], [], " ".join(each[2] for each in all_of)
    levels = max(min(max(math.ceil(math.log10(max(sum(each[7].values()), 1))) for each in all_of), 5), 1)
    for end, name, _, colour, slices, _, _, buckets in all_of:
        across += [(colour + kind, [(time / length, percentile(part, percent) / 1e3) for time, part in slices if part])
                   for percent, kind in ((50, ""), (99, " thin")) if slices]
        seen, count, points = 0, sum(buckets.values()), []
        for bucket, more in sorted(buckets.items()):
            points, seen = points + [(math.log10(count / (count - seen)) / levels, bucket / 1e3)], seen + more
        spread.append((colour, [point for point in points if point[0] <= 1]))
    step = next(each * 10 ** power for power in range(-3, 9) for each in (1, 2, 5) if length / (each * 10 ** power) <= 8)
    seconds = [(i * step / length, f"{i * step:g} s") for i in range(int(length / step + 1e-9) + 1)]
    failed = [end["reason"] for end, *_ in all_of if end.get("status")]
    body = f'<p class="bad">✗ {saxutils.escape("; ".join(failed))}</p>' if failed else '<p class="good">✓ All runs succeeded.</p>'
    body += table(("run", "sent", "echoed", "bad", "lost", "rate", *columns), [
        [key, *(f"{end.get(each, 0):,}" for each in ("sent", "echoed", "bad", "lost")), f"{end.get('rate', 0):,.0f} /s",
         *(shown(ns(known[each])) if each in known else "" for each in columns)] for end, _, key, _, _, _, known, _ in all_of])
    rows = [[name, saxutils.escape(each["clause"]), saxutils.escape(each.get("was", "not measured")),
             '<span class="good">✓ met</span>' if each["holds"] else '<span class="bad">✗ not met</span>']
            for end, name, *_ in all_of for each in end.get("required", [])]
    body += "<h2>Requirements</h2>" + table(("run", "required", "was", ""), rows) if rows else ""
    if across:
        body += chart("Percentiles over time", seconds, across, high) + f"<figcaption>{legend}: p50, and p99 dashed.</figcaption></figure>"
    shares = [(level / levels, f"{100 - 100 / 10 ** level:g} %") for level in range(levels + 1)]
    body += chart("Distribution", shares, spread, high) + f"<figcaption>{legend}: time within which this share was over.</figcaption></figure>"
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>yodel: results</title><style>{STYLE}</style></head><body><main><h1>yodel: round trips</h1>{body}</main></body></html>\n")


# --- The program.

HELP = " (results.py -h shows the options)"
FORMATS = {"hgrm": hgrm, "hlog": hlog, "openmetrics": openmetrics, "junit": junit, "json": lambda end, *_: json.dumps(end, separators=(",", ":")) + "\n"}


def main():
    parser = argparse.ArgumentParser(description="Adds up or compares runs, or makes other formats from the output of yodel --json.", allow_abbrev=False)
    parser.error = lambda text: leave(text + HELP)
    parser.add_argument("--merge", nargs="+", metavar="FILE", help="add up the last run of each file")
    parser.add_argument("--compare", nargs=2, metavar=("OLD", "NEW"), help="print how two runs differ")
    parser.add_argument("--require", action="append", metavar="LIST", help="fail unless the sum, or NEW, fulfils LIST")
    parser.add_argument("--to", choices=[*FORMATS, "html"], help="print this format")
    parser.add_argument("--output", metavar="FILE", help="with --to openmetrics: replace FILE for each object as it arrives")
    parser.add_argument("file", nargs="*", metavar="FILE")
    options = parser.parse_args()
    added, forms = options.merge or options.compare, (options.merge, options.compare, not options.merge and options.to)
    if sum(map(bool, forms)) != 1 or (options.file if added else options.require) or (added and options.to == "html"):
        parser.error("give one of --merge FILE... [--to FORMAT], --compare OLD NEW and --to FORMAT [FILE...]; --require needs one of the first two")
    if options.to not in (None, "html") and len(options.file) > 1:
        parser.error(f"--to {options.to} takes one FILE")
    if options.output and (options.to != "openmetrics" or added):
        parser.error("--output needs --to openmetrics")
    if options.output:
        read_run((options.file or [None])[0], lambda record: replace_file(options.output, openmetrics(record)))
        return
    required = [Requirement(clause, options.compare) for clause in ",".join(options.require or []).split(",") if options.require]
    if added:
        end, text, sentences = (merge if options.merge else compare)(added, required)
        text = FORMATS[options.to](end, [], []) if options.to else text
    else:
        runs = [(read_run(path), os.path.basename(path or "run")) for path in options.file or [None]]
        text, end, sentences = html(runs) if options.to == "html" else FORMATS[options.to](*runs[0][0]), {"status": 0}, []
    try:
        sys.stdout.reconfigure(encoding="utf-8")
        print(text, end="", flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nothing is written at the end
        leave(f"cannot write the output: {error.strerror}", 23)
    for each in sentences:
        report(each)
    sys.exit(end["status"])


try:
    main()
except RecursionError:
    leave("the input is nested too deeply")
except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
    leave(f"a member of the input is missing or odd: {error}")
