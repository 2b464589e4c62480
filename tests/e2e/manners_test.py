# tests/e2e/manners_test.py — the tracer is no burden: programs behave with it as they do without.
import pathlib
import re
import subprocess
import unittest

from e2e import PRELOAD, PROGRAMS, EndToEndTest, hooked_names, unsanitized

MOST_SYSCALLS = 25  # to load the preload, as any library: open, read, stat, map its parts, protect, close


class MannersTest(EndToEndTest):
    def test_a_program_without_cuda_is_left_alone(self):
        done = self.preloaded("no_cuda")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "1\n", ""))
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_program_without_cuda_makes_few_more_system_calls(self):
        def count(**env):
            done = self.execute(PROGRAMS / "count_syscalls", "/usr/bin/env", *[f"{name}={value}" for name, value in env.items()],
                                PROGRAMS / "no_cuda")
            if not done.stderr.strip().isdigit():
                self.skipTest("this machine lets nobody trace a process")
            return int(done.stderr)
        self.assertLess(count(LD_PRELOAD=PRELOAD) - count(NOTHING=""), MOST_SYSCALLS)

    # Their runtimes ask dlsym for the real functions before their own work.
    def test_programs_with_a_sanitizer_start(self):
        for program in ("no_cuda_asan", "no_cuda_tsan"):
            with self.subTest(program):
                plain = self.plain(program)
                if plain.returncode != 0:
                    self.skipTest(f"does not run here: {plain.stderr}")
                done = self.preloaded(program)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, plain.stdout, plain.stderr))

    # With LD_AUDIT the loader sets room for thread-local storage aside before it knows the need.
    def test_a_library_with_much_static_thread_local_storage(self):
        def audited(program):
            return self.run_traced(program, options=["--audit"])[0]
        for run in (self.plain, self.preloaded, lambda program: self.run_traced(program)[0], audited):
            done = run("uses_static_tls")
            self.assertEqual((done.returncode, done.stdout), (0, "0\n"), done.stderr)

    def test_run_says_that_nothing_was_seen_and_writes_no_log(self):
        done, report = self.run_traced("no_cuda")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertEqual(self.logs(), [])
        self.assertEqual((report["verdict"], report["leaks"]), ("inconclusive", []))

    def test_exceptions_pass(self):
        report = self.trace("throws")
        self.assertEqual(self.stdout, "caught: at the bottom\n")
        self.assert_seen(report, 1100, 1100)
        self.assertEqual(report["verdict"], "clean")

    def test_a_program_with_its_own_spdlog_and_fmt(self):
        plain = self.plain("own_spdlog")
        self.assertEqual((plain.returncode, plain.stdout.count("caught: ")), (0, 2), plain.stderr)
        report = self.trace("own_spdlog")
        self.assertEqual(self.stdout, plain.stdout)
        self.assert_seen(report, 2, 1)
        self.assert_leak(report["leaks"][0], "own_spdlog.cpp", "own_spdlog", bytes=3000)

    def test_a_plugin_of_cxx_throws_in_a_program_of_c(self):
        for run in (self.plain, self.preloaded):
            done = run("plugin_host", PROGRAMS / "libplugin.so", "plugin_throw")
            self.assertEqual((done.returncode, done.stdout), (0, "42\n"), done.stderr)

    def test_only_hooked_names_bind_to_the_preload(self):
        done = self.preloaded("plugin_host", PROGRAMS / "libplugin.so", "plugin_throw", LD_DEBUG="bindings", LD_BIND_NOW="1")
        bound = re.findall(r"binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `(\w+)'", done.stderr)
        unwind = {pathlib.Path(definer).name for _, definer, name in bound if name.startswith("_Unwind_")}
        self.assertEqual(unwind, {"libgcc_s.so.1"})
        ours = {name for user, definer, name in bound if definer.endswith(PRELOAD.name) and user != definer}
        self.assertLessEqual(ours, hooked_names())
        self.assertIn("dlsym", ours)

    # The loader tells by the return address whose RUNPATH it is to search.
    def test_a_library_is_opened_by_the_run_path_of_its_caller(self):
        (self.folder / "sub").mkdir()
        (self.folder / "library.c").write_text("int answer(void) { return 42; }\n")
        (self.folder / "main.c").write_text('''#define _GNU_SOURCE
            #include <dlfcn.h>
            int main(void) { return dlopen("libbeside.so", RTLD_NOW) && dlopen("libbeside.so", RTLD_NOW | RTLD_DEEPBIND) ? 42 : 1; }''')
        for command in (["cc", "-shared", "-fPIC", "-o", "sub/libbeside.so", "library.c"],
                        ["cc", "-o", "main", "main.c", "-Wl,--enable-new-dtags,-rpath,$ORIGIN/sub", "-ldl"]):
            subprocess.run(command, cwd=self.folder, check=True)
        for preload in ("", str(PRELOAD)):
            self.assertEqual(self.execute(self.folder / "main", LD_PRELOAD=preload).returncode, 42)

    def test_another_preload_with_a_dlsym_of_its_own(self):
        other = PROGRAMS / "libother_preload.so"
        for order in (f"{PRELOAD}:{other}", f"{other}:{PRELOAD}"):
            with self.subTest(order):
                done = self.preloaded("doors", "dlsym", LD_PRELOAD=order)
                self.assertEqual((done.returncode, done.stdout), (0, "the other was asked\n"), done.stderr)

    def test_a_dlsym_behind_ours_hides_nothing(self):
        done = self.preloaded("doors", "dlsym", LD_PRELOAD=f"{PRELOAD}:{PROGRAMS}/libother_preload.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_seen(self.report_of(*self.logs()), 2, 1)

    @unsanitized  # whose runtime looks up functions as it begins, as these libraries do
    def test_another_preload_of_the_drivers_functions(self):
        told = "the other allocates\nthe other frees\n"
        for name in ("other_preload", "other_wrapper"):
            other = PROGRAMS / f"lib{name}.so"
            self.assertEqual(self.plain("memory_kinds", "device_v2", LD_PRELOAD=str(other)).stdout, told)
            for number, order in enumerate([f"{PRELOAD}:{other}", f"{other}:{PRELOAD}"]):
                with self.subTest(order):
                    log = f"{name}.{number}.vsl"
                    done = self.preloaded("memory_kinds", "device_v2", LD_PRELOAD=order, VRAMSCOPE_LOG=log,
                                          VRAMSCOPE_POOL="off")
                    self.assertEqual((done.returncode, done.stdout), (0, told), done.stderr)
                    self.assert_seen(self.report_of(log), 2, 1)
            with self.subTest(run=name):
                report = self.trace("memory_kinds", "device_v2", LD_PRELOAD=str(other), VRAMSCOPE_POOL="off")
                self.assertEqual(self.stdout, told)
                self.assert_seen(report, 2, 1)

    # Such a dlsym goes round a preload; `vramscope run --audit` stands in its way.
    @unsanitized
    def test_run_with_audit_sees_programs_with_a_dlsym_before_ours(self):
        for program, env in (("doors_own_dlsym", {}), ("doors", {"LD_PRELOAD": f"{PROGRAMS}/libother_preload.so"})):
            with self.subTest(program):
                report = self.trace(program, "dlsym", options=["--audit"], **env)
                self.assertEqual(self.stdout, "the other was asked\n")
                self.assert_seen(report, 2, 1)

    def test_a_library_in_the_place_of_another_has_its_own_stacks(self):
        report = self.trace("reload", PROGRAMS / "libreload_first.so", PROGRAMS / "libreload_second.so")
        self.assertEqual(self.stdout, "same address\n")
        self.assert_seen(report, 6, 0)
        found = sorted((leak["bytes"], leak["blocks"], leak["stack"][0]["function"], pathlib.Path(leak["stack"][0]["module"]).name)
                       for leak in report["leaks"])
        self.assertEqual(found, [(3000, 3, "first_tenant()", "libreload_first.so"), (6000, 3, "other_tenant()", "libreload_second.so")])


if __name__ == "__main__":
    unittest.main()
