# tests/e2e/beside_test.py — beside other libraries that are preloaded, before and after ours.
#
# Programs are run under other allocators, another clock, without fsync and with AddressSanitizer.
# Output, status and what is found must be the same as without them. tests/README.md says what else
# vramscope was tried with.
import pathlib
import unittest

from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, EndToEndTest, simulated_only

LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
OTHERS = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4", "eatmydata": "libeatmydata.so",
          "faketime": "faketime/libfaketime.so.1"}
ASAN = "libasan.so.8"


@simulated_only
class Beside(EndToEndTest):
    def played(self, *preloads, **env):
        for log in self.logs():
            log.unlink()
        preload = {"LD_PRELOAD": ":".join(map(str, preloads))} if preloads else {}
        return self.execute(PROGRAMS / "training_demo", "3", LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_SIMULATE=GPU,
                            VRAMSCOPE_LOG="log.%p.vsl", **preload, **env)

    def found(self):
        [log] = self.logs()
        totals = self.report_of(log)["totals"]
        return {name: totals[name] for name in ("allocations", "frees", "leaked_bytes", "leaked_blocks")}

    def assert_alike(self, done, plain, found):
        self.assertEqual((done.returncode, done.stdout, done.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertEqual(self.found(), found)

    def test_other_preloads(self):
        plain = self.played()
        self.played(PRELOAD)
        found = self.found()
        for name, library in OTHERS.items():
            for order in ((PRELOAD, LIBRARIES / library), (LIBRARIES / library, PRELOAD)):
                with self.subTest(name, order=[path.name for path in order]):
                    if not (LIBRARIES / library).exists():
                        self.skipTest(f"no {name} here")
                    self.assert_alike(self.played(*order, FAKETIME="-3d"), plain, found)

    def test_address_sanitizer_comes_first_or_says_so(self):
        asan = LIBRARIES / ASAN
        if not asan.exists():
            self.skipTest(f"no {ASAN} here")
        options = {"ASAN_OPTIONS": "detect_leaks=0"}
        plain = self.played(asan, **options)
        self.played(PRELOAD)
        found = self.found()
        self.assert_alike(self.played(asan, PRELOAD, **options), plain, found)
        late = self.played(PRELOAD, asan, **options)
        self.assertNotEqual(late.returncode, 0)
        self.assertIn("ASan runtime does not come first", late.stderr)  # its own word, in one line
        self.assertEqual(len(late.stderr.strip().splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
