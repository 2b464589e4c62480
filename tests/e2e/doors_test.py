# tests/e2e/doors_test.py — every way in which a program gets at the driver; each allocation
# is seen exactly once.
import pathlib
import subprocess
import sys
import unittest

from e2e import BUILD, PRELOAD, PROGRAMS, VRAMSCOPE, EndToEndTest, needs, program_source, simulated_only

WAYS = ["dlsym", "looked_up_dlvsym", "looked_up_dlsym", "default_dlsym", "get_proc_v1"]
NEWER_WAYS = ["get_proc_v2", "get_proc_of_get_proc"]
AUDIT = BUILD / "lib" / "libvramscope-audit.so"


class DoorsTest(EndToEndTest):
    def assert_one_of_two_left(self, report, source, function):
        self.assert_seen(report, allocations=2, frees=1)
        self.assertEqual(len(report["leaks"]), 1)
        self.assert_leak(report["leaks"][0], source, "alloc", function=function, bytes=3000, blocks=1, api="cuMemAlloc",
                         entry_point="cuMemAlloc_v2", kind="leaked-at-exit")

    def look_up_by_vramscope_run(self, ways):
        for way in ways:
            with self.subTest(way):
                self.assert_one_of_two_left(self.trace("doors", way), "doors.cpp", "use")

    def look_up_by_the_preload_alone(self, ways):
        for way in ways:
            with self.subTest(way):
                self.assertEqual(self.preloaded("doors", way, VRAMSCOPE_LOG=f"{way}.vsl").returncode, 0)
                self.assert_one_of_two_left(self.report_of(f"{way}.vsl"), "doors.cpp", "use")

    def test_look_ups_by_vramscope_run(self):
        self.look_up_by_vramscope_run(WAYS)

    def test_look_ups_by_the_preload_alone(self):
        self.look_up_by_the_preload_alone(WAYS)

    @needs("cuGetProcAddress_v2")
    def test_newer_look_ups_by_vramscope_run(self):
        self.look_up_by_vramscope_run(NEWER_WAYS)

    @needs("cuGetProcAddress_v2")
    def test_newer_look_ups_by_the_preload_alone(self):
        self.look_up_by_the_preload_alone(NEWER_WAYS)

    def trace_on_odd_driver(self, way):
        done = self.execute(PROGRAMS / "doors", way, LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG=f"{way}.vsl",
                            LD_LIBRARY_PATH=str(PROGRAMS / "odd_driver"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.report_of(f"{way}.vsl")

    # Neither NVIDIA's driver nor the simulated one has versions in its names: dlvsym finds nothing.
    def test_dlvsym_of_a_driver_that_calls_itself(self):
        self.assertEqual(self.plain("doors", "dlvsym").returncode, 5)
        self.assert_one_of_two_left(self.trace_on_odd_driver("dlvsym"), "doors.cpp", "use")

    def test_a_driver_that_hands_out_other_functions_than_it_exports(self):
        self.assert_one_of_two_left(self.trace_on_odd_driver("get_proc_v1"), "doors.cpp", "use")

    @needs("cuGetProcAddress_v2")
    @simulated_only  # a real GPU's addresses have more bits
    def test_the_32_bit_form_of_an_old_version(self):
        report = self.trace("doors", "old_form")
        self.assertEqual(self.stdout, "guard 600d\n")
        self.assert_seen(report, allocations=2, frees=1)
        self.assert_leak(report["leaks"][0], "doors.cpp", "old_alloc", bytes=3000, blocks=1, entry_point="cuMemAlloc")

    def test_plugins(self):
        for plugin in ("libplugin.so", "libplugin_linked.so"):
            for how, options in (([], []), ([], ["--audit"]), (["deepbind"], ["--audit"])):
                with self.subTest(plugin, how=how, options=options):
                    report = self.trace("plugin_host", PROGRAMS / plugin, "plugin_run", *how, options=options)
                    self.assert_one_of_two_left(report, "plugin.cpp", "plugin_run")
                    self.assertEqual(report["verdict"], "leaks")

    # A wrapper knows nothing of CUDA, but what it brings along does.
    def test_a_deepbind_plugin_that_is_not_seen_is_told(self):
        (self.folder / "wrapper.c").write_text("int plugin_run(void); int wrapped(void) { return plugin_run(); }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libwrapper.so", "wrapper.c", f"-L{PROGRAMS}", "-Wl,--no-as-needed",
                        f"-Wl,-rpath,{PROGRAMS}", "-l:libplugin.so"], cwd=self.folder, check=True)
        for plugin, function in ((PROGRAMS / "libplugin.so", "plugin_run"), (PROGRAMS / "libplugin_linked.so", "plugin_run"),
                                 ("./libwrapper.so", "wrapped")):
            hidden = [plugin, function, "deepbind"]
            name = pathlib.Path(plugin).name
            with self.subTest(plugin):
                done, report = self.run_traced("plugin_host", *hidden)
                self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)
                self.assertEqual(report["verdict"], "inconclusive")
                self.assertRegex(str(report["verdict_reasons"]), rf"{name} looked past us .*vramscope run --audit")
                seen = [PROGRAMS / ("libplugin.so" if "linked" in name else "libplugin_linked.so"), "plugin_run"]
                report = self.trace("plugin_host", *seen, *hidden)
                self.assert_one_of_two_left(report, "plugin.cpp", "plugin_run")
                self.assertEqual(report["verdict"], "inconclusive")
                self.assertRegex(str(report["verdict_reasons"]), rf"what {name} asked of CUDA was not seen.*vramscope run --audit")
                self.assertIn("vramscope run --audit", self.execute(VRAMSCOPE, "doctor", *self.logs()).stdout)
                for log in self.logs():
                    log.unlink()

    def test_a_deepbind_plugin_without_cuda_is_no_doubt(self):
        report = self.trace("plugin_host", PROGRAMS / "libplugin.so", "plugin_run", PROGRAMS / "libparity_foreign.so",
                            "plain_foreign", "deepbind")
        self.assertEqual(self.stdout, "0\n4\n")
        self.assertEqual((report["verdict"], report["verdict_reasons"]), ("leaks", []))

    # The documented limit: its dlsym is libc's own, and a preload has no say in that.
    def test_a_deepbind_plugin_needs_the_audit_door(self):
        for plugin in ("libplugin.so", "libplugin_linked.so"):
            with self.subTest(plugin):
                host = ["plugin_host", PROGRAMS / plugin, "plugin_run", "deepbind"]
                self.assertEqual(self.preloaded(*host).stdout, "0\n")
                self.assertEqual(self.logs(), [])
                self.assertEqual(self.preloaded(*host, LD_AUDIT=str(AUDIT), VRAMSCOPE_LOG=f"{plugin}.vsl").stdout, "0\n")
                self.assert_one_of_two_left(self.report_of(f"{plugin}.vsl"), "plugin.cpp", "plugin_run")
                for log in self.logs():
                    log.unlink()

    def test_python_ctypes(self):
        self.use_by_ctypes("cdll", "symbol")

    @needs("cuGetProcAddress_v2")
    def test_python_ctypes_with_cuGetProcAddress(self):
        self.use_by_ctypes("get_proc")

    def use_by_ctypes(self, *ways):
        program = program_source("ctypes_client.py")
        for way in ways:
            with self.subTest(way):
                report = self.trace(sys.executable, program, way)
                self.assert_seen(report, allocations=2, frees=1)
                self.assertEqual([(leak["api"], leak["bytes"], leak["blocks"]) for leak in report["leaks"]],
                                 [("cuMemAlloc", 3000, 1)])
                self.assertTrue(report["leaks"][0]["stack"])


if __name__ == "__main__":
    unittest.main()
