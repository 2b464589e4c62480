# tests/stress/reuse_race_test.py — no queued work may touch memory that was handed out again:
# random programs on the simulated GPU (tests/programs/reuse_race), in every mode of the pool; and a
# pool that is broken on purpose is caught.
#
# VRAMSCOPE_BUILD names the build folder; ctest sets it. REUSE_RACE_COUNT: how many times as many
# programs as usual.
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve()
PROGRAM = BUILD / "bin" / "programs" / "reuse_race"
PRELOAD = BUILD / "lib" / "libvramscope.so"
BROKEN = BUILD / "lib" / "libvramscope_broken.so"
TIMES = int(os.environ.get("REUSE_RACE_COUNT", "1"))
NEVER = "3600000000"  # queued work runs when somebody waits for it, and not before
SOON = "20"

MODES = {
    "off": {"VRAMSCOPE_POOL": "off"},
    "cache": {"VRAMSCOPE_POOL": "cache"},
    "split": {"VRAMSCOPE_POOL": "split"},
    "cache, as it comes": {"VRAMSCOPE_WAIT_FROM": "2MiB"},
    "cache, strict": {"VRAMSCOPE_POOL": "cache", "VRAMSCOPE_POOL_SYNC": "strict"},
    "split, strict": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_POOL_SYNC": "strict"},
    "cache, waiting at once": {"VRAMSCOPE_POOL": "cache", "VRAMSCOPE_WAIT_FROM": "0"},
    "split, waiting at once": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_WAIT_FROM": "0"},
    "cache, poison": {"VRAMSCOPE_POOL": "cache", "VRAMSCOPE_POISON": "0xA5"},
    "split, guard": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_GUARD": "on"},
    "split, guard and poison": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_GUARD": "on", "VRAMSCOPE_POISON": "0x11"},
    "off, limit": {"VRAMSCOPE_POOL": "off", "VRAMSCOPE_LIMIT": "48MiB"},
    "cache, limit": {"VRAMSCOPE_POOL": "cache", "VRAMSCOPE_LIMIT": "48MiB"},
    "split, limit": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_LIMIT": "48MiB"},
    "cache, with little kept": {"VRAMSCOPE_POOL": "cache", "VRAMSCOPE_MAX_CACHED": "4MiB", "VRAMSCOPE_ROUNDUP_POWER2_DIVISIONS": "2"},
    "split, with little kept": {"VRAMSCOPE_POOL": "split", "VRAMSCOPE_MAX_CACHED": "2MiB", "VRAMSCOPE_GARBAGE_COLLECTION_THRESHOLD": "0.3"},
}


class ReuseRaceTest(unittest.TestCase):
    def play(self, *options, preload=None, delay=NEVER, devices="2x64MiB", **settings):
        with tempfile.TemporaryDirectory() as folder:
            env = {name: value for name, value in os.environ.items() if not name.startswith(("VRAMSCOPE", "LD_"))}
            env |= {"LD_LIBRARY_PATH": str(BUILD / "lib" / "vramscope" / "simgpu"), "VRAMSCOPE_SIMULATE": devices,
                    "VRAMSCOPE_SIM_DELAY_US": delay, "VRAMSCOPE_LOG": f"{folder}/log.vsl",
                    **settings}
            if settings.get("VRAMSCOPE_POOL") != "off":
                env.setdefault("VRAMSCOPE_WAIT_FROM", "0")  # as much reuse as can be
            if preload:
                env["LD_PRELOAD"] = str(preload)
            return subprocess.run([PROGRAM, *map(str, options)], env=env, cwd=folder, capture_output=True, text=True, timeout=600)

    def counts(self, *options, **how):
        done = self.play(*options, **how)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"reuse_race {' '.join(map(str, options))}; {how}")
        return {name: int(value) for name, value in (pair.split("=") for pair in done.stdout.split())}


class SoundTest(ReuseRaceTest):
    def test_the_driver_alone(self):
        counts = self.counts("--count", 40 * TIMES)
        for name, count in counts.items():
            if name != "refused":
                self.assertGreater(count, 0, f"the programs are not what they should be: {counts}")
        self.counts("--count", 10 * TIMES, "--threads", 3, delay=SOON)

    def test_every_mode_of_the_pool(self):
        for mode, settings in MODES.items():
            with self.subTest(mode):
                counts = self.counts("--count", 40 * TIMES, preload=PRELOAD, **settings)
                self.assert_reuse(mode, counts)

    def test_every_mode_of_the_pool_with_threads(self):
        for mode, settings in MODES.items():
            with self.subTest(mode):
                counts = self.counts("--count", 10 * TIMES, "--threads", 3, preload=PRELOAD, delay=SOON, **settings)
                self.assert_reuse(mode, counts)

    def test_when_memory_is_short(self):
        for mode, settings in MODES.items():
            with self.subTest(mode):
                self.counts("--count", 20 * TIMES, preload=PRELOAD, devices="2x24MiB", **settings)

    def test_a_capture_forbids_what_the_limit_refuses(self):
        """In both programs no memory is left where a capture is shown what it forbids."""
        for mode in ("off", "cache", "split"):
            for seed in (1000107, 1010211):
                with self.subTest(f"{mode} {seed}"):
                    self.counts("--seed", seed, "--count", 1, preload=PRELOAD, VRAMSCOPE_POOL=mode, VRAMSCOPE_LIMIT="48MiB")

    def assert_reuse(self, mode, counts):
        if mode.startswith("off"):
            self.assertGreaterEqual(counts["driver_allocations"], counts["allocations"])
        else:
            self.assertLess(counts["driver_allocations"], 0.8 * counts["allocations"], counts)


class BrokenTest(ReuseRaceTest):
    """What goes wrong is seen."""

    def assert_seen(self, what, *options, **how):
        done = self.play("--count", 30, *options, **how)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, what)

    def test_a_pool_without_epochs(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                self.assert_seen(r"seed \d+ actor 0 step \d+: .* handed out while in use", preload=BROKEN, VRAMSCOPE_POOL=mode)

    def test_a_pool_without_epochs_with_threads(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                self.assert_seen("handed out while in use", "--threads", 3, preload=BROKEN, VRAMSCOPE_POOL=mode)

    def test_each_check(self):
        for plant, what in {"no_wait": "handed out while in use", "overlap": "reach into|lie in", "clobber": "is 0, not"}.items():
            with self.subTest(plant):
                self.assert_seen(what, "--plant", plant)


if __name__ == "__main__":
    unittest.main()
