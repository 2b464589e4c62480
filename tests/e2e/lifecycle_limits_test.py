# tests/e2e/lifecycle_limits_test.py — closed descriptors, full disks and tight limits cost events,
# never the program.
import bisect
import fcntl
import os
import resource
import shutil
import subprocess
import unittest

from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, VRAMSCOPE, EndToEndTest, simulated_only

WORK = ("behaviour", "many_threads")  # 64 threads, 101 allocations each
CHUNK, HEADER = 64 * 1024, 4096


@simulated_only
class LifecycleLimitsTest(EndToEndTest):
    def limited(self, program, *arguments, limit=None, value=None, stderr=subprocess.PIPE, **env):
        """The program by the preload alone, with a limit of its own."""
        def restrict():
            if limit is not None:
                resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
        env = self.environment(**{"LD_PRELOAD": str(PRELOAD), "LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": "256MiB",
                                  "VRAMSCOPE_LOG": "limited.vsl", **env})
        return subprocess.run([str(PROGRAMS / program), *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=stderr,
                              text=True, timeout=120, env=env, preexec_fn=restrict)

    def assert_like_plain(self, done, program, *arguments):
        plain = self.plain(program, *arguments)
        self.assertEqual((done.returncode, done.stdout), (plain.returncode, plain.stdout), done.stderr)

    def test_a_full_disk_costs_events_and_the_verdict_says_so(self):
        disk = self.folder / "disk"
        disk.mkdir()
        for chunks in (1, 3):
            with self.subTest(chunks=chunks):
                mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={(HEADER + chunks * CHUNK) // 1024}k", "none", disk],
                                         capture_output=True)
                if mounted.returncode != 0:
                    self.skipTest("only root can make a small disk")
                try:
                    done = self.preloaded(*WORK, VRAMSCOPE_LOG="disk/log.vsl")
                    self.assert_like_plain(done, *WORK)
                    report = self.report_of("disk/log.vsl")
                    lost = report["coverage"]["lost_events"]
                    self.assertEqual(done.stderr.count("\n"), 1 if lost else 0, done.stderr)
                    self.assertEqual(report["verdict"], "inconclusive" if lost else "leaks")
                    if chunks == 1:  # three are enough where the threads happen to run one after another
                        self.assertGreater(lost, 0)
                finally:
                    subprocess.run(["umount", disk], check=True)

    def run_live(self, orders, *options):
        return subprocess.run([VRAMSCOPE, "run", "--simulate", GPU, "-o", "live.vsl", *options, PROGRAMS / "live"], cwd=self.folder,
                              input=orders + "\nend\n", capture_output=True, text=True, timeout=120, env=self.environment())

    def test_a_log_ends_at_its_limit_and_the_verdict_says_so(self):
        orders = "hold 1048576 2\nchurn 100000 2\ndrop 2"
        done = self.run_live(orders, "--pool", "off", "--set", "max_log=1MiB")
        self.assertEqual((done.returncode, done.stdout), (0, "done\n" * 3), done.stderr)
        self.assertLessEqual((self.folder / "live.vsl").stat().st_size, 1 << 20)
        self.assertEqual(done.stderr.count("has grown to VRAMSCOPE_MAX_LOG"), 1, done.stderr)
        coverage = self.report_of("live.vsl")["coverage"]
        self.assertEqual(coverage["lost_events"], coverage["lost"]["log-limit"])
        self.assertGreaterEqual(coverage["events"] + coverage["lost_events"], 400_004)
        self.assertGreater(coverage["log_full_ns"], 0)
        self.assertRegex(done.stderr, r"vramscope: INCONCLUSIVE: .*\n(.*\n)*.*events were not recorded from .* on: the log had grown to\s")
        (self.folder / "live.vsl").unlink()
        whole = self.run_live(orders)
        self.assertIn("vramscope: CLEAN", whole.stderr)
        self.assertIsNone(self.report_of("live.vsl")["coverage"]["log_full_ns"])

    def test_how_fast_a_log_grew_is_told_where_it_would_fill_a_disk(self):
        self.assertNotIn("an hour", self.run_live("churn 1000 1").stderr)
        (self.folder / "live.vsl").unlink()
        self.assertRegex(self.run_live("churn 600000 2").stderr, "the log grew by .* an hour; with --bounded ")

    def assert_unharmed_by_what_is_told(self, stderr):
        """Whatever there is to say, the program does not feel that it could not be said."""
        for what in ({"VRAMSCOPE_STACK_DEPTH": "deep"}, {"VRAMSCOPE_LOG": "no/such/folder.vsl"}):
            with self.subTest(what):
                self.assert_like_plain(self.limited(*WORK, stderr=stderr, **what), *WORK)
                for log in self.logs():
                    log.unlink()

    def test_a_stderr_that_nobody_reads(self):
        reader, stderr = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, stderr)
        self.assert_unharmed_by_what_is_told(stderr)

    def test_a_stderr_that_is_full(self):
        reader, stderr = os.pipe()
        for end in (reader, stderr):
            self.addCleanup(os.close, end)
        os.write(stderr, bytes(fcntl.fcntl(stderr, fcntl.F_SETPIPE_SZ, 4096)))
        self.assert_unharmed_by_what_is_told(stderr)

    def test_no_descriptor_left(self):
        for number in (4, 5, 6, 7, 8):
            with self.subTest(number):
                done = self.limited(*WORK, limit=resource.RLIMIT_NOFILE, value=number)
                self.assert_like_plain(done, *WORK)
                for log in self.logs():
                    self.assertNotEqual(self.report_of(log)["verdict"], "clean")  # it leaks
                    log.unlink()

    # From what the program alone needs upwards: at each step another mapping of ours is the one
    # that fails.
    def test_a_limit_of_the_address_space(self):
        work = ("memory_kinds", "device_v2")

        def with_limit(kibibytes, **env):
            return self.limited(*work, limit=resource.RLIMIT_AS, value=kibibytes << 10, **env)
        most = 1 << 36  # more addresses than a process has
        enough = bisect.bisect_left(range(most), True, key=lambda size: with_limit(size, LD_PRELOAD="").returncode == 0)
        kinds = set()
        for more in (*range(0, 8 << 10, 56), 256 << 10):  # less than a chunk at a time
            with self.subTest(more=more):
                done = with_limit(enough + more)
                if "shared object" in done.stderr or "cannot reserve" in done.stderr:
                    continue  # the preload itself takes some 200 KiB
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                for log in self.logs():
                    seen = self.report_of(log)["coverage"]
                    log.unlink()
                    if not seen["lost_events"]:
                        self.assertEqual((seen["allocations"], seen["frees"]), (2, 1))
                    kinds.add("partial" if seen["lost_events"] else "complete")
        self.assertIn("complete", kinds)

    # They are the program's: what it writes there must not go into the log.
    def test_closed_standard_descriptors_do_not_become_ours(self):
        for closed in ("<&-", "2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                command = f'exec {closed}; "{PROGRAMS}/ends" return; status=$?; exit $status'
                done = subprocess.run(["/bin/sh", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                                      env=self.environment(LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_SIMULATE="256MiB",
                                                           LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG="closed.vsl"))
                self.assertEqual(done.returncode, 7, done.stderr)
                self.assert_seen(self.report_of("closed.vsl"), 5, 1)
                (self.folder / "closed.vsl").unlink()

    def test_what_is_written_to_closed_descriptors_does_not_reach_the_log(self):
        command = f'exec <&- >&- 2>&-; exec "{PROGRAMS}/lifecycle_threads" leave_others_at_work 5'  # it writes to both at its end
        done = subprocess.run(["/bin/sh", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env=self.environment(LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_SIMULATE="256MiB",
                                                   LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG="closed.vsl", VRAMSCOPE_UNWINDER="glibc"))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.report_of("closed.vsl")["verdict"], "leaks")

    def test_a_folder_that_is_removed_while_the_program_runs(self):
        folder = self.folder / "gone"
        folder.mkdir()
        program = subprocess.Popen([PROGRAMS / "lifecycle_threads", "churn", "2000"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_SIMULATE="256MiB",
                                                        LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG="gone/log.vsl"))
        while not (folder / "log.vsl").exists() and program.poll() is None:
            pass
        shutil.rmtree(folder)
        out, _ = program.communicate(timeout=120)
        self.assertEqual((program.returncode, out), (0, "churn 2000 done\n"))

    def test_another_libunwind_gives_way_to_the_c_library(self):
        (self.folder / "stub.c").write_text("int unw_nothing(void) { return 0; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libunwind.so.8", "-o", "libunwind.so.8", "stub.c"],
                       cwd=self.folder, check=True)
        done = self.preloaded("ends", "return", VRAMSCOPE_LOG="stub.vsl", LD_LIBRARY_PATH=f"{self.folder}:{SIMGPU}")
        self.assertEqual(done.returncode, 7, done.stderr)
        report = self.report_of("stub.vsl")
        self.assert_seen(report, 5, 1)
        self.assertTrue(all("allocate" in leak["stack"][0]["function"] for leak in report["leaks"]))


if __name__ == "__main__":
    unittest.main()
