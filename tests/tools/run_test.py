#!/usr/bin/env python3
# tests/tools/run_test.py — `vramscope run` around programs that have nothing to do with CUDA: it must not be felt.
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import unittest

from cli import BUILD, CliTest, ESCAPE, PROGRAMS, VRAMSCOPE, unsanitized


class TheProgramIsLeftAlone(CliTest):
    def test_it_ends_as_the_program_ended(self):
        for code in [0, 3, 100, 255]:
            self.assertEqual(self.vramscope("run", "sh", "-c", f"exit {code}")[0], code)

    def test_a_program_killed_by_a_signal_gives_128_and_the_signal(self):
        for signal, status in [("KILL", 137), ("TERM", 143), ("ABRT", 134), ("SEGV", 139)]:
            self.assertEqual(self.vramscope("run", "sh", "-c", f"kill -{signal} $$")[0], status)

    def test_options_after_the_program_are_its_own(self):
        status, stdout, _ = self.vramscope("run", "echo", "-o", "--json", "--help", "--simulate")
        self.assertEqual((status, stdout), (0, "-o --json --help --simulate\n"))
        self.assertEqual(self.vramscope("run", "--", "echo", "--", "-n")[1], "-- -n\n")

    def test_a_program_whose_name_starts_with_a_dash_comes_after_two(self):
        self.script("-odd", "#!/bin/sh\necho odd\n")
        path = f"{self.folder}:{os.environ['PATH']}"
        self.assertEqual(self.vramscope("run", "--", "-odd", env={"PATH": path})[:2], (0, "odd\n"))

    def test_standard_input_and_output_are_the_programs(self):
        self.assertEqual(self.vramscope("run", "cat", stdin="one\ntwo\n")[:2], (0, "one\ntwo\n"))

    def test_a_program_without_cuda_leaves_no_file(self):
        self.vramscope("run", "true", env={"TMPDIR": str(self.folder)})
        self.assertEqual(os.listdir(self.folder), [])

    @unsanitized
    def test_each_start_loads_no_library_that_it_can_do_without(self):
        dynamic = subprocess.run(["readelf", "-d", VRAMSCOPE], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libc.so.6]", dynamic)
        self.assertNotRegex(dynamic, r"libm\.|libstdc\+\+|libgcc|libspdlog")

    def test_what_the_user_preloads_stays_behind_ours(self):
        _, stdout, _ = self.vramscope("run", "sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "libm.so.6"})
        self.assertRegex(stdout, r"libvramscope\.so:libm\.so\.6$")

    def test_another_nvtx_tool_is_not_pushed_out(self):
        command = ["run", "sh", "-c", "echo $NVTX_INJECTION64_PATH"]
        self.assertTrue(self.vramscope(*command)[1].endswith("/libvramscope.so\n"))
        self.assertEqual(self.vramscope(*command, env={"NVTX_INJECTION64_PATH": "/other.so"})[1], "/other.so\n")

    def test_the_audit_door_is_opened_on_request_alone(self):
        command = ["sh", "-c", "echo $LD_AUDIT $GLIBC_TUNABLES"]
        self.assertEqual(self.vramscope("run", *command)[1], "\n")
        self.assertEqual(self.vramscope("run", "--no-audit", *command)[1], "\n")
        self.assertRegex(self.vramscope("run", "--audit", *command)[1],
                         r"/libvramscope-audit\.so glibc\.rtld\.optional_static_tls=5248\n$")

    def test_children_that_may_write_no_byte_live(self):
        status, stdout, _ = self.vramscope("run", "sh", "-c", "ulimit -f 0; /bin/echo one; /bin/echo two; exec /bin/echo three")
        self.assertEqual((status, stdout), (0, "one\ntwo\nthree\n"))

    def test_it_starts_with_the_signals_of_its_user(self):
        command = ["sh", "-c", "kill -PIPE $$; echo survived"]
        self.assertEqual(self.vramscope("run", *command)[:2], (128 + signal.SIGPIPE, ""))

    def test_the_log_stays_in_the_folder_of_the_start(self):
        _, stdout, _ = self.vramscope("run", "sh", "-c", "cd / && echo $VRAMSCOPE_LOG")
        self.assertEqual(stdout, f"{self.folder.resolve()}/vramscope.%e.%p.vsl\n")


class WhatCannotRun(CliTest):
    def test_a_missing_program_is_127(self):
        status, stdout, stderr = self.vramscope("run", "no-such-program")
        self.assertEqual((status, stdout), (127, ""))
        self.assert_one_line(stderr, "cannot run no-such-program: No such file or directory")

    def test_what_is_not_executable_is_126(self):
        (self.folder / "data").write_text("data")
        for program in ["./data", "."]:
            status, _, stderr = self.vramscope("run", program)
            self.assertEqual(status, 126)
            self.assert_one_line(stderr, f"cannot run {program}: Permission denied")

    def test_a_script_without_its_interpreter_is_127(self):
        self.script("script", "#!/no/such/interpreter\n")
        status, _, stderr = self.vramscope("run", "./script")
        self.assertEqual(status, 127)
        self.assert_one_line(stderr, "interpreter")

    def test_names_cannot_send_commands_to_the_terminal(self):
        escaped = {ESCAPE: r"\x1b", "\x9b": r"\xc2\x9b", "\u202e": r"\xe2\x80\xae", "\u2066": r"\xe2\x81\xa6",
                   "\u061c": r"\xd8\x9c", "\n": r"\x0a", "\udcff": r"\xff"}
        for bad, shown in escaped.items():
            name = f"größe{bad}[31mx"
            (self.folder / "logs").mkdir(exist_ok=True)
            for command in [["run", name], ["leaks", name], ["doctor", name], ["run", "-o", f"{name}/x", "true"],
                            ["run", "--json", f"{name}/x", "true"], [name], ["leaks", f"--{name}"],
                            ["run", "--set", f"limit={name}", "true"], ["run", "--set", f"{name}=1", "true"],
                            ["run", "--simulate", name, "true"], ["check", "--max-peak", name, "x"], ["schema", name],
                            ["export", "--to", name, "logs"], ["check", "--budget", name, "x"],
                            ["leaks", "--suppressions", name, "x"], ["mark", "1", name]]:
                with self.subTest(command):
                    done = subprocess.run([VRAMSCOPE, *command], cwd=self.folder, capture_output=True, timeout=60,
                                          env=self.environment())
                    text = (done.stdout + done.stderr).decode()  # it is UTF-8
                    self.assertNotIn(bad, text.removesuffix("\n") if bad == "\n" and command[0] != "doctor" else
                                     text.replace("\n", ""))
                    if command[0] not in ("mark", "doctor"):  # these do not repeat it
                        self.assertIn(f"größe{shown}[31mx", text)

    def test_nor_can_those_that_the_traced_program_meets(self):
        name = "größe\u202e\x9b\udcff"
        shown = r"größe\xe2\x80\xae\xc2\x9b\xff"
        for setting in [{"VRAMSCOPE_LOG": f"/no/{name}/x.vsl"}, {"VRAMSCOPE_STACK_DEPTH": name},
                        {"VRAMSCOPE_SIM_TRACE": f"/no/{name}"}, {"VRAMSCOPE_SIM_FAULTS": name}, {"VRAMSCOPE_SIM_DELAY_US": name}]:
            with self.subTest(setting):
                gpu = BUILD / "lib" / "vramscope" / "simgpu"
                env = {"LD_PRELOAD": str(BUILD / "lib" / "libvramscope.so"), "LD_LIBRARY_PATH": str(gpu), **setting}
                done = subprocess.run([PROGRAMS / "training_demo", "1"], cwd=self.folder, capture_output=True, timeout=60,
                                      env=self.environment(**env))
                self.assertIn(shown, done.stderr.decode())


class TheLogsPlace(CliTest):
    def assert_nothing_run(self, arguments, *parts):
        status, stdout, stderr = self.vramscope("run", *arguments, "touch", "ran")
        self.assertEqual((status, stdout), (125, ""), stderr)
        self.assert_one_line(stderr, *parts)
        self.assertFalse((self.folder / "ran").exists())

    def test_an_existing_log_is_kept(self):
        (self.folder / "old.vsl").write_text("precious")
        self.assert_nothing_run(["-o", "old.vsl"], "old.vsl exists", "--force")
        self.assertEqual((self.folder / "old.vsl").read_text(), "precious")

    def test_force_overwrites_it_but_not_for_a_program_that_does_not_start(self):
        old = self.folder / "old.vsl"
        old.write_text("precious")
        self.assertEqual(self.vramscope("run", "--force", "-o", "old.vsl", "no-such-program")[0], 127)
        self.assertEqual(old.read_text(), "precious")
        self.assertEqual(self.vramscope("run", "--force", "-o", "old.vsl", "true")[0], 0)
        self.assertFalse(old.exists())

    def test_force_overwrites_files_only(self):
        (self.folder / "folder.vsl").mkdir()
        self.assert_nothing_run(["--force", "-o", "folder.vsl"], "not a regular file")
        (self.folder / "link.vsl").symlink_to("/dev/null")
        self.assert_nothing_run(["--force", "-o", "link.vsl"], "not a regular file")

    def test_tables_go_to_a_folder(self):
        (self.folder / "file").write_text("")
        self.assert_nothing_run(["--reduced", "file"], "--reduced file: is no folder\n")
        self.assert_nothing_run(["--reduced", "no/such"], "--reduced no/such: No such file or directory")

    def test_a_missing_folder(self):
        self.assert_nothing_run(["-o", "no/such/x.vsl"], "cannot write the log", "No such file or directory", "-o")

    def test_a_folder_that_cannot_be_written_to(self):
        self.assert_nothing_run(["-o", "/proc/x.vsl"], "cannot write the log to /proc/")

    def test_a_folder_of_a_file_system_that_takes_no_log(self):
        for options, why in (("size=16k", "No space left on device"), ("nr_inodes=1", "No space left on device"),
                             ("ro", "Read-only file system")):
            with self.subTest(options):
                folder = self.folder / options
                folder.mkdir()
                mount = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], capture_output=True)
                if mount.returncode != 0:
                    self.skipTest("cannot mount a small file system here")
                self.addCleanup(subprocess.run, ["umount", folder], check=True)
                self.assert_nothing_run(["-o", f"{options}/x.vsl"], f"cannot write the log to {folder}/: {why}")
                self.assertEqual(os.listdir(folder), [])

    def test_an_unknown_percent(self):
        for name in ("x.%q.vsl", "x.%q{.vsl", "x.%z.vsl", "x%"):
            with self.subTest(name):
                self.assert_nothing_run(["-o", name], name, "%e %p %h %t %r %q{NAME}")

    def test_a_name_by_rank_and_by_a_variable(self):
        tells = [PROGRAMS / "ends", "exit"]
        for rank in ("0", "1"):  # as a launcher starts them: the same command, each with its rank
            self.vramscope("run", "--simulate", "1GiB", "-o", "job.%q{SLURM_JOB_ID}.%r.vsl", *tells,
                           env={"SLURM_JOB_ID": "../77", "SLURM_PROCID": rank})
        self.vramscope("run", "--simulate", "1GiB", "-o", "job.%q{NO_SUCH_VARIABLE}.%r.vsl", *tells,
                       env={"SLURM_PROCID": "", "RANK": ""})
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.vsl")),
                         ["job..._77.0.vsl", "job..._77.1.vsl", "job.none.none.vsl"])

    def test_a_folder_for_temporary_files_that_is_not_there(self):
        status, _, stderr = self.vramscope("run", "true", env={"TMPDIR": "/no/such"})
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "/no/such", "TMPDIR")

    def test_a_limit_of_files_that_leaves_no_room_for_ours_starts_nothing(self):
        for most, what in ((0, "vramscope-run-"), (4096, "cannot write the log")):
            with self.subTest(most):
                done = subprocess.run([VRAMSCOPE, "run", "echo", "ran"], cwd=self.folder, capture_output=True, text=True,
                                      timeout=60, env=self.environment(TMPDIR=str(self.folder)),
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
                self.assertEqual((done.returncode, done.stdout), (125, ""))
                self.assert_one_line(done.stderr, what, "File too large")
                self.assertEqual(os.listdir(self.folder), [])


class AProgramThatGivesUpRoot(CliTest):
    """As containers' entry points do, by setpriv, su, gosu."""
    NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]

    def setUp(self):
        super().setUp()
        if os.getuid() != 0 or not shutil.which("setpriv") or not shutil.which("runuser"):
            self.skipTest("needs root, setpriv and runuser")
        if subprocess.run([*self.NOBODY, "test", "-r", BUILD / "lib" / "libvramscope.so"]).returncode != 0:
            self.skipTest("another user cannot read the build folder")

    def traced(self, *how, mode, env=None):
        self.folder.chmod(mode)
        return self.vramscope("run", "--simulate", "1GiB", "-o", "%p.vsl", *how, PROGRAMS / "training_demo", "2", env=env)

    def test_is_traced(self):
        for how in (self.NOBODY, ["runuser", "-u", "nobody", "--"]):
            with self.subTest(how[0]):
                status, _, stderr = self.traced(*how, mode=0o777)
                self.assertEqual(status, 0, stderr)
                self.assertIn("vramscope: LEAKS: ", stderr)

    def test_is_told_where_its_log_could_not_be(self):
        status, _, stderr = self.traced(*self.NOBODY, mode=0o755)
        self.assertEqual(status, 0)
        self.assertIn("cannot create the log", stderr.split("nothing was seen")[1])
        self.assertNotIn("no allocation of GPU memory", stderr)

    def test_leaves_no_file_behind(self):
        room = self.folder / "tmp"
        room.mkdir()
        room.chmod(0o1777)
        status, _, stderr = self.traced(*self.NOBODY, mode=0o777, env={"TMPDIR": str(room)})
        self.assertIn("vramscope: LEAKS: ", stderr)
        self.assertEqual(os.listdir(room), [])


