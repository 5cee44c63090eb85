#!/usr/bin/env python3
# Needs Python 3.8 or later, and nothing but its standard library.
# Run: yodel-load --json [OPTION...] | results.py --to hgrm|hlog|openmetrics|junit|html [FILE...]      FILEs instead of standard input
# Prints the last run as HdrHistogram's text (ms) or interval log (ns), as OpenMetrics, as JUnit's XML, or all files as a page.
import argparse, base64, datetime, itertools, json, math, os, re, struct, sys, zlib
from xml.sax import saxutils


def read_run(lines):
    """Returns the last end object, its intervals, and its first hundred differences of a replay."""
    run, intervals, failed_messages = None, [], []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            kind, outcome = record["type"], record.get("fate")
        except (ValueError, TypeError, KeyError):
            sys.exit(f"results.py: line {number} is not an object of yodel --json")
        if kind == "interval":
            intervals.append(record)
        elif kind == "message" and outcome in ("bad", "lost", "missing", "unrecorded") and len(failed_messages) < 100:
            failed_messages.append(record)
        elif kind == "end":
            run, intervals, failed_messages = (record, intervals, failed_messages), [], []
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
    text, names = "", set()

    def walk(members, path):
        nonlocal text
        for key, value in members.items():
            if isinstance(value, dict):
                walk(value, path + [key])
            elif isinstance(value, (int, float)) and not isinstance(value, bool) and key != "sum":
                place = "_".join(["yodel", *path, "exit_status" if key == "status" else key])
                unit = "seconds" if re.search(r"_us\b|_us_", place) else "ratio" if key == "overlap" else ""
                name = re.sub(r"\W", "_", re.sub(r"_us(?=_|$)", "", place), flags=re.ASCII) + ("_" + unit if unit else "")
                if name in names:
                    continue
                names.add(name)
                member = json.dumps(".".join(path + [key]))[1:-1]  # on one line
                text += f"# TYPE {name} gauge\n" + (f"# UNIT {name} {unit}\n" if unit else "")
                text += f"# HELP {name} The member {member} of the end object of yodel --json.\n"
                text += f"{name} {value / 1e6 if unit == 'seconds' else value:.15g}\n"

    walk(end, [])
    return text + "# EOF\n"


def xml(text):
    """Returns the text without the characters that XML cannot contain."""
    return re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def junit(end, _, failed_messages):
    required = end.get("required", [])
    failed = [each for each in required if not each["holds"]]
    cases = [("run", "run", "")]
    if end["status"] > 1 or (end["status"] == 1 and not failed):
        counts = ", ".join(f"{end[name]} {name}" for name in ("sent", "echoed", "bad", "lost"))
        cases = [("run", "run", "\n".join([end["reason"], *(each["text"] for each in end["errors"]), counts]))]
    for each in required:
        was = "was " + each["was"] if "was" in each else "but it was not measured"
        cases.append(("require", each["clause"], "" if each["holds"] else f"required {each['clause']}, {was}"))
    cases += [("message", f"message {each.get('seq', '')}", json.dumps(each)) for each in failed_messages if "replay" in end]
    text = ""
    for kind, name, failure in cases:
        name, failure = xml(name), xml(failure)
        text += f'<testcase classname="yodel.{kind}" name={saxutils.quoteattr(name)} time="0">'
        first = saxutils.quoteattr(failure.partition("\n")[0])
        text += f"<failure message={first}>{saxutils.escape(failure)}</failure>" if failure else ""
        text += "</testcase>\n"
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="yodel"'
            f' timestamp="{end.get("began", "1970-01-01T00:00:00")[:19]}" tests="{len(cases)}" failures="{text.count("<failure")}"'
            f' errors="0" skipped="0" time="{end["duration_us"] / 1e6:.3f}">\n{text}</testsuite>\n</testsuites>\n')


