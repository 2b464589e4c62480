#!/usr/bin/env python3
# tests/e2e/live/checkpoints_test.py — the second question about a long log of a running program
# is answered from a checkpoint, and the answer is that of the whole log.
import json
import unittest

from live import VRAMSCOPE, LiveTest


class CheckpointsTest(LiveTest):
    def ask(self, command, process, *arguments, whole=False):
        """What is printed, and whether the log was read from a checkpoint on."""
        cache = "/dev/null" if whole else str(self.folder / "cache")
        done = self.execute(VRAMSCOPE, command, "--verbose", str(process.pid), *arguments,
                            XDG_CACHE_HOME=cache)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, ".checkpoint has" in done.stderr

    def checkpoints(self):
        return list((self.folder / "cache" / "vramscope" / "logs").iterdir())

    def test_a_long_log_is_read_once(self):
        process = self.start()
        self.tell(process, "hold 4096 50", "drop 1", "twice 2", "churn 1200000 2")  # 20 to 27 MB
        first, resumed = self.ask("snapshot", process, "--json", "-")
        self.assertFalse(resumed)
        [checkpoint] = self.checkpoints()
        self.assertEqual(checkpoint.stat().st_mode & 0o7777, 0o600)
        self.assertEqual(self.ask("snapshot", process, "--json", "-"), (first, True))
        self.tell(process, "hold 8192 7", "drop 3", "host 100 1", "twice 1")
        resumed = self.ask("snapshot", process, "--json", "-")
        self.assertEqual(resumed, (self.ask("snapshot", process, "--json", "-", whole=True)[0], True))
        report = json.loads(resumed[0])
        self.assertEqual((report["totals"]["leaked_blocks"], sum(row["calls"] for row in report["misuse"])), (54, 3))
        held, resumed = self.ask("top", process, "--once")
        self.assertTrue(resumed)
        self.assertIn("WRONG FREES: 3 calls", held)  # the wrong frees before the checkpoint too

        whole = checkpoint.read_bytes()
        for damaged in (b"", whole[:100], whole[:-1], whole[:1000] + b"\x7f" + whole[1001:], b"vramscope" * 1000):
            checkpoint.write_bytes(damaged)
            again, _ = self.ask("snapshot", process, "--json", "-")
            self.assertEqual(json.loads(again), report)
            self.assertEqual(checkpoint.read_bytes()[:8], b"VRAMCKPT")  # it was made anew
        secret = self.folder / "secret"
        secret.write_bytes(whole)
        checkpoint.unlink()
        checkpoint.symlink_to(secret)
        self.assertEqual(self.ask("snapshot", process, "--json", "-"), (again, False))
        self.assertEqual((checkpoint.is_symlink(), secret.read_bytes()), (False, whole))

    def test_a_cache_that_others_may_write_to_is_not_used(self):
        process = self.start()
        self.tell(process, "churn 1200000 2")
        folder = self.folder / "cache" / "vramscope"
        folder.mkdir(parents=True)
        folder.chmod(0o777)
        self.assertFalse(self.ask("snapshot", process)[1])
        self.assertFalse(self.ask("snapshot", process)[1])
        self.assertEqual(list(folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