class NobodyListens(CliTest):
    def test_the_status_the_report_and_the_order_in_tmp_are_those_of_any_run(self):
        for streams in ("stderr", "stdout"):
            with self.subTest(streams):
                reader, nobody = os.pipe()
                os.close(reader)
                done = subprocess.run([VRAMSCOPE, "run", "--json", "out.json", "sh", "-c", "exit 4"], cwd=self.folder, timeout=60,
                                      env=self.environment(TMPDIR=str(self.folder)), **{streams: nobody})
                os.close(nobody)
                self.assertEqual(done.returncode, 4)
                self.assertEqual(self.read_json("out.json")["verdict"], "inconclusive")
                self.assertEqual(os.listdir(self.folder), ["out.json"])
                (self.folder / "out.json").unlink()

    def test_a_program_that_cannot_start_leaves_nothing_behind(self):
        reader, nobody = os.pipe()
        os.close(reader)
        done = subprocess.run([VRAMSCOPE, "run", "no-such-program"], cwd=self.folder, timeout=60, stderr=nobody,
                              env=self.environment(TMPDIR=str(self.folder)))
        os.close(nobody)
        self.assertEqual((done.returncode, os.listdir(self.folder)), (127, []))


# A loader of musl's by its name: what runs is this machine's own.
class MuslPrograms(CliTest):
    def setUp(self):
        super().setUp()
        loader = self.folder / "ld-musl-x86_64.so.1"
        header = subprocess.run(["readelf", "-l", "/bin/true"], capture_output=True, text=True, check=True).stdout
        loader.symlink_to(re.search(r"program interpreter: (\S+)\]", header)[1])
        (self.folder / "main.c").write_text('''#include <stdio.h>
            #include <stdlib.h>
            int main(void) { puts(getenv("LD_PRELOAD") || getenv("LD_AUDIT") ? "preloaded" : "alone"); return 7; }''')
        subprocess.run(["cc", f"-Wl,--dynamic-linker={loader}", "-o", "program", "main.c"], cwd=self.folder, check=True)

    def test_they_run_untraced_and_both_lines_say_why(self):
        status, stdout, stderr = self.vramscope("run", "--audit", "./program")
        self.assertEqual((status, stdout), (7, "alone\n"))
        lines = stderr.splitlines()
        self.assertRegex(lines[0], r"warning: \./program is linked with musl.* It runs untraced$")
        self.assertIn("nothing was seen of the program:", stderr)
        self.assertEqual(stderr.count("linked with musl"), 2)

    def test_scripts_for_them_too(self):
        self.script("script", f"#!{self.folder}/program\n")
        status, stdout, stderr = self.vramscope("run", "./script")
        self.assertEqual((status, stdout), (7, "alone\n"))
        self.assertIn("linked with musl", stderr.splitlines()[0])

    def test_a_check_of_them_is_not_passed(self):
        (self.folder / "main.c").write_text("int main(void) { return 0; }")
        subprocess.run(["cc", f"-Wl,--dynamic-linker={self.folder}/ld-musl-x86_64.so.1", "-o", "program", "main.c"],
                       cwd=self.folder, check=True)
        self.assertEqual(self.vramscope("run", "--check", "./program")[0], 110)

    def test_doctor_says_it(self):
        status, stdout, _ = self.vramscope("doctor", "--simulate", "1GiB", "./program")
        self.assertEqual(status, 110, stdout)
        self.assertIn("NO    ./program is linked with musl, and libvramscope.so needs glibc", stdout)