STYLE = """
:root{color-scheme:light dark;--ground:#fcfcfa;--ink:#1c2024;--soft:#5c656e;--rule:#dcdfe0;--a:#0b66b5;--b:#b4530a;--c:#7b3fa8;--d:#0a7d78;--bad:#b3261e;--good:#1a7a43}
@media(prefers-color-scheme:dark){:root{--ground:#14171a;--ink:#e8eaed;--soft:#a0a8b0;--rule:#33393f;--a:#6cb6ff;--b:#f5a15c;--c:#c79bf0;--d:#5fd0c8;--bad:#ff8a80;--good:#6fcf97}}
*{box-sizing:border-box}body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:60rem;margin:0 auto;padding:2rem 1.25rem 3rem}h1{font-size:1.5rem;line-height:1.25;margin:0;overflow-wrap:anywhere}
h2{font-size:1rem;margin:2.25rem 0 .5rem}p{margin:.25rem 0}.soft,figcaption{color:var(--soft);font-size:.875rem}
.runs{display:grid;grid-template-columns:repeat(auto-fit,minmax(17rem,1fr));gap:1.5rem;margin-top:1.5rem}.name{font-weight:600;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(4.9rem,1fr));gap:.75rem .75rem;margin:.75rem 0 0}.figures dt{color:var(--soft);font-size:.8125rem}
.figures dd{margin:0;font-size:1.25rem;line-height:1.3;white-space:nowrap}.figures dd small{font-size:.8125rem;color:var(--soft)}
figure{margin:0}svg{display:block;width:100%;height:auto;overflow:visible}svg text{font:12px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--rule)}.series{fill:none;stroke-width:2;stroke-linejoin:round}.series.a{stroke:var(--a)}.series.b{stroke:var(--b)}.series.c{stroke:var(--c)}.series.d{stroke:var(--d)}.thin{stroke-width:1.25;stroke-dasharray:4 3}
.stall{fill:var(--bad);opacity:.16}.cell.a{fill:var(--a)}.cell.b{fill:var(--b)}.cell.c{fill:var(--c)}.cell.d{fill:var(--d)}.key{display:inline-block;width:1.4em;border-top:2px solid;vertical-align:middle;margin-right:.35em}.entry{margin-right:1em;display:inline-block}
.key.dash{border-top-style:dashed}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--rule);overflow-wrap:anywhere}
th{color:var(--soft);font-weight:400;font-size:.875rem}.good{color:var(--good);font-weight:600}.bad{color:var(--bad);font-weight:600}
@media(max-width:32rem){svg text{font-size:20px}}
"""
WIDTH, HEIGHT, LEFT, BOTTOM = 860, 240, 64, 34  # of a chart, and the margins of its axes


def duration(us):
    """Returns a time in three digits with its unit."""
    unit, size = next((each for each in (("s", 1e6), ("ms", 1e3)) if us >= each[1]), ("µs", 1))
    value = us / size
    return f"{value:.3g} {unit}" if value < 100 else f"{value:.0f} {unit}"


class Chart:
    """A chart in SVG with a horizontal axis and a logarithmic or linear vertical axis. Marks lie below lines, and lines below labels."""

    def __init__(self, title, across, up, log_across=False, log_up=True):
        self.title, self.text = title, ""
        self.across, self.up, self.log = across, up, (log_across, log_up)

    def place(self, value, axis):
        low, high = (self.across, self.up)[axis]
        turn = math.log if self.log[axis] else float
        part = (turn(min(max(value, low), high)) - turn(low)) / ((turn(high) - turn(low)) or 1)
        return LEFT + part * (WIDTH - LEFT - 8) if axis == 0 else (HEIGHT - BOTTOM) - part * (HEIGHT - BOTTOM - 12)

    def box(self, kind, x, y, extra="", tip=""):
        left, right, top, bottom = self.place(x[0], 0), self.place(x[1], 0), self.place(y[1], 1), self.place(y[0], 1)
        self.text += (f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{max(right - left, 1):.1f}" '
                      f'height="{max(bottom - top, 1):.1f}"{extra}><title>{saxutils.escape(tip)}</title></rect>')

    def line(self, kind, points):
        points = [f"{x:.1f},{y:.1f}" for x, y in ((self.place(x, 0), self.place(y, 1)) for x, y in points)]
        self.text += f'<polyline class="series {kind}" points="{" ".join(points)}"/>' if points else ""

    def svg(self, across_ticks, up_ticks):
        text = ""
        for value, label in up_ticks:
            y = self.place(value, 1)
            text += f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
            text += f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>'
        for value, label in across_ticks:
            x = self.place(value, 0)
            anchor = "end" if x > WIDTH - 30 else "middle"
            text += f'<text x="{WIDTH if anchor == "end" else x:.1f}" y="{HEIGHT - 12}" text-anchor="{anchor}">{label}</text>'
        return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label={saxutils.quoteattr(self.title)}>{text}{self.text}</svg>'


