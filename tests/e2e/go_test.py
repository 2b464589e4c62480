# tests/e2e/go_test.py — a Go program: it has threads, signals and stacks of Go's own, and ends
# without libc.
import os
import shutil
import subprocess
import unittest

from e2e import VRAMSCOPE, EndToEndTest, program_source, simulated_only


@simulated_only
@unittest.skipUnless(shutil.which("go"), "there is no go here (./scripts/setup --tests)")
class GoTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.program = self.folder / "program"
        built = subprocess.run(["go", "build", "-o", self.program, program_source("main.go")], capture_output=True, text=True,
                               env={**os.environ, "CGO_ENABLED": "1", "GO111MODULE": "off", "GOCACHE": str(self.folder / "cache")})
        self.assertEqual(built.returncode, 0, built.stderr)

    def test_it_does_what_it_does_alone(self):
        alone = self.plain(self.program)
        self.assertEqual((alone.returncode, alone.stdout, alone.stderr), (3, "64 goroutines done\n", ""))
        for _ in range(10):
            traced = self.preloaded(self.program)
            self.assertEqual((traced.returncode, traced.stdout, traced.stderr), (3, alone.stdout, ""))

    def test_what_is_found(self):
        report = self.trace(self.program, status=3)
        self.assert_seen(report, 6401, 6400)
        self.assertEqual(report["verdict"], "leaks")
        [leak] = report["leaks"]
        self.assertEqual((leak["bytes"], leak["stack"][0]["function"], leak["stack_cut"]), (12345, "allocate", "go-stack"))
        self.assertIn("... (its callers are on a stack of Go's own, which is not walked)",
                      self.execute(VRAMSCOPE, "leaks", *self.logs()).stdout)

    # Go ends by a system call of its own: only `vramscope run` sees with which status.
    def test_alone_with_the_preload_the_end_is_not_seen_and_that_is_said(self):
        self.preloaded(self.program)
        report = self.report_of(*self.logs())
        self.assertEqual((report["verdict"], report["totals"]["leaked_bytes"]), ("inconclusive", 12345))


if __name__ == "__main__":
    unittest.main()
