# tests/e2e/pool/pool.py — runs a scene alone and under each VRAMSCOPE_POOL: what it
# prints must not change.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
# The tests of this folder take what they need of e2e from here.
from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, VRAMSCOPE, EndToEndTest, line_of, simulated_only  # noqa: E402, F401

MODES = ["off", "cache", "split"]
KNOBS = {"poison": "VRAMSCOPE_POISON", "guard": "VRAMSCOPE_GUARD", "limit": "VRAMSCOPE_LIMIT", "sync": "VRAMSCOPE_POOL_SYNC",
         "max_cached": "VRAMSCOPE_MAX_CACHED", "wait_from": "VRAMSCOPE_WAIT_FROM",
         "fraction": "VRAMSCOPE_PER_PROCESS_MEMORY_FRACTION", "roundup": "VRAMSCOPE_ROUNDUP_POWER2_DIVISIONS",
         "max_split": "VRAMSCOPE_MAX_SPLIT_SIZE_MB", "collect": "VRAMSCOPE_GARBAGE_COLLECTION_THRESHOLD"}


@simulated_only  # what a real driver answers to misuse is its own business, and memory is as large as the card's
class PoolTest(EndToEndTest):
    def in_mode(self, program, scene, mode, gpu=GPU, **env):
        """One traced run: its stdout, what was told on stderr before the summary, its report; and the driver's calls."""
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        knobs = {KNOBS[name]: env.pop(name) for name in list(env) if name in KNOBS}
        if mode != "off":
            knobs.setdefault("VRAMSCOPE_WAIT_FROM", "0")  # as much reuse as can be
        done, report = self.run_traced(program, scene, gpu=gpu, VRAMSCOPE_POOL=mode, VRAMSCOPE_SIM_TRACE=str(calls), **knobs, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.told = done.stderr.split("vramscope: ran on")[0]
        self.calls = [line.rpartition("=")[::2] for line in calls.read_text().splitlines()] if calls.exists() else []
        return done.stdout, report

    def called(self, name):
        """How often the driver did it."""
        return sum(symbol == name and result == "0" for symbol, result in self.calls)

    def same(self, program, scene, modes=MODES, gpu=GPU, **env):
        """The reports by mode, of runs that print what the program prints alone."""
        alone = self.plain(program, scene, VRAMSCOPE_SIMULATE=gpu)
        self.assertEqual(alone.returncode, 0, alone.stderr)
        reports = {}
        for mode in modes:
            with self.subTest(mode):
                printed, reports[mode] = self.in_mode(program, scene, mode, gpu=gpu, **env)
                self.assertEqual(printed, alone.stdout)
                self.assertEqual(self.told, "")
        self.alone = alone.stdout
        return reports

    def assert_clean(self, reports, allocations=None):
        for mode, report in reports.items():
            with self.subTest(mode):
                seen = report["coverage"]
                self.assertEqual((report["verdict"], report["leaks"]), ("clean", []))
                self.assertEqual((seen["unmatched_frees"], seen["missed_frees"], seen["lost_events"]), (0, 0, 0))
                self.assertEqual((seen["undefined_events"], seen["damaged_chunks"], seen["truncated"]), (0, 0, False))
                self.assertEqual(seen["allocations"], seen["frees"])
                if allocations is not None:
                    self.assertEqual(seen["allocations"], allocations)

    def assert_same_reports(self, reports):
        """Whatever the pool does, the program did the same."""
        reports = dict(reports)
        first = reports.pop("off")
        for mode, report in reports.items():
            with self.subTest(mode):
                self.assertEqual(facts(report), facts(first))


def facts(report):
    seen = report["coverage"]
    return {"verdict": report["verdict"],
            "seen": [seen[name] for name in ("allocations", "frees", "unmatched_frees", "missed_frees", "lost_events")],
            "misuse": sorted((each["kind"], each["calls"], each["call"]["stack"][0]["line"]) for each in report["misuse"]),
            "leaks": sorted((leak["kind"], leak["bytes"], leak["blocks"], leak["stack"][0]["line"]) for leak in report["leaks"])}
