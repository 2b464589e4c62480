#!/usr/bin/env python3
# tests/tools/pack_test.py — a packed log says what the log says, and packing spoils
# nothing that is there.
import gzip
import os
import pathlib
import resource
import shutil
import stat
import struct
import subprocess
import unittest

from cli import BUILD, SOURCE, VRAMSCOPE, CliTest, unsanitized

OLD_LOGS = SOURCE / "tests" / "golden" / "old_logs"
PID, PROCESS_START = 24, 40  # offsets in FileHeader


class PackTest(CliTest):
    def generate(self, name="run.vsl", events=20_000, *more):
        subprocess.run([BUILD / "bin" / "tests" / "log_generator", str(events), self.folder / name, *more], check=True,
                       stdout=subprocess.DEVNULL)
        return self.folder / name

    def pack(self, *arguments, **how):
        done = subprocess.run([VRAMSCOPE, "pack", *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=120, env=self.environment(), **how)
        return done.returncode, done.stdout, done.stderr

    def assert_refused(self, arguments, *parts, status=125, **how):
        before = sorted(os.listdir(self.folder))
        done, stdout, stderr = self.pack(*arguments, **how)
        self.assertEqual((done, stdout), (status, ""), stderr)
        self.assert_one_line(stderr, "vramscope: error: ", *parts)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class APackedLog(PackTest):
    def printed(self, folder, *arguments):
        done = subprocess.run([VRAMSCOPE, *arguments], cwd=folder, capture_output=True, timeout=60,
                              env=self.environment(NO_COLOR="1", DEBUGINFOD_URLS=""))
        return done.returncode, done.stdout, done.stderr

    def test_gives_the_same_text_json_and_exports_as_the_log(self):
        raw, packed = self.folder / "raw", self.folder / "packed"
        raw.mkdir()
        packed.mkdir()
        for old in sorted(OLD_LOGS.glob("*.vsl.gz")):
            name = old.name.removesuffix(".gz")
            (raw / name).write_bytes(gzip.decompress(old.read_bytes()))
            self.assertEqual(self.pack(raw / name, "-o", packed / name)[0], 0, name)
            commands = [("report", "--json", "-"), ("export", "--to", "jsonl")]
            if name.startswith("training"):
                commands += [("report",), ("check",), ("diff", name), ("doctor",), ("suppress",), ("export", "--to", "heaptrack")]
            for command in commands:
                with self.subTest(name, command=command):
                    wanted = self.printed(raw, *command, name)
                    self.assertNotEqual(wanted[1:], (b"", b""))
                    self.assertEqual(self.printed(packed, *command, name), wanted)

    def test_of_many_frames_and_threads_gives_the_same_report(self):
        self.generate("run.vsl", 600_000, "--threads", "40", "--pool", "split")
        self.assertEqual(self.pack("run.vsl", "--level", "1")[0], 0)
        wanted = self.vramscope("report", "--json", "-", "run.vsl")
        self.assertEqual(wanted[0], 0, wanted[2])
        found = self.vramscope("report", "--json", "-", "run.vsl.zst")
        self.assertEqual(found[1].replace("run.vsl.zst", "run.vsl"), wanted[1])

    def test_is_unpacked_by_zstd(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        log = self.generate(events=200_000).read_bytes()
        self.assertEqual(self.pack("run.vsl", "--rm")[0], 0)
        self.assertFalse((self.folder / "run.vsl").exists())
        for arguments in (["-t"], ["-d"]):
            self.assertEqual(self.execute("zstd", "-q", *arguments, "run.vsl.zst").returncode, 0)
        self.assertEqual((self.folder / "run.vsl").read_bytes(), log)

    def test_beside_its_log_is_the_same_log_and_alone_is_one(self):
        self.generate("a.vsl", 1000)
        self.generate("b.vsl.1", 1000)
        self.assertEqual(self.pack("a.vsl", "b.vsl.1")[0], 0)
        for gone in (None, "a.vsl", "b.vsl.1"):
            if gone:
                (self.folder / gone).unlink()
            status, stdout, _ = self.vramscope("report", "--json", "-", ".")
            self.assertEqual((status, stdout.count('"log":')), (0, 2), gone)

    def test_that_was_cut_is_never_clean(self):
        self.generate(events=600_000)
        self.assertEqual(self.pack("run.vsl")[0], 0)
        whole = (self.folder / "run.vsl.zst").read_bytes()
        for size in (len(whole) - 1, len(whole) // 2):
            (self.folder / "run.vsl.zst").write_bytes(whole[:size])
            status, stdout, stderr = self.vramscope("check", "--allow-inconclusive", "--fail-on", "none", "run.vsl.zst")
            self.assertEqual(status, 0, stderr)
            self.assertIn("the log is cut", stdout)

    @unsanitized
    def test_that_another_made_without_frames_is_told_what_to_do(self):
        if not shutil.which("zstd"):
            self.skipTest("zstd is not installed")
        subprocess.run("head -c 300M /dev/zero | zstd -q -1 -o bomb.vsl.zst", shell=True, cwd=self.folder, check=True)
        most = 1 << 30
        done = subprocess.run([VRAMSCOPE, "report", "bomb.vsl.zst"], cwd=self.folder, capture_output=True, text=True,
                              env=self.environment(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
        self.assertEqual(done.returncode, 120)
        self.assert_one_line(done.stderr, "bomb.vsl.zst", "zstd -d")


class Packing(PackTest):
    def test_leaves_the_log_and_makes_a_private_file_beside_it(self):
        log = self.generate()
        before = log.read_bytes()
        status, stdout, stderr = self.pack("run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        self.assert_one_line(stdout, "run.vsl.zst: ", " % of ")
        self.assertEqual(log.read_bytes(), before)
        self.assertEqual(stat.S_IMODE((self.folder / "run.vsl.zst").stat().st_mode), 0o600)

    def test_overwrites_nothing_without_force(self):
        self.generate()
        (self.folder / "run.vsl.zst").write_text("mine")
        self.assert_refused(["run.vsl"], "run.vsl.zst exists", "-f")
        self.assertEqual((self.folder / "run.vsl.zst").read_text(), "mine")
        self.assertEqual(self.pack("-f", "run.vsl")[0], 0)
        self.assertEqual(self.vramscope("report", "run.vsl.zst")[0], 0)
        self.assert_refused(["run.vsl", "-f", "-o", "run.vsl"], "choose another")

    def test_does_not_follow_a_link(self):
        self.generate()
        (self.folder / "elsewhere").mkdir()
        (self.folder / "run.vsl.zst").symlink_to("elsewhere/run.vsl.zst")
        for force in ([], ["-f"]):
            self.assert_refused([*force, "run.vsl"], "run.vsl.zst is a link")
        self.assertEqual(os.listdir(self.folder / "elsewhere"), [])

    def test_refuses_a_log_that_is_still_written(self):
        log = self.generate()
        data = bytearray(log.read_bytes())
        start = int(pathlib.Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        struct.pack_into("<I", data, PID, os.getpid())
        struct.pack_into("<Q", data, PROCESS_START, start)
        log.write_bytes(data)
        self.assert_refused(["run.vsl"], f"process {os.getpid()}", f"vramscope snapshot {os.getpid()} -o COPY")

    def test_refuses_what_is_no_log_or_packed_already(self):
        self.generate()
        self.assertEqual(self.pack("run.vsl")[0], 0)
        self.assert_refused(["run.vsl.zst"], "packed already")
        self.assert_refused(["."], "is a directory", status=120)
        self.assert_refused(["none.vsl"], "No such file", status=120)
        self.assert_refused(["run.vsl", "run.vsl", "-o", "x"], "one LOG")
        self.assert_refused(["run.vsl", "--rm", "-o", "-"], "--rm")
        self.assert_refused(["run.vsl", "--level", "20"], "--level")

    def test_keeps_the_log_when_the_disk_is_full(self):
        log = self.generate(events=200_000)
        before = log.read_bytes()
        self.assert_refused(["--rm", "-o", "/dev/full", "run.vsl"], "/dev/full", "No space left on device")
        full = self.folder / "full"
        full.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", full]
        if subprocess.run(mount, capture_output=True).returncode == 0:
            self.addCleanup(subprocess.run, ["umount", full], check=True)
            self.assert_refused(["--rm", "-o", "full/x.zst", "run.vsl"], "full/x.zst", "No space left on device")
            self.assertEqual(os.listdir(full), [])
        self.assertEqual(log.read_bytes(), before)

    def test_beyond_the_limit_of_files_it_leaves_the_log_and_nothing_else(self):
        log = self.generate(events=200_000)
        before = log.read_bytes()
        limit = (65536, 65536)
        status, _, errors = self.pack("--rm", "run.vsl", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(status, 125)
        self.assertIn("File too large", errors)
        self.assertEqual(os.listdir(self.folder), ["run.vsl"])
        self.assertEqual(log.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