def decades(low, high):
    steps = [10 ** power for power in range(-1, 10) if low <= 10 ** power <= high]
    return [(each, duration(each)) for each in steps] or [(low, duration(low)), (high, duration(high))]


def seconds_ticks(length):
    step = next(each * 10 ** power for power in range(-3, 9) for each in (1, 2, 5) if length / (each * 10 ** power) <= 8)
    return [(i * step, f"{i * step:g} s") for i in range(int(length / step + 1e-9) + 1)]


def percentile(buckets, percent):
    """Returns the time (us) of a histogram in nanoseconds, or none if it is empty."""
    rest = sum(buckets.values()) * percent / 100
    for bucket, count in sorted(buckets.items()):
        rest -= count
        if rest <= 1e-9:
            return bucket / 1e3
    return None


class Picture:
    """A run: its results, the buckets of each interval, and its colour."""

    def __init__(self, run, label, colour):
        end, intervals, _ = run
        self.label, self.end, self.colour = label, end, colour
        self.times, self.buckets = main_times(end)
        starts = [0.0] + [each["t"] for each in intervals]
        self.slices = [(start, each["t"], main_times(end, each)[1]) for start, each in zip(starts, intervals)]
        self.length = max([self.end.get("duration_us", 0) / 1e6, *starts, 1e-3])

    def stalls(self):
        """Returns the intervals whose slowest round trip took over 1 ms and five times as long as usual."""
        slowest = sorted(max(buckets) / 1e3 for _, _, buckets in self.slices if buckets)
        limit = max(5 * slowest[len(slowest) // 2], 1000) if slowest else 0
        return [each for each in self.slices if max(each[2], default=0) / 1e3 > limit]


def key(one, more="", kind=""):
    """Returns an entry of a legend."""
    return (f'<span class="entry"><span class="key{kind}" style="color:var(--{one.colour})"></span>'
            f"{saxutils.escape(one.label)}{more}</span> ")


def over_time(all_of, low, high):
    length = max(each.length for each in all_of)
    chart = Chart("Percentiles over time", (0, length), (low, high))
    for each in all_of:
        for start, until, _ in each.stalls():
            chart.box("stall", (start, until), (low, high), tip=f"{each.label}: a stall within {start:g} s to {until:g} s")
    for each in all_of:
        for percent, kind in ((50, ""), (99, "thin")):
            chart.line(f"{each.colour} {kind}", [((start + until) / 2, time) for start, until, buckets in each.slices
                                                 for time in [percentile(buckets, percent)] if time])
    keys = "".join(key(each, " p50") + key(each, " p99", " dash") for each in all_of)
    stalled = " Shaded: a stall, with a round trip over five times as long as the slowest usually is." if any(each.stalls() for each in all_of) else ""
    return ("<h2>Percentiles over time</h2><figure>" + chart.svg(seconds_ticks(length), decades(low, high)) +
            f"<figcaption>{keys}{stalled}</figcaption></figure>") if any(each.slices for each in all_of) else ""


def heat_map(one, low, high):
    rows = 24
    step = (high / low) ** (1 / rows)
    chart = Chart("Heat map of " + one.label, (0, one.length), (low, high))
    cells = {}
    for start, until, buckets in one.slices:
        for bucket, count in buckets.items():
            row = min(max(int(math.log(max(bucket / 1e3, low) / low) / math.log(step)), 0), rows - 1)
            cells[start, until, row] = cells.get((start, until, row), 0) + count
    most = max(cells.values(), default=1)
    for (start, until, row), count in cells.items():
        span = (low * step ** row, low * step ** (row + 1))
        shade = 0.12 + 0.88 * math.log1p(count) / math.log1p(most)
        chart.box(f"cell {one.colour}", (start, until), span, f' fill-opacity="{shade:.2f}"',
                  f"{count} within {duration(span[0])} to {duration(span[1])}, {start:g} s to {until:g} s")
    return (f"<h2>Heat map: {saxutils.escape(one.label)}</h2><figure>" +
            chart.svg(seconds_ticks(one.length), decades(low, high)) +
            f"<figcaption>Number of round trips by time. The darkest cell has {most:,}.</figcaption></figure>") if cells else ""


def distribution(all_of, low, high):
    levels = [(2, "50 %"), (10, "90 %"), (100, "99 %"), (1000, "99.9 %"), (10000, "99.99 %"), (100000, "99.999 %")]
    total = max(sum(each.buckets.values()) for each in all_of)
    levels = [each for each in levels if each[0] <= max(total, 10)]
    chart = Chart("Distribution", (1, max(levels[-1][0], 10)), (low, high), log_across=True)
    for each in all_of:
        count, seen, points = sum(each.buckets.values()), 0, []
        for bucket, more in sorted(each.buckets.items()):
            points += [(count / (count - seen), bucket / 1e3)]
            seen += more
        chart.line(each.colour, [point for point in points if point[0] <= levels[-1][0]])
    keys = "".join(map(key, all_of))
    return ("<h2>Distribution</h2><figure>" + chart.svg([(1, "0 %"), *levels], decades(low, high)) +
            f"<figcaption>{keys}Time within which this share of the round trips was over.</figcaption></figure>")


def figures(one):
    end, rows = one.end, [("sent", f"{one.end.get('sent', 0):,}"), ("echoed", f"{one.end.get('echoed', 0):,}")]
    rows += [(name, f"{end[name]:,}") for name in ("bad", "lost", "late", "unsent") if end.get(name)]
    rows += [("rate", f"{end['rate']:,.0f} <small>/s</small>")] if "rate" in end else []
    for name in ("min", "p50", "p90", "p99", "p99.9", "max"):
        if name in one.times:
            number, unit = duration(one.times[name]).split(" ")
            rows.append((name, f"{number} <small>{unit}</small>"))
    cells = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    began = end.get("began", "")[:19].replace("T", " ")
    return (f'<section><p class="name">{key(one)}</p><p class="soft">{saxutils.escape(began + " UTC, " if began else "")}'
            f'{one.length:.1f} s</p><dl class="figures">{cells}</dl></section>')


def requirements(named):
    rows = ""
    for label, end in named:
        for each in end.get("required", []):
            kind, word = ("good", "✓ met") if each["holds"] else ("bad", "✗ not met")
            cells = [label, each["clause"], each.get("was", "not measured")]
            rows += ("<tr>" + "".join(f"<td>{saxutils.escape(str(cell))}</td>" for cell in cells) +
                     f'<td class="{kind}">{word}</td></tr>')
    head = "<tr><th>run</th><th>required</th><th>was</th><th></th></tr>"
    return f"<h2>Requirements</h2><table>{head}{rows}</table>" if rows else ""


def html(runs):
    all_of = [Picture(run, label, colour) for (run, label), colour in zip(runs, itertools.cycle("abcd"))]
    named = [(label, run[0]) for run, label in runs]
    values = [bucket / 1e3 for one in all_of for bucket in one.buckets]
    low, high = 10 ** math.floor(math.log10(max(min(values, default=1), 0.1))), max(values, default=1000) * 1.1
    failed = [end["reason"] for _, end in named if end.get("status")]
    verdict = (f'<p class="bad">✗ {saxutils.escape("; ".join(failed))}</p>' if failed else '<p class="good">✓ All runs succeeded.</p>')
    body = "".join([verdict, '<div class="runs">', *map(figures, all_of), "</div>", requirements(named),
                    over_time(all_of, low, high), *(heat_map(one, low, high) for one in all_of), distribution(all_of, low, high)])
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
            f"<title>yodel: results</title><style>{STYLE}</style></head><body><main><h1>yodel: round trips</h1>{body}</main></body></html>\n")


formats = {"hgrm": hgrm, "hlog": hlog, "openmetrics": openmetrics, "junit": junit}
parser = argparse.ArgumentParser(description="Makes other formats from the output of yodel --json.")
parser.add_argument("--to", required=True, choices=[*formats, "html"])
parser.add_argument("file", nargs="*", type=argparse.FileType(encoding="utf-8"), default=[sys.stdin], metavar="FILE")
options = parser.parse_args()
sys.stdin.reconfigure(encoding="utf-8", errors="strict")
sys.stdout.reconfigure(encoding="utf-8")
if options.to != "html" and len(options.file) > 1:
    parser.error(f"--to {options.to} takes one FILE")
try:
    runs = [(read_run(file), "run" if file is sys.stdin else os.path.basename(file.name)) for file in options.file]
    text = html(runs) if options.to == "html" else formats[options.to](*runs[0][0])
    sys.stdout.write(text)
except UnicodeDecodeError:
    sys.exit("results.py: the input is not UTF-8")
except RecursionError:
    sys.exit("results.py: the input is nested too deeply")
except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
    sys.exit(f"results.py: a member of the input is missing or odd: {error}")