class WhyNothingWasSeen(CliTest):
    def test_a_program_without_cuda(self):
        stderr = self.vramscope("run", "true")[2]
        self.assertIn("nothing was seen of the program:\n", stderr)
        self.assertIn("it was killed by SIGABRT, perhaps before", self.vramscope("run", "sh", "-c", "kill -ABRT $$")[2])
        self.assertIn("no allocation of GPU memory through CUDA was seen; one by a program that runs without LD_PRELOAD", stderr)

    def test_a_static_program(self):
        (self.folder / "main.c").write_text("int main(void) { return 5; }\n")
        subprocess.run(["cc", "-static", "-o", "static", "main.c"], cwd=self.folder, check=True)
        status, _, stderr = self.vramscope("run", "./static")
        self.assertEqual(status, 5)
        self.assertIn("./static is statically linked", stderr)

    def privileged_program(self, mode=None, capability=None):
        """A copy of /bin/true that the loader trusts no environment for."""
        program = self.script("privileged", "")
        subprocess.run(["cp", "/bin/true", program], check=True)
        self.folder.chmod(0o755)
        if os.statvfs(self.folder).f_flag & os.ST_NOSUID:
            self.skipTest("no program gets privileges on this file system")
        try:
            os.chown(program, 1, 1)
            program.chmod(mode or 0o755)
            if capability is not None:  # the bytes of capabilities(7): version 2, effective
                os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000001, 1 << capability, 0, 0, 0))
        except OSError as problem:
            self.skipTest(f"such a program cannot be made here: {problem}")

    def test_programs_with_raised_privileges(self):
        for mode in (0o4755, 0o2755):
            self.privileged_program(mode)
            with self.subTest(oct(mode)):
                self.assertIn("runs with raised privileges", self.vramscope("run", "./privileged")[2])
                status, stdout, _ = self.vramscope("doctor", "--simulate", "1GiB", "./privileged")
                self.assertEqual(status, 110, stdout)
                self.assertIn("runs with raised privileges", stdout)

    # Root has them anyway, and its loader is not strict.
    def test_capabilities_of_a_file_raise_other_users_alone(self):
        cap_net_bind_service = 10
        self.privileged_program(capability=cap_net_bind_service)
        for user, told in ((0, 0), (65534, 2)):
            with self.subTest(user=user):
                self.folder.chmod(0o777)
                script = 'test -x "$1" || exit 77; "$1" run ./privileged; "$1" doctor --simulate 1GiB ./privileged'
                done = subprocess.run(["sh", "-c", script, "sh", VRAMSCOPE], cwd=self.folder, capture_output=True, text=True,
                                      timeout=60, user=user, extra_groups=[], env=self.environment(TMPDIR=str(self.folder)))
                if done.returncode == 77:
                    self.skipTest("another user cannot reach the build folder")
                self.assertEqual((done.stdout + done.stderr).count("runs with raised privileges"), told, done)
                self.assertEqual(done.returncode, 110 if told else 0)

    def test_the_json_says_it_too(self):
        self.assertEqual(self.vramscope("run", "--json", "out.json", "sh", "-c", "exit 4")[0], 4)
        report = self.read_json("out.json")
        self.assertEqual((report["verdict"], report["leaks"]), ("inconclusive", []))
        self.assertIn("no allocation of GPU memory through CUDA was seen", str(report))


