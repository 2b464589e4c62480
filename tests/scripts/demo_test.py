#!/usr/bin/env python3
# tests/scripts/demo_test.py — runs scripts/demo and scripts/test with a setup, cmake, ctest, nvcc
# and vramscope that are played.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
ACTOR = r"""#!/bin/bash
echo "${0##*/} $*" >>"$MACHINE/log"
case "${0##*/} $*" in
    setup*) echo "setup: ready" ;;
    "cmake --preset"*) [[ ! -e $MACHINE/slow ]] || { rm "$MACHINE/slow" && sleep 11; } ;;
    "cmake --build"*)
        [[ -e $MACHINE/broken ]] && echo "[1/70] error: no such thing" && exit 1
        mkdir -p build/release/bin && cp "$0" build/release/bin/vramscope
        echo "VRAMSCOPE_WHY_NO_PAGE:INTERNAL=$WHY_NO_PAGE" >build/release/CMakeCache.txt
        for ((step = 1; step <= 70; ++step)); do echo "[$step/70] Building"; done ;;
    nvcc*) touch "${!#}" ;;
    ctest*)
        while [[ $1 != --output-junit ]]; do shift; done
        mkdir -p "$(dirname "$2")"; echo '<testsuite><testcase name="a" status="run"/></testsuite>' >"$2" ;;
esac
"""


