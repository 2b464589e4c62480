#!/usr/bin/env python3
# tests/oracle/rmm_replay_test.py — RMM itself on the simulated GPU: its driver calls, what it reserves, the smallest card.
#
# VRAMSCOPE_RMM_REPLAY is RMM's own replay benchmark (REPLAY_BENCH of its cpp/benchmarks), linked with a shared CUDA
# runtime. It plays logs in RMM's format, which are made here, and the same logs are imported and planned.
import json
import os
import random
import sys

from oracle import NOT_HERE, VRAMSCOPE, OracleTest

REPLAY = os.environ.get("VRAMSCOPE_RMM_REPLAY")
PAGE = STEP = 2 << 20  # the driver's, as it is guessed; and a plan's
RESOURCES = {"rmm-pool": "pool", "rmm-binning": "binning", "rmm-arena": "arena", "no-allocator": "cuda"}


def log_of(seed, rows, most_bytes, most_live=1 << 31):
    """Blocks of any sizes that come and go on the default stream, all freed at the end. The first is so large that no
    pool asks the driver for less than 2 MiB: which small allocations share a page is guessed here and there."""
    chance = random.Random(seed)
    lines, live, used = ["Thread,Time,Action,Pointer,Size,Stream"], [], 0

    def add(action, block, size):
        time = len(lines)
        lines.append(f"7,10:00:{time // 1000000:02}:{time % 1000000:06},{action},{block:#x},{size},0")

    live.append((1 << 30, 4 << 20))
    add("allocate", *live[0])
    while len(lines) < rows:
        if live and (chance.random() < 0.45 or used > most_live):
            at = chance.randrange(len(live))
            block, size = live[at]
            live[at] = live[-1]
            live.pop()
            used -= size
            add("free", block, size)
        else:
            small = chance.random() < 0.5
            size = 1 + chance.getrandbits(chance.randrange(1, 22)) if small else chance.randrange(1, most_bytes)
            live.append((len(lines) << 12, size))
            used += size
            add("allocate", *live[-1])
    for block, size in live:
        add("free", block, size)
    return "\n".join(lines) + "\n"


class RmmItself(OracleTest):
    def plan(self, policy):
        done = self.execute(VRAMSCOPE, "plan", "log.vsl", "--policy", policy, "-f", "--json", "plan.json")
        self.assertIn(done.returncode, (0, 111), done.stderr)
        [process] = json.loads((self.folder / "plan.json").read_text())["processes"]
        return process["devices"][0]["policies"][0]

    def replay(self, resource, size):
        """Whether RMM could play it on a device of so many bytes, and the driver's allocations and frees."""
        done = self.execute(VRAMSCOPE, "run", "--pool", "off", "--simulate", str(size), "-f", "-o", "rmm.vsl", "--", REPLAY,
                            "-f", "log.csv", "-r", resource, "--benchmark_min_time=0.000001")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.execute(VRAMSCOPE, "export", "--to", "jsonl", "rmm.vsl").stdout.splitlines()
        calls = [event for event in map(json.loads, events) if event["type"] in ("alloc", "free")]
        return "Exception caught" not in done.stdout, calls

    def check(self, policy, resource):
        planned = self.plan(policy)
        served, calls = self.replay(resource, 64 << 30)
        self.assertTrue(served)
        taken = [call["bytes"] for call in calls if call["type"] == "alloc"]
        if policy == "no-allocator":
            self.assertEqual(planned["device_calls"], len(calls))
            return
        self.assertEqual(planned["device_calls"], len(taken))  # what it has to the end is freed behind the log's
        if policy != "rmm-arena":  # without a limit that is as large as it must be, and RMM's is half of the device
            self.assertEqual(planned["peak_reserved_bytes"], sum(-(-size // PAGE) * PAGE for size in taken))
        size = planned["smallest_card_bytes"]
        self.assertEqual([self.replay(resource, each)[0] for each in (size, size - STEP)], [True, False])

    def test_asks_the_driver_for_the_same_and_needs_the_same_card(self):
        for seed, rows, most_bytes in ((1, 6000, 3 << 20), (2, 3000, 90 << 20)):
            (self.folder / "log.csv").write_text(log_of(seed, rows, most_bytes))
            done = self.execute(VRAMSCOPE, "import", "-f", "log.csv", "-o", "log.vsl")
            self.assertEqual(done.returncode, 0, done.stderr)
            for policy, resource in RESOURCES.items():
                with self.subTest(seed=seed, policy=policy):
                    self.check(policy, resource)


if __name__ == "__main__":
    if not REPLAY:
        print("SKIPPED: VRAMSCOPE_RMM_REPLAY names no replay benchmark of RMM")
        sys.exit(NOT_HERE)
    import unittest
    unittest.main()
