# tests/tools/memcheck_test.py — vramscope-memcheck takes the arguments that
# CTest gives to compute-sanitizer.
import unittest

from cli import PROGRAMS, VRAMSCOPE, CliTest

MEMCHECK = VRAMSCOPE.parent / "vramscope-memcheck"
SUITE = PROGRAMS / "gtest_suite"


class MemcheckTest(CliTest):
    def memcheck(self, *arguments, tests="Pool.*", status=0):
        done = self.execute(MEMCHECK, "--simulate", "64MiB", *arguments, SUITE, f"--gtest_filter={tests}",
                            "--gtest_also_run_disabled_tests")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_leaks_go_to_the_file_that_ctest_names(self):
        file = self.folder / "a log.txt"
        self.memcheck("--log-file", file, "--tool", "memcheck", "--leak-check", "full")
        text = file.read_text()
        self.assertEqual(text.count("========= Leaked "), 2, text)
        self.assertIn("========= ERROR SUMMARY: 2 errors", text)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["a log.txt"], "no log of ours stays")

    def test_without_a_file_they_go_to_stdout(self):
        self.assertIn("========= Leaked 3,145,728 bytes at", self.memcheck(tests="Pool.Leaks").stdout)

    def test_it_ends_as_the_program_did(self):
        self.memcheck(tests="Faults.DISABLED_Fails", status=1)
        self.memcheck("--error-exitcode=7", tests="Faults.DISABLED_Fails", status=1)
        self.memcheck("--error-exitcode=7", tests="Pool.Leaks", status=7)
        self.memcheck("--error-exitcode", "7", tests="Pool.Cleans", status=0)

    def test_a_program_without_cuda_has_no_errors(self):
        done = self.execute(MEMCHECK, "--", "true")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("========= ERROR SUMMARY: 0 errors\n", done.stdout)

    def test_a_program_that_cannot_start_is_an_error(self):
        for name, content, mode, status in ("missing", None, 0, 127), ("no_program", "#!/bin/sh\n", 0o644, 126), ("fails", "#!/bin/sh\nexit 3", 0o755, 3):
            with self.subTest(name):
                program = self.folder / name
                if content:
                    program.write_text(content)
                    program.chmod(mode)
                done = self.execute(MEMCHECK, program)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertIn(f"========= Error: {program} ended with {status} before it called CUDA\n========= ERROR SUMMARY: 1 error\n", done.stdout)

    def test_what_it_wrote_before_is_replaced(self):
        file = self.folder / "leaks.txt"
        (self.folder / "link.txt").symlink_to("leaks.txt")
        file.write_text("")
        for tests, leaks in ("Pool.*", 2), ("Pool.Cleans", 0), ("Pool.*", 2):
            self.memcheck("--log-file", "link.txt", tests=tests)
            self.assertEqual(file.read_text().count("========= Leaked "), leaks)
        for _ in range(2):  # a program without a log
            done = self.execute(MEMCHECK, "--log-file", file, "true")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("ERROR SUMMARY: 0 errors", file.read_text())
        self.assertTrue((self.folder / "link.txt").is_symlink())

    def test_what_it_did_not_write_is_kept(self):
        self.execute(VRAMSCOPE, "run", "--simulate", "64MiB", "-o", "run.vsl", PROGRAMS / "training_demo", "1")
        program = self.folder / "program"
        program.write_text("#!/bin/sh\ntouch ran\n")
        program.chmod(0o755)
        (self.folder / "mine").write_text("a file of somebody's\n")
        (self.folder / "other").write_text("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n")
        (self.folder / "soft").symlink_to("program")
        (self.folder / "hard").hardlink_to(program)
        (self.folder / "soft.vsl").symlink_to("run.vsl")
        for name, forced in (("program", False), ("soft", False), ("hard", False), ("run.vsl", True), ("soft.vsl", True),
                             ("mine", True), ("other", True)):
            for force in ([], ["-f"]):
                with self.subTest(name, force=force):
                    file = self.folder / name
                    before = file.read_bytes()
                    done = self.execute(MEMCHECK, *force, "--log-file", name, "./program")
                    ran = forced and bool(force)
                    self.assertEqual(done.returncode, 0 if ran else 125, done.stderr)
                    self.assertEqual((file.read_bytes() == before, (self.folder / "ran").exists()), (not ran, ran))
                    if not ran:
                        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                        self.assertIn(f"vramscope: error: {name} ", done.stderr)
                    (self.folder / "ran").unlink(missing_ok=True)
                    file.write_bytes(before)

    def test_a_log_that_is_gone_is_not_named(self):
        for program in ["training_demo", "1"], ["ends", "exit"]:
            done = self.execute(MEMCHECK, "--simulate", "1GiB", PROGRAMS / program[0], *program[1:])
            self.assertNotRegex(done.stderr, r"next: |\.vsl")
        self.assertIn("LEAKS", self.execute(MEMCHECK, "--simulate", "1GiB", PROGRAMS / "training_demo", "1").stderr)

    def test_wrong_usage(self):
        for arguments in [], ["--log-file"], ["--tool", "racecheck", "true"], ["--save", "x", "true"], ["-x", "true"]:
            with self.subTest(arguments):
                done = self.execute(MEMCHECK, *arguments)
                self.assertEqual(done.returncode, 125, done.stderr)
                self.assertTrue(done.stderr.startswith("vramscope: "), done.stderr)

    def test_the_help_shows_how_ctest_is_told(self):
        self.assertIn("-DMEMORYCHECK_COMMAND=", self.execute(MEMCHECK, "--help").stdout)


if __name__ == "__main__":
    unittest.main()
