#!/usr/bin/env python3
# Needs Python 3.8 or later, and nothing but its standard library.
# Run: yodel-load --json [OPTION...] | results.py --to hgrm|hlog|openmetrics|junit [FILE]      FILE instead of standard input
# Prints the last run as HdrHistogram's text (ms) or interval log (ns), as OpenMetrics, or as JUnit's XML.
import argparse, base64, datetime, json, math, re, struct, sys, zlib
from xml.sax import saxutils


def read_run(lines):
    """Returns the last end object, its intervals, and its first hundred differences of a replay."""
    run, intervals, wrong = None, [], []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            kind, outcome = record["type"], record.get("fate")
        except (ValueError, TypeError, KeyError):
            sys.exit(f"results.py: line {number} is not an object of yodel --json")
        if kind == "interval":
            intervals.append(record)
        elif kind == "message" and outcome in ("different", "lost", "missing", "unrecorded") and len(wrong) < 100:
            wrong.append(record)
        elif kind == "end":
            run, intervals, wrong = (record, intervals, wrong), [], []
    return run or sys.exit("results.py: there is no end object (expected the output of yodel --json)")


def main_times(end, of=None):
    """Returns the statistics (us) and the buckets (ns) of round trips, or of connecting without messages."""
    connections = end["connections"]
    name = "" if not end.get("probe") else "handshake_" if "handshake_us" in connections else "connect_"
    of = of or (connections if name else end)
    return of.get((name or "rtt_") + "us", {}), {round(us * 1000): count for us, count in of.get(name + "histogram", [])}


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
    text = ""

    def walk(members, path):
        nonlocal text
        for key, value in members.items():
            if isinstance(value, dict):
                walk(value, path + [key])
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and key != "sum":
                place = "_".join(["yodel", *path, "exit_status" if key == "status" else key])
                unit = "seconds" if re.search(r"_us\b|_us_", place) else "ratio" if key == "overlap" else ""
                name = re.sub(r"\W", "_", re.sub(r"_us(?=_|$)", "", place)) + ("_" + unit if unit else "")
                text += f"# TYPE {name} gauge\n" + (f"# UNIT {name} {unit}\n" if unit else "")
                text += f"# HELP {name} {'.'.join(path + [key])} of yodel --json.\n"
                text += f"{name} {value / 1e6 if unit == 'seconds' else value:.15g}\n"

    walk(end, [])
    return text + "# EOF\n"


def junit(end, _, wrong):
    required = end.get("required", [])
    failed = [each for each in required if not each["holds"]]
    cases = [("run", "run", "")]
    if end["status"] > 1 or (end["status"] == 1 and not failed):
        counts = ", ".join(f"{end[name]} {name}" for name in ("sent", "echoed", "bad", "lost"))
        cases = [("run", "run", "\n".join([end["reason"], *(each["text"] for each in end["errors"]), counts]))]
    for each in required:
        was = "was " + each["was"] if "was" in each else "but it was not measured"
        cases.append(("require", each["clause"], "" if each["holds"] else f"required {each['clause']}, {was}"))
    cases += [("message", f"message {each.get('seq', '')}", json.dumps(each)) for each in wrong if "replay" in end]
    text = ""
    for kind, name, failure in cases:
        text += f'<testcase classname="yodel.{kind}" name={saxutils.quoteattr(name)} time="0">'
        first = saxutils.quoteattr(failure.partition("\n")[0])
        text += f"<failure message={first}>{saxutils.escape(failure)}</failure>" if failure else ""
        text += "</testcase>\n"
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="yodel"'
            f' timestamp="{end.get("began", "1970-01-01T00:00:00")[:19]}" tests="{len(cases)}" failures="{text.count("<failure")}"'
            f' errors="0" skipped="0" time="{end["duration_us"] / 1e6:.3f}">\n{text}</testsuite>\n</testsuites>\n')


formats = {"hgrm": hgrm, "hlog": hlog, "openmetrics": openmetrics, "junit": junit}
parser = argparse.ArgumentParser(description="Makes other formats from the output of yodel --json.")
parser.add_argument("--to", required=True, choices=formats)
parser.add_argument("file", nargs="?", type=argparse.FileType(encoding="utf-8"), default=sys.stdin, metavar="FILE")
options = parser.parse_args()
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.write(formats[options.to](*read_run(options.file)))
