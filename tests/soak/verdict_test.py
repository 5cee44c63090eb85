#!/usr/bin/env python3
"""Tests that the verdict of a soak reports growth, and nothing else."""
import random
import unittest

import verdict

HOUR = 120  # measurements


def noise(size, seed=1):
    dice = random.Random(seed)
    return [dice.uniform(-size, size) for _ in range(HOUR)]


def series(at, spread=0):
    return [at(index / HOUR) + off for index, off in enumerate(noise(spread))]


MEMORY = [
    # behaviour, kilobytes at a fraction of the time, noise, flat
    ("stays", lambda t: 8000, 0, True),
    ("goes up and down", lambda t: 8000, 900, True),
    ("grows while it warms up", lambda t: 8000 + 40000 * min(t, 0.15), 50, True),
    ("has a peak now and then", lambda t: 8000 + (90000 if int(t * HOUR) % 9 == 0 else 0), 50,
     True),
    ("shrinks", lambda t: 9000 - 3000 * t, 50, True),
    ("leaks slowly", lambda t: 8000 + 1000 * t, 50, False),
    ("leaks under noise", lambda t: 8000 + 3000 * t, 900, False),
    ("makes a step in the middle", lambda t: 8000 + (2000 if t > 0.5 else 0), 50, False),
    ("is large and leaks a little", lambda t: 90000 + 2000 * t, 50, True),
    ("is large and leaks", lambda t: 90000 + 9000 * t, 50, False),
]


class VerdictTest(unittest.TestCase):
    def test_detects_growing_memory(self):
        for name, at, spread, flat in MEMORY:
            with self.subTest(name):
                finding = verdict.judge_memory("server", series(at, spread))
                self.assertEqual(finding.flat, flat, str(finding))

    def test_detects_a_leaked_descriptor(self):
        self.assertTrue(verdict.judge_count("server", "descriptors", [9] * HOUR).flat)
        self.assertTrue(verdict.judge_count("server", "descriptors", [8] + [9] * HOUR).flat)
        self.assertTrue(verdict.judge_count("server", "descriptors", [9] * 50 + [8] + [9] * 50).flat)
        self.assertFalse(verdict.judge_count("server", "descriptors", [9] * 60 + [10] * 50).flat)
        finding = verdict.judge_count("server", "descriptors", [9] * 50 + [10] + [9] * 50)
        self.assertFalse(finding.flat)
        self.assertIn("9 descriptors, at most 10 at quiet moments", str(finding))

    def test_detects_slower_round_trips_but_ignores_a_busy_machine(self):
        def flat(at):
            return all(finding.flat for finding in
                       verdict.judge_latency("server", [(p50, 2 * p50) for p50 in series(at, 5)]))
        self.assertTrue(flat(lambda t: 50))
        self.assertTrue(flat(lambda t: 500 if 0.4 < t < 0.5 else 50))
        self.assertFalse(flat(lambda t: 50 + 100 * t))


if __name__ == "__main__":
    unittest.main()
