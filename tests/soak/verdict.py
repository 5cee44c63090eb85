"""Judges whether the measurements of a soak are flat. Independent of processes."""
import collections
import statistics

# The first part of the measurements is a warm-up, in which one-time allocations happen and buffers
# grow to their limits.
WARM_UP = 1 / 6
MIN_MEASUREMENTS = 12

# Memory may grow by the greater of the two from beginning to end. In an hour this is less than one
# byte per message, and less than a small block per connection.
MEMORY_KB = 512
MEMORY_SHARE = 0.05
# The peak of a round depends on the round's load.
PEAK_FACTOR = 1.5
# Another program that uses a processor for some rounds must not look like slow code.
P50_FACTOR = 1.5
P99_FACTOR = 3


class Finding(collections.namedtuple("Finding", "flat text")):
    def __str__(self):
        return ("flat      " if self.flat else "NOT FLAT  ") + self.text


def warm(values):
    return values[int(len(values) * WARM_UP):]


def thirds(values):
    """Returns the medians of the first and of the last third after the warm-up."""
    rest = warm(values)
    third = max(1, len(rest) // 3)
    return statistics.median(rest[:third]), statistics.median(rest[-third:])


def growth(values):
    """Returns the median of the slopes between all pairs, over the time after the warm-up.

    Up to a quarter of the values may be far off without any influence (Theil and Sen).
    """
    rest = warm(values)
    slopes = [(rest[b] - rest[a]) / (b - a) for b in range(len(rest)) for a in range(b)]
    return statistics.median(slopes) * (len(rest) - 1)


def judge_memory(name, kilobytes):
    first, last = thirds(kilobytes)
    grown = growth(kilobytes)
    limit = max(MEMORY_KB, MEMORY_SHARE * first)
    return Finding(grown <= limit,
                   f"{name}: memory {first:.0f} kB, then {last:.0f} kB; "
                   f"the slope makes {grown:+.0f} kB (at most {limit:+.0f})")


def judge_factor(name, what, unit, values, factor):
    first, last = thirds(values)
    return Finding(last <= factor * first,
                   f"{name}: {what} {first:.0f} {unit}, then {last:.0f} {unit} "
                   f"(at most {factor} times)")


def judge_count(name, what, counts):
    """Checks that a count at quiet moments never exceeds the first third after the warm-up."""
    usual, _ = thirds(counts)
    most = max(warm(counts))
    return Finding(most <= usual, f"{name}: {usual:.0f} {what}, at most {most} at quiet moments")


def judge_process(name, samples):
    """`samples` contain rss, peak (kilobytes), descriptors and threads."""
    return [judge_memory(name, [sample.rss for sample in samples]),
            judge_factor(name, "highest use", "kB", [sample.peak for sample in samples],
                         PEAK_FACTOR),
            judge_count(name, "descriptors", [sample.descriptors for sample in samples]),
            judge_count(name, "threads", [sample.threads for sample in samples])]


def judge_latency(name, pings):
    """`pings` are pairs of p50 and p99 in microseconds."""
    return [judge_factor(name, "p50", "us", [p50 for p50, _ in pings], P50_FACTOR),
            judge_factor(name, "p99", "us", [p99 for _, p99 in pings], P99_FACTOR)]