class TheJsonFile(CliTest):
    def test_one_that_cannot_be_written_is_found_before_the_program_starts(self):
        (self.folder / "file").write_text("")
        for name, why in [("no/such/x.json", "No such file or directory"), ("file/x.json", "Not a directory"),
                          (".", "Is a directory"), ("/proc/x.json", "No such file or directory")]:
            status, _, stderr = self.vramscope("run", "--json", name, "touch", "ran")
            self.assertEqual(status, 125)
            self.assert_one_line(stderr, f"error: cannot write {name}: {why}")
            self.assertFalse((self.folder / "ran").exists())

    def test_one_that_cannot_be_written_any_more_is_told_and_has_a_status(self):
        for name, script, why in [("/dev/full", "", "No space left on device"),
                                  ("out/x.json", "rmdir out", "No such file or directory")]:
            for code, expected in [(0, 125), (4, 4)]:
                (self.folder / "out").mkdir(exist_ok=True)
                status, _, stderr = self.vramscope("run", "--json", name, "sh", "-c", f"{script}\nexit {code}")
                self.assertEqual(status, expected, stderr)
                self.assertIn(f"error: cannot write {name}: {why}\n", stderr)

    def test_a_device_is_written_to_and_not_replaced(self):
        self.assertEqual(self.vramscope("run", "--json", "/dev/null", "true")[0], 0)
        self.assertTrue(os.path.exists("/dev/null") and not os.path.isfile("/dev/null"))

    def test_a_link_stays_a_link_and_no_temporary_file_is_left(self):
        (self.folder / "link.json").symlink_to("target.json")
        (self.folder / "target.json").write_text("old")
        self.vramscope("run", "-f", "--json", "link.json", "true")
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.assertIn("schema_version", self.read_json("target.json"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.json", "target.json"])

    def test_a_dash_is_standard_output(self):
        self.assertIn('"schema_version"', self.vramscope("run", "--json", "-", "true")[1])


if __name__ == "__main__":
    unittest.main()
