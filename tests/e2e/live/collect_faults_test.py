#!/usr/bin/env python3
# tests/e2e/live/collect_faults_test.py — whichever call of a collector fails, the log tells what it told before.
#
# Each call of the system fails once, in one collection each, with what fits it. Before the next one the file is put back
# as it was. VRAMSCOPE_TEST_FAULTS is how many of them are tried; 0: all.
import ctypes
import errno
import os
import random
import subprocess
import time
import unittest

from live import PROGRAMS, VRAMSCOPE, LiveTest

HEADER = 4096
SETTLED = 1.1  # seconds: what happened before is collected
FAULTS = int(os.environ.get("VRAMSCOPE_TEST_FAULTS", 60))
FIT = {"open": ("EMFILE", "EIO"), "pread": ("EIO", "EINTR", "short"), "read": ("EIO", "EINTR"),
       "pwritev": ("ENOSPC", "EIO", "EINTR", "short"), "fallocate": ("ENOSPC", "EIO", "EINTR"),
       "fdatasync": ("EIO", "ENOSPC"), "fcntl": ("ENOLCK", "EINTR"), "mmap": ("ENOMEM",), "fstat": ("EIO",),
       "lseek": ("EIO",)}
PUNCH_HOLE_AND_KEEP_SIZE = 3
LIBC = ctypes.CDLL(None, use_errno=True)


class FileState:
    """What a sparse file is, holes too."""

    def __init__(self, path):
        self.path, self.parts = path, []
        with open(path, "rb") as file:
            self.size = at = os.fstat(file.fileno()).st_size
            at = 0
            while at < self.size:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                except OSError:
                    break
                end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                self.parts.append((at, os.pread(file.fileno(), end - at, at)))
                at = end

    def put_back(self):
        with open(self.path, "r+b") as file:
            file.truncate(self.size)
            LIBC.fallocate(file.fileno(), PUNCH_HOLE_AND_KEEP_SIZE, ctypes.c_long(HEADER),
                           ctypes.c_long(self.size - HEADER))
            for at, part in self.parts:
                os.pwrite(file.fileno(), part, at)


class CollectFaultsTest(LiveTest):
    def collect(self, **env):
        preload = {"LD_PRELOAD": PROGRAMS / "libfailing_calls.so"} if env else {}
        return subprocess.run([VRAMSCOPE, "collect", str(self.pid), "--once"], capture_output=True, text=True,
                              env={**self.environment(), **preload, **env}, timeout=60)

    def counts(self):
        """How often a collection calls each function."""
        told = self.folder / "counts"
        done = self.collect(COUNT=told)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {name: int(number) for name, number in (line.split() for line in told.read_text().splitlines())}

    def told(self):
        done = self.execute(VRAMSCOPE, "report", "--json", "-", self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, call, number, how):
        self.before.put_back()
        error = "short" if how == "short" else getattr(errno, how)
        done = self.collect(FAIL=f"{call}:{number}:{error}")
        fault = f"{call}:{number}:{how}"
        self.assertEqual(len(done.stderr.splitlines()), 1, (fault, done.stderr))
        self.assertIn(done.returncode, (0, 110, 120, 125), (fault, done.stderr))
        self.assertEqual(self.told(), self.expected, (fault, done.stderr))
        done = self.collect()
        self.assertEqual((done.returncode, self.told()), (0, self.expected), (fault, done.stderr))
        self.assertLess(os.stat(self.log).st_blocks * 512, 2 << 20, fault)

    def test_whichever_call_fails_nothing_is_missing_or_counted_twice(self):
        process = self.start()
        self.pid = process.pid
        self.tell(process, "hold 4096 50", "drop 1", "twice 1", "churn 20000 2")
        time.sleep(SETTLED)
        self.assertEqual(self.collect().returncode, 0)
        self.tell(process, "hold 8192 3", "twice 1", "churn 20000 2")
        time.sleep(SETTLED)
        self.before, self.expected = FileState(self.log), self.told()
        faults = [(call, number, how) for call, calls in self.counts().items() for number in range(1, calls + 1)
                  for how in FIT[call]]
        for fault in random.sample(faults, FAULTS) if 0 < FAULTS < len(faults) else faults:
            with self.subTest(fault=fault):
                self.check(*fault)


if __name__ == "__main__":
    unittest.main()