class ScriptTest(unittest.TestCase):
    FOLDER = "vramscope"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        self.source = self.machine / self.FOLDER
        (self.source / "scripts").mkdir(parents=True)
        for script in ["demo", "test", "toolchain.sh", "count_tests.py"]:
            shutil.copy(ROOT / "scripts" / script, self.source / "scripts")
        (self.source / "tests/programs").mkdir(parents=True)
        (self.source / "tests/programs/training_demo.cu").touch()
        (self.machine / "log").touch()
        for name in [self.source / "scripts/setup", self.source / "scripts/torch-root", *(self.machine / "bin" / name for name in ("cmake", "ctest", "nvcc"))]:
            name.parent.mkdir(exist_ok=True)
            name.write_text(ACTOR)
            name.chmod(0o755)

    def start(self, *command, cwd=None, **environment):
        environment = {"PATH": f"{self.machine / 'bin'}:{os.environ['PATH']}", "MACHINE": str(self.machine),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), **environment}
        done = subprocess.run(command, cwd=cwd or self.source, env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def log(self):
        return (self.machine / "log").read_text()


class Demo(ScriptTest):
    def assert_last_line_works(self, cwd, command):
        status, output = self.start(command, cwd=cwd)
        self.assertEqual(status, 0, output)
        (self.machine / "log").write_text("")
        self.assertEqual(self.start("sh", "-c", output.splitlines()[-1], cwd=cwd), (0, ""))
        return self.log()

    def test_the_last_line_works_in_the_shell_that_it_was_called_from(self):
        self.assertEqual(self.assert_last_line_works(self.source, "./scripts/demo"),
                         "vramscope report build/demo/training_demo.vsl\n")

    def test_the_last_line_works_in_another_folder(self):
        self.assertEqual(self.assert_last_line_works(self.machine, f"{self.source}/scripts/demo"),
                         f"vramscope report {self.source}/build/demo/training_demo.vsl\n")

    def test_what_it_runs_is_shown_as_it_can_be_copied(self):
        _, output = self.start("./scripts/demo")
        self.assertIn("\n$ build/release/bin/vramscope run --simulate 24GiB --force -o build/demo/training_demo.vsl "
                      "--html build/demo/training_demo.html build/demo/training_demo\n", output)

    def test_it_says_where_the_page_is_and_how_the_command_is_found(self):
        _, output = self.start("./scripts/demo")
        self.assertIn(f"The same as a page, to look at in a browser: {self.source}/build/demo/training_demo.html\n", output)
        self.assertIn(f"The command is found by its name after: export PATH={self.source}/build/release/bin:$PATH\n", output)

    def test_a_build_without_the_page_says_why(self):
        status, output = self.start("./scripts/demo", WHY_NO_PAGE="there is no npm")
        self.assertEqual(status, 0, output)
        self.assertIn("There is no page, as there is no npm.\n", output)
        self.assertNotIn("--html", self.log())

    def test_progress_is_told_on_a_pipe_in_few_lines(self):
        _, output = self.start("./scripts/demo")
        told = "".join(rf"demo: built {percent} % in \d+ s\n" for percent in (20, 40, 60, 80, 100))
        self.assertRegex(output, told)
        self.assertNotIn("[1/70]", output)

    def test_a_step_that_takes_long_does_not_look_like_the_end(self):
        (self.machine / "slow").touch()
        _, output = self.start("./scripts/demo")
        self.assertRegex(output, r"demo: building vramscope .*\ndemo: built 0 % in \d+ s\n")

    def test_how_long_it_takes_is_told_before_it_starts(self):
        _, output = self.start("./scripts/demo")
        self.assertRegex(output, r"^demo: installs what is missing, as is told next, and then builds for about \d+ s on \d+ cores\nsetup: ready\n")

    def test_a_second_run_does_not_build_the_program_again(self):
        self.start("./scripts/demo")
        (self.machine / "log").write_text("")
        self.assertEqual(self.start("./scripts/demo")[0], 0)
        self.assertNotIn("nvcc", self.log())

    def test_only_what_it_shows_is_built(self):
        self.start("./scripts/demo")
        self.assertIn("--target vramscope vramscope_preload vramscope_audit simgpu_driver simgpu_cudart\n", self.log())

    def test_on_a_gpu_the_program_has_the_static_runtime_and_nothing_is_simulated(self):
        (self.machine / "root/proc/driver/nvidia/gpus/0").mkdir(parents=True)
        self.start("./scripts/demo")
        self.assertIn("-cudart static", self.log())
        self.assertNotIn("simgpu", self.log())
        self.assertNotIn("--simulate", self.log())

    def test_what_does_not_build_is_shown(self):
        (self.machine / "broken").touch()
        status, output = self.start("./scripts/demo")
        self.assertEqual(status, 1)
        self.assertIn("error: no such thing", output)
        self.assertEqual(output.splitlines()[-1], "demo: that does not build; all of the output is in build/demo.log")


class Test(ScriptTest):
    def test_the_closing_line_counts_passed_failed_and_skipped(self):
        status, output = self.start("./scripts/test")
        self.assertEqual((status, output.splitlines()[-1]), (0, "2 passed, 0 failed, 0 skipped"), output)

    def test_a_build_that_is_silent_is_told_to_go_on(self):
        (self.machine / "slow").touch()
        status, output = self.start("./scripts/test")
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"== preset dev ==\ntest: still building, \d+ s after the start\n")
        (self.machine / "broken").touch()
        status, output = self.start("./scripts/test")
        self.assertEqual((status, output.splitlines()[-1]), (1, "[1/70] error: no such thing"))

    def test_headers_of_other_toolkits_are_fetched_in_ci_and_for_all(self):
        for options, ci, fetched in (((), "", False), ((), "true", True), (("--all",), "", True)):
            with self.subTest(options=options, ci=ci):
                (self.machine / "log").write_text("")
                self.start("./scripts/test", *options, CI=ci)
                self.assertIn(f"setup --tests{' --headers' if fetched else ''}\n", self.log())

    def test_pytorch_is_fetched_and_run_only_where_that_is_asked_for(self):
        self.start("./scripts/test")
        self.assertNotIn("torch-root", self.log())
        self.assertIn("-LE ^(unit|tidy|torch)$\n", self.log())
        (self.machine / "log").write_text("")
        status, output = self.start("./scripts/test", "--torch")
        self.assertEqual((status, output.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"), output)
        self.assertIn("torch-root \n", self.log())
        self.assertIn("-L ^torch$\n", self.log())

    def test_warnings_are_errors_in_ci_alone(self):
        self.start("./scripts/test", CI="")
        self.assertEqual(self.log().count("-DVRAMSCOPE_WERROR=OFF"), 2)
        (self.machine / "log").write_text("")
        self.start("./scripts/test", CI="true")
        self.assertNotIn("VRAMSCOPE_WERROR", self.log())


class InAFolderWithASpace(ScriptTest):
    FOLDER = "my vramscope"

    def test_both_say_so_in_one_line_before_anything_else(self):
        for script in ("demo", "test"):
            with self.subTest(script):
                status, output = self.start(f"./scripts/{script}")
                self.assertEqual((status, output), (1, f"{script}: the path {self.source} has a space or a colon, which LD_PRELOAD "
                                                       "cannot express: move vramscope elsewhere\n"))
                self.assertEqual(self.log(), "")


if __name__ == "__main__":
    unittest.main()
