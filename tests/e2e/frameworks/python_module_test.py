# tests/e2e/frameworks/python_module_test.py — the Python module `vramscope` in programs, on every
# Python at hand.
import json
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

from framework import BUILD, GPU, SIMGPU, VRAMSCOPE, EndToEndTest, on_each_python, simulated_only

MODULE = BUILD / "lib" / "vramscope" / "python"
SCENES = pathlib.Path(__file__).parents[2] / "programs" / "python"
MIB = 1 << 20


@simulated_only
class PythonTest(EndToEndTest):
    def program(self, text, name="program.py"):
        shutil.copy(SCENES / "driver.py", self.folder)
        path = self.folder / name
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    def run_python(self, python, text, *arguments, status=0, options=(), **env):
        """What the program prints under `vramscope run`; its report is self.report."""
        done, self.report = self.run_traced(python, self.program(text), *arguments, options=options, **env)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def alone(self, python, text, *arguments, **env):
        done = self.execute(python, self.program(text), *arguments,
                            **{"LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": GPU, "PYTHONPATH": str(MODULE), **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def ranges(self):
        """{MiB: the ranges that its allocation was made in}."""
        [log] = self.logs()
        exported = self.execute(VRAMSCOPE, "export", "--to", "jsonl", log)
        inside, found = {}, {}
        for line in map(json.loads, exported.stdout.splitlines()):
            here = inside.setdefault(line.get("thread"), [])
            if line["type"] == "range_push":
                here.append(line["name"])
            elif line["type"] == "range_pop":
                here.pop()
            elif line["type"] == "alloc":
                found[line["bytes"] // MIB] = list(here)
        return found


class OnEachPython(PythonTest):
    @on_each_python
    def test_the_program_of_the_readme(self, python):
        out = self.run_python(python, (SCENES / "epochs.py").read_text())
        self.assertEqual(out.splitlines()[:3], [f"step: {n}.0 MiB before, {n + 1}.0 MiB after, {n + 25}.0 MiB at its peak"
                                                for n in (64, 65, 66)])
        self.assertEqual(out.splitlines()[3:], [f"allocated: {67 * MIB}", f"reserved: {139 * MIB}",
                                                f"given back: {72 * MIB}, can be allocated: {188 * MIB}"])
        self.assertEqual([mark["name"] for mark in self.report["processes"][0]["marks"]], ["epoch done"] * 3)

    WHOLE = """
        import vramscope
        from driver import start, allocate, free

        def work():
            with vramscope.range("epoch"):
                vramscope.mark("begins")
                kept = allocate(4)
                with vramscope.cuda_memory_tracker("part") as part:
                    first = allocate(8)
                    with vramscope.cuda_memory_tracker() as inner:
                        free(allocate(2))
                    free(first)
                    allocate(1)
            return kept, part, inner

        before = vramscope.stats(), vramscope.headroom(), vramscope.snapshot()
        start()
        kept, part, inner = work()
        now = vramscope.stats()
        print(vramscope.version(), before)
        print(part, "/", inner)
        print(part.before, part.after, part.peak, inner.before, inner.after, inner.peak)
        if now:
            print(now["allocated_bytes.all.current"], now["allocated_bytes.all.peak"], now["num_device_alloc"],
                  len(now), all(type(value) is int and value >= 0 for value in now.values()))
            snapshot = vramscope.snapshot()
            print(snapshot["totals"]["leaked_bytes"], sum(leak["blocks"] for leak in snapshot["leaks"]))
            print(vramscope.empty_cache(), vramscope.empty_cache())
            headroom = vramscope.headroom()
            kept = allocate(16)
            print(headroom - vramscope.headroom())
            vramscope.reset_peak_memory_stats()
            print(vramscope.stats(0)["allocated_bytes.all.peak"], vramscope.stats(9), vramscope.stats("cuda:0"))
        """

    @on_each_python
    def test_a_program_names_its_phases_and_asks_for_its_memory(self, python):
        version = self.execute(VRAMSCOPE, "--version").stdout.split()[-1]
        lines = self.run_python(python, self.WHOLE).splitlines()
        self.assertEqual(lines[0], f"{version} ({{}}, None, None)")
        self.assertEqual(lines[1], "part: 4.0 MiB before, 5.0 MiB after, 14.0 MiB at its peak / "
                                   "CUDA memory: 12.0 MiB before, 12.0 MiB after, 14.0 MiB at its peak")
        self.assertEqual([int(number) // MIB for number in lines[2].split()], [4, 5, 14, 12, 12, 14])
        self.assertEqual(lines[3], f"{5 * MIB} {14 * MIB} 4 40 True")
        self.assertEqual(lines[4], f"{5 * MIB} 2")
        self.assertEqual(lines[5:], [f"{10 * MIB} 0", f"{16 * MIB}", f"{21 * MIB} {{}} {{}}"])
        [process] = self.report["processes"]
        self.assertEqual([mark["name"] for mark in process["marks"]], ["begins"])
        self.assertEqual(self.ranges(), {4: ["epoch"], 8: ["epoch", "part"], 2: ["epoch", "part"], 1: ["epoch", "part"],
                                         16: []})

    @on_each_python
    def test_without_the_tracer_nothing_is_known_and_nothing_is_imported(self, python):
        nothing = "unknown before, unknown after, unknown at its peak"
        lines = self.alone(python, self.WHOLE).splitlines()
        self.assertEqual(lines, ["None ({}, None, None)", f"part: {nothing} / CUDA memory: {nothing}",
                                 " ".join(["None"] * 6)])
        loaded = self.alone(python, """
            import sys
            before = set(sys.modules)
            import vramscope
            print(sorted(set(sys.modules) - before))
            """)
        self.assertEqual(loaded, "['__future__', 'vramscope']\n")

    @on_each_python
    def test_the_module_itself_says_whether_the_tracer_is_here(self, python):
        done = self.execute(VRAMSCOPE, "run", python, "-m", "vramscope")
        self.assertRegex(done.stdout, r"^vramscope \d+\.\d+\.\d+ traces this process\n$")
        self.assertEqual(done.returncode, 0)
        done = self.execute(python, "-m", "vramscope", PYTHONPATH=str(MODULE))
        self.assertEqual((done.returncode, done.stdout), (1, "vramscope does not trace this process. Start it with: "
                                                             "vramscope run python3 PROGRAM\n"))

    @on_each_python
    def test_a_thread_a_fork_and_an_exception_leave_ranges_and_trackers_as_they_should_be(self, python):
        out = self.run_python(python, """
            import os, threading, vramscope
            from driver import start, allocate, free
            start()
            free(allocate(1))
            def in_thread():
                start()
                with vramscope.range("of a thread"):
                    allocate(1)
            try:
                with vramscope.range("raises"), vramscope.cuda_memory_tracker() as tracker:
                    allocate(2)
                    raise KeyError("as it is")
            except KeyError as error:
                print(error, tracker.after - tracker.before, flush=True)
            with vramscope.range("outer"):
                thread = threading.Thread(target=in_thread)
                thread.start(); thread.join()
                allocate(3)
            left = vramscope.range("left by another")
            left.__enter__()
            thread = threading.Thread(target=left.__exit__, args=(None, None, None))
            thread.start(); thread.join()
            allocate(4)
            left.__exit__(None, None, None)
            allocate(5)
            with vramscope.range("before the fork"), vramscope.cuda_memory_tracker() as tracker:
                child = os.fork()
                if child == 0:
                    with vramscope.cuda_memory_tracker() as own, vramscope.range("child"):
                        vramscope.mark("child")
                    print("child", own.before, own.peak, vramscope.stats(), vramscope.headroom(), flush=True)
            if child == 0:
                os._exit(0 if tracker.after is None else 1)
            print(os.waitpid(child, 0)[1], tracker.after - tracker.before)
            """)
        self.assertEqual(out, f"'as it is' {2 * MIB}\nchild None None {{}} None\n0 0\n")
        self.assertEqual(self.ranges(), {1: ["of a thread"], 2: ["raises"], 3: ["outer"], 4: ["left by another"], 5: []})

    @on_each_python
    def test_tags_may_be_any_text(self, python):
        self.run_python(python, r"""
            import vramscope
            from driver import start, allocate
            class Bad:
                def __str__(self): raise ValueError("not mine")
            start()
            for tag in ("größe 🐍", "zero\0inside", "lone \udcff", "", 7, None, b"bytes", Bad()):
                vramscope.mark(tag)
            with vramscope.range("x" * (1 << 20)):
                allocate(1)
            with vramscope.range("größe"):
                allocate(2)
            """)
        [process] = self.report["processes"]
        self.assertEqual([mark["name"] for mark in process["marks"]],
                         ["größe 🐍", "zero\\0inside", "lone \\udcff", "", "7", "None", "b'bytes'", "Bad"])
        ranges = self.ranges()
        self.assertEqual(ranges[2], ["größe"])
        self.assertRegex(ranges[1][0], "^x{100,}")
        self.assertEqual(self.report["coverage"]["lost_events"], 0)

    @on_each_python
    def test_trackers_in_many_threads_are_each_right(self, python):
        out = self.run_python(python, """
            import threading, vramscope
            from driver import start, allocate, free
            start()
            wrong = []
            def work(number):
                start()
                for _ in range(40):
                    with vramscope.cuda_memory_tracker() as used:
                        with vramscope.cuda_memory_tracker() as inner:
                            free(allocate(number))
                    if used.peak < inner.peak or inner.peak - number * (1 << 20) < 0 or inner.peak > 30 << 20:
                        wrong.append((used.before, used.peak, inner.before, inner.peak, number))
            threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3, 4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
            peak = vramscope.stats()["allocated_bytes.all.peak"]
            print(wrong, 4 << 20 <= peak <= 10 << 20)
            """)
        self.assertEqual(out, "[] True\n")

    @on_each_python
    def test_without_a_pool_what_is_known_is_told(self, python):
        out = self.run_python(python, """
            import vramscope
            from driver import start, allocate, free
            start()
            print(vramscope.stats())
            with vramscope.cuda_memory_tracker("part") as used:
                kept = allocate(4)
            free(allocate(2)), allocate(1)
            print(vramscope.empty_cache(), used.peak, type(vramscope.headroom()).__name__,
                  vramscope.snapshot()["totals"]["leaked_bytes"])
            vramscope.reset_peak_memory_stats()
            print(*sorted(vramscope.stats(0).items()), vramscope.stats(1), vramscope.stats("cuda:0"), sep="\\n")
            """, options=["--pool", "off"]).splitlines()
        self.assertEqual(out[:2], ["{}", f"None None int {5 * MIB}"])
        sums = {"current": 5 * MIB, "peak": 6 * MIB, "allocated": 7 * MIB, "freed": 2 * MIB}
        counts = {"current": 2, "peak": 2, "allocated": 3, "freed": 1}
        known = {"allocated_bytes": sums, "requested_bytes": sums, "allocation": counts,
                 "reserved_bytes": {"current": 5 * MIB, "peak": 6 * MIB}}
        self.assertEqual(out[2:], [*map(str, sorted((f"{name}.all.{column}", amount) for name, columns in known.items()
                                                    for column, amount in columns.items())), "{}", "{}"])


class WhereItIsFound(PythonTest):
    def path_in(self, *options, **env):
        done = self.execute(VRAMSCOPE, "run", *options, "sh", "-c", 'echo "${PYTHONPATH-unset}"', **env)
        return done.stdout.rstrip("\n")

    @on_each_python
    def test_what_grows_now_and_what_changed_are_told_by_line(self, python):
        out = self.run_python(python, """
            import vramscope
            from driver import start, allocate, free

            def keep():
                return allocate(1)

            def load(megabytes):
                return allocate(megabytes)

            start()
            first = load(8)
            assert vramscope.growing() == [], vramscope.growing()
            before = vramscope.snapshot()
            for batch in range(100):
                with vramscope.range("batch"):
                    free(allocate(2))
                    keep()
            [row] = vramscope.growing()
            print(row)
            print(row.function, row.file.rsplit("/")[-1], row.line, row.bytes_per_step, row.per, row.blocks > 50)
            free(first)
            load(4)
            for row in vramscope.compare(before, vramscope.snapshot()):
                print(row)
                print(row.size, row.size_diff, row.count, row.count_diff)
            print(vramscope.compare(before, before))
            """)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^keep program\.py:6: 1\.0 MiB per batch, \d+\.0 MiB in all$")
        self.assertEqual(lines[1], f"keep program.py 6 {MIB:.1f} batch True")
        self.assertEqual(lines[2:], ["keep program.py:6: 100.0 MiB (+100.0 MiB), 100 blocks (+100)",
                                     f"{100 * MIB} {100 * MIB} 100 100",
                                     "load program.py:9: 4.0 MiB (-4.0 MiB), 1 blocks (+0)",
                                     f"{4 * MIB} {-4 * MIB} 1 0", "[]"])

    def test_run_adds_its_folder_last_and_once(self):
        here = str(MODULE)
        self.assertEqual(self.path_in(PYTHONPATH=""), here)
        self.assertEqual(self.path_in(PYTHONPATH="/a:/b"), f"/a:/b:{here}")
        self.assertEqual(self.path_in(PYTHONPATH=f"{here}:/a"), f"{here}:/a")
        self.assertEqual(self.path_in(PYTHONPATH=f"{here}er"), f"{here}er:{here}")
        done = self.execute(VRAMSCOPE, "run", VRAMSCOPE, "run", "sh", "-c", "echo $PYTHONPATH", PYTHONPATH="/a")
        self.assertEqual(done.stdout, f"/a:{here}\n")

    def test_a_module_of_the_programs_own_name_wins(self):
        (self.folder / "vramscope.py").write_text("print('mine')\n")
        self.assertEqual(self.run_python(sys.executable, "import vramscope"), "mine\n")
        other = self.folder / "other"
        other.mkdir()
        shutil.move(self.folder / "vramscope.py", other)
        self.assertEqual(self.run_python(sys.executable, "import vramscope", PYTHONPATH=str(other)), "mine\n")

    @on_each_python
    def test_an_isolated_interpreter_does_not_see_it(self, python):
        done = self.execute(VRAMSCOPE, "run", python, "-I", "-c", "import vramscope")
        self.assertIn("No module named 'vramscope'", done.stderr)

    def test_it_is_installed_beside_the_preload(self):
        prefix = self.folder / "prefix"
        done = self.execute("cmake", "-D", "CMAKE_INSTALL_LOCAL_ONLY=ON", "-D", f"CMAKE_INSTALL_PREFIX={prefix}",
                            "-P", BUILD / "tools" / "cmake_install.cmake")
        self.assertEqual(done.returncode, 0, done.stderr)
        module = prefix / "lib" / "vramscope" / "python" / "vramscope"
        self.assertEqual(sorted(path.name for path in module.iterdir()),
                         ["__init__.py", "__main__.py", "_command.py", "_logs.py", "_notebook.py", "_pages.py", "_preload.py", "_snapshots.py",
                          "dask_job.py", "ending", "inside", "py.typed", "pytest_plugin.py"])
        self.assertTrue((module / "inside" / "sitecustomize.py").is_file())


class WhereItCannotWork(PythonTest):
    NOTHING = """
        with vramscope.range("a"), vramscope.cuda_memory_tracker("b") as used:
            vramscope.mark("c")
        print(vramscope.version(), vramscope.stats(), vramscope.headroom(), vramscope.empty_cache(),
              vramscope.snapshot(), used.peak)
        """
    EXPECTED = "None {} None None None None\n"

    @on_each_python
    def test_an_interpreter_without_ctypes_does_nothing(self, python):
        out = self.run_python(python, "import sys\nsys.modules['_ctypes'] = None\nimport vramscope\n"
                              + textwrap.dedent(self.NOTHING))
        self.assertEqual(out, self.EXPECTED)

    @on_each_python
    def test_an_older_tracer_does_nothing(self, python):
        older = self.folder / "libvramscope.so"
        source = self.folder / "older.c"
        source.write_text("void vramscope_push(const char* name) { (void)name; }\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", older, source], check=True)
        out = self.alone(python, "import vramscope\n" + textwrap.dedent(self.NOTHING), LD_PRELOAD=str(older))
        self.assertEqual(out, self.EXPECTED)

    @on_each_python
    def test_a_subinterpreter_works_or_does_nothing(self, python):
        out = self.run_python(python, """
            try:
                import _interpreters as interpreters
            except ImportError:
                import _xxsubinterpreters as interpreters
            inner = interpreters.create()
            interpreters.run_string(inner, '''if True:
                import vramscope
                with vramscope.range("inner"):
                    vramscope.mark("in the inner one")
                print(vramscope.version(), flush=True)
                ''')
            interpreters.destroy(inner)
            import vramscope
            vramscope.mark("outside")
            print(vramscope.version())
            """)
        inner, outer = out.splitlines()
        self.assertRegex(outer, r"^\d+\.\d+\.\d+$")
        self.assertIn(inner, ("None", outer))


class ItsText(unittest.TestCase):
    def test_every_function_of_the_header_that_it_calls_is_there(self):
        header = (pathlib.Path(__file__).parents[3] / "interpose" / "vramscope.h").read_text()
        called = set(re.findall(r"\b(?:waiting|quick)\.(vramscope_\w+)", (MODULE / "vramscope" / "_preload.py").read_text()))
        self.assertEqual({name for name in called if f"{name}(" not in header}, set())
        self.assertGreaterEqual(len(called), 9)


if __name__ == "__main__":
    unittest.main()
