# tests/e2e/live/reach_test.py — lost or held: what is said of each block of reach_cases.cpp.
#
# Its host twin, the same program on malloc, is judged by valgrind and by gcc's LeakSanitizer.
import functools
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import unittest

from live import GPU, PRELOAD, PROGRAMS, SIMGPU, SOURCE, VRAMSCOPE, LiveTest, simulated_only

TWIN = SOURCE / "tests" / "programs" / "memory" / "reach_cases.cpp"
# What is true of each; the end of its chain from outside, where it has one; and where LeakSanitizer, which has no
# "possibly", says another thing, why.
CASES = {
    # The simulated device's memory begins there, and so does the pool's segment: both hold this address for themselves.
    "first": ("lost", None),
    "global": ("held", "variable `a_global` of reach_cases"),
    "static": ("held", "a_static"),
    "with_destructor": ("held", "variable `with_destructor` of reach_cases"),
    "local_with_destructor": ("held", "local_with_destructor"),
    "interior": ("possibly", "variable `an_interior` of reach_cases"),
    "one_past_the_end": ("lost", None),
    "overwritten": ("lost", None),
    "xored": ("lost", None),
    "tagged": ("lost", None),
    "unaligned": ("lost", None),
    "vector": ("held", "variable `a_vector` of reach_cases"),
    "map": ("held", "variable `a_map` of reach_cases"),
    "closure": ("held", "variable `a_function` of reach_cases"),
    "object": ("held", "variable `a_layer` of reach_cases, an object of Layer"),
    "end_of_a_list_of_40": ("held", "variable `a_list` of reach_cases, a heap block of 64 B, 40 times"),
    "large_heap_block": ("held", "variable `large` of reach_cases, a heap block of 1 MiB"),
    "mapped_memory": ("held", "memory that the program mapped"),
    "pinned": ("held", "variable `pinned` of reach_cases"),
    "in_pinned_memory": ("held", "variable `pinned` of reach_cases, pinned memory of 4.3 KiB"),
    "in_a_lost_heap_block": ("lost", "a heap block of 64 B"),
    "in_a_lost_cycle": ("lost", "a heap block of 64 B"),
    "in_a_freed_heap_block": ("lost", None),
    "lost_pinned": ("lost", None),
    "in_lost_pinned_memory": ("lost", "pinned memory of 4.4 KiB"),
    "unordered_map": ("held", "variable `an_unordered_map` of reach_cases, a heap block of"),
    "deque": ("held", "variable `a_deque` of reach_cases"),
    "set": ("held", "variable `a_set` of reach_cases"),
    "shared_pointer": ("held", "variable `shared` of reach_cases"),
    "vector_of_vectors": ("held", "variable `vectors` of reach_cases"),
    "array_of_structs": ("held", "variable `structs` of reach_cases, a heap block of 62.5 KiB"),
    "shared_mapping": ("held", "memory that the program mapped"),
    "leaf_of_a_tree": ("held", "variable `a_tree` of reach_cases, a heap block of"),
    "held_twice": ("held", "variable `of_both` of reach_cases"),
    "below_what_holds_twice": ("held", "variable `both` of reach_cases, a heap block of 64 B, 2 times"),
    "behind_a_vector": ("held", "variable `shorter` of reach_cases"),  # the word is there, whatever the vector says
    "cleared_vector": ("lost", None),
    "in_a_lost_tree": ("lost", "a heap block of"),
    "open_library": ("held", "variable `of_a_library` of libreach_library.so"),
    "thread_local_of_a_library": ("held", "a thread-local of thread"),
    "closed_library": ("lost", None),
    "stack": ("held", "the stack of thread"),
    "thread_local": ("held", "a thread-local of thread"),
    "thread_local_of_main": ("held", "a thread-local of thread"),
    "vector_of_main": ("held", "a thread-local of thread"),
    "pthread_key": ("held", "a thread-local of thread"),
    "heap_of_another_arena": ("held", "variable `in_other_arena` of reach_cases, a heap block of 64 B"),
    "left_by_a_thread": ("held", "variable `left_behind` of reach_cases, a heap block of 64 B"),
    "lost_by_a_thread": ("lost", "a heap block of 64 B"),
    "second_heap_of_a_thread": ("held", "variable `in_second_heap` of reach_cases, a heap block of 64 B"),
    "lost_in_second_heap": ("lost", "a heap block of 64 B"),
    "stack_of_a_thread_that_ended": ("lost", None),
    "result_of_a_thread": ("held", "memory that the program mapped, a heap block of 64 B"),
    "behind_what_others_left": ("held", "variable `behind_others` of reach_cases, a heap block of 64 B"),
    "register": ("held", "register rbx of thread"),
}
SANITIZER_DIFFERS = {
    "interior": "held",  # it takes pointers into a block for pointers to it
    "mapped_memory": "lost",  # it does not search what a program maps itself
    "shared_mapping": "lost",  # nor this
}
SANITIZER_MAY_DIFFER = {"result_of_a_thread"}  # gcc 12's does not look at what a thread returned, gcc 14's does
# Of reach_crowd.cpp; by hand some thousand searches.
SEARCHES = int(os.environ.get("VRAMSCOPE_TEST_SEARCHES", 10))
CROWD = int(os.environ.get("VRAMSCOPE_TEST_CROWD", 50))
BLOCKS = int(os.environ.get("VRAMSCOPE_TEST_BLOCKS", 2000))


def blocks_of(text):
    """The names, by the bytes of all their blocks."""
    blocks = {}
    for size, name in re.findall(r"^(\d+) (\w+)$", text, re.MULTILINE):
        blocks[name] = blocks.get(name, 0) + int(size)
    return {size: name for name, size in blocks.items()}


@functools.cache
def twin(*options):
    """The twin's program; None where it cannot be built."""
    if not shutil.which("g++"):
        return None
    folder = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, folder)
    program = pathlib.Path(folder) / "twin"
    libraries = [program.with_name(f"libreach_library{name}.so") for name in ("", "_closed")]
    commands = [["-shared", "-fPIC", TWIN.with_name("reach_library.cpp"), "-o", library] for library in libraries]
    commands.append(["-pthread", "-DTWIN", "-fno-omit-frame-pointer", *options, TWIN, "-o", program, "-ldl"])
    done = [subprocess.run(["g++", "-std=c++17", "-O1", "-g", *command]) for command in commands]
    return program if all(one.returncode == 0 for one in done) else None


class Twin(LiveTest):
    def judged(self, *command):
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300,
                              env=self.environment())
        names = blocks_of(done.stdout)
        self.assertEqual(set(names.values()), set(CASES), done.stderr)
        return names, done.stderr

    def test_valgrind_agrees(self):
        if not shutil.which("valgrind") or not twin():
            self.skipTest("needs valgrind and g++")
        names, said = self.judged("valgrind", "--leak-check=full", "--show-leak-kinds=all", twin())
        words = {"still reachable": "held", "possibly lost": "possibly", "definitely lost": "lost", "indirectly lost": "lost"}
        found = {}
        for size, direct, how in re.findall(r"== ([\d,]+) (?:\(([\d,]+) direct, [\d,]+ indirect\) )?bytes in \d+ blocks are ([a-z ]+) in", said):
            found.setdefault(names.get(int((direct or size).replace(",", ""))), words[how])
        found.pop(None, None)
        self.assertEqual(found, {name: truth for name, (truth, _) in CASES.items()})

    def test_the_leak_sanitizer_agrees_but_for_what_it_does_not_know(self):
        if not twin("-fsanitize=leak"):
            self.skipTest("needs g++ with its LeakSanitizer")
        names, said = self.judged(twin("-fsanitize=leak"))
        if "LeakSanitizer: detected" not in said:
            self.skipTest("the LeakSanitizer cannot look here: " + said[-200:])
        lost = {names.get(int(size)) for size in re.findall(r"leak of (\d+) byte", said)} - {None}
        truths = {name: SANITIZER_DIFFERS.get(name, truth) for name, (truth, _) in CASES.items()}
        self.assertEqual(lost - SANITIZER_MAY_DIFFER, {name for name, truth in truths.items() if truth == "lost"})


@simulated_only
class Reach(LiveTest):
    def start_cases(self, pool="off", preload=(), traced=True, command=(PROGRAMS / "reach_cases",), **options):
        """reach_cases, once it is ready, and the names of its blocks by their bytes."""
        process = self.open(command, traced=traced, preload=preload, pool=pool, **options)
        self.addCleanup(self.end_cases, process)
        lines = []
        while not lines or lines[-1] != "ready\n":
            lines.append(process.stdout.readline())
            self.assertTrue(lines[-1], lines)
        return process, blocks_of("".join(lines))

    @staticmethod
    def end_cases(process):
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)

    def reach(self, process, names, *options):
        """Verdict, doubt and chain of each name; and the document."""
        done = self.execute(VRAMSCOPE, "reach", *options, "--json", "reach.json", "-f", process.pid)
        if "cannot be read" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.text = done.stdout
        found = json.loads((self.folder / "reach.json").read_text())
        self.assertEqual([found[sum]["blocks"] for sum in ("all", "lost", "possibly", "held")],
                         [sum(row[part]["blocks"] for row in found["rows"]) for part in ("all", "lost", "possibly", "held")])
        schema = self.execute(VRAMSCOPE, "schema", "reach").stdout
        (self.folder / "schema").write_text(schema)
        done = self.execute("/usr/bin/python3", SOURCE / "tests/report/check_schema.py", "schema", "reach.json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        said = {}
        for row in found["rows"]:
            [group] = row["groups"]
            said[names[row["all"]["bytes"]]] = (group["verdict"], group["doubt"], group["chain"])
        self.assertEqual(set(said), set(CASES))
        return said, found

    def test_a_crowd_beside_a_thread_that_maps_and_unmaps(self):
        with self.open([PROGRAMS / "reach_crowd", CROWD, BLOCKS], gpu="4GiB") as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            for _ in range(SEARCHES):
                found = super().reach(process)
                self.assertEqual((found["all"]["blocks"], found["held"]["blocks"]), (BLOCKS, BLOCKS))
            mapped = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 0)
        self.assertGreater(int(mapped), SEARCHES)

    def said_of(self, *command):
        """The verdict and the chain of each name."""
        with self.open(command, pool="off") as process:
            lines = []
            while not lines or lines[-1] != "ready\n":
                lines.append(process.stdout.readline())
                self.assertTrue(lines[-1], lines)
            names = blocks_of("".join(lines))
            rows = super().reach(process)["rows"]
            process.communicate(timeout=60)
        groups = {names[row["all"]["bytes"]]: row["groups"][0] for row in rows if row["all"]["bytes"] in names}
        return {name: (group["verdict"], " -> ".join(group["chain"]) or group["doubt"]) for name, group in groups.items()}

    def test_what_a_callback_leads_the_driver_to_is_no_book_of_the_drivers(self):
        with self.open([PROGRAMS / "reach_driver", "registry"], pool="off") as process:
            self.assertEqual(list(iter(process.stdout.readline, "ready\n"))[-1].split()[1], "tensor_9")
            found = super().reach(process)
            process.communicate(timeout=60)
        [row] = found["rows"]
        self.assertEqual(found["held"]["blocks"], 10, found)
        for group in row["groups"]:
            self.assertEqual(group["chain"][0], "variable `engine` of reach_driver")

    def test_memory_that_is_mapped_is_known_by_its_address(self):
        said = self.said_of(PROGRAMS / "reach_driver", "mapped")
        self.assertEqual({name: verdict for name, (verdict, _) in said.items()}, {
            "first_of_a_reservation": "held", "second_of_a_reservation": "held", "by_an_address_inside": "possibly", "forgotten": "lost",
            "managed": "held", "in_managed_memory": "held", "deep_in_a_list": "held", "dropped": "lost"}, said)
        self.assertEqual(said["second_of_a_reservation"][1], "variable `grown` of reach_driver")
        self.assertIn("managed", said["in_managed_memory"][1])
        self.assertRegex(said["deep_in_a_list"][1], "^variable `chain.*` of reach_driver -> a heap block of .*, 10[01] times$")

    def test_an_array_may_be_reached_by_its_texture(self):
        self.assertEqual(self.said_of(PROGRAMS / "reach_driver", "array")["array"][0], "lost")
        self.assertEqual(self.said_of(PROGRAMS / "reach_driver", "texture")["array"], ("possibly", "texture-or-surface"))

    def test_stacks_that_share_a_mapping(self):
        """What waits below a running stack may be alive, so that it is not called lost."""
        with self.open([PROGRAMS / "reach_stacks"]) as process:
            lines = []
            while not lines or lines[-1] != "ready\n":
                lines.append(process.stdout.readline())
            names = blocks_of("".join(lines))
            rows = super().reach(process)["rows"]
            said = {names[group["sum"]["bytes"]]: (group["verdict"], group["chain"]) for row in rows for group in row["groups"]}
            tids = sorted(int(tid) for tid in os.listdir(f"/proc/{process.pid}/task"))
            process.communicate(timeout=60)
        for number, tid in enumerate(tids[1:]):
            self.assertEqual((said[f"thread_{number}"][0], said[f"thread_{number}"][1][0]), ("held", f"the stack of thread {tid}"), said)
        self.assertEqual(said["runs"][0], "held")
        self.assertEqual(said["waits"][0], "possibly", said["waits"])

    def test_each_way_to_hold_and_to_lose_a_block(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool=pool):
                process, names = self.start_cases(pool)
                said, found = self.reach(process, names, "--stop")
                said.pop("first")
                truths = {name: truth for name, (truth, _) in CASES.items() if name in said}
                self.assertEqual({name: verdict for name, (verdict, _, _) in said.items()}, truths,
                                 {name: said[name] for name in said if said[name][0] != truths[name]})
                for name, (_, _, chain) in said.items():
                    if CASES[name][1]:
                        self.assertIn(CASES[name][1], ", ".join(chain), name)
                self.assertEqual(said["interior"][1], "interior-pointer")
                self.assertEqual((found["stopped"], found["notices"]), (True, []))
                self.assertRegex(self.text, r"^LOST: of .* that process \d+ \(reach_cases\) has, ")
                self.end_cases(process)
                self.assertEqual(process.returncode, 0)

    def in_a_root_of_its_own(self):
        """The command for reach_cases in a root that has nothing but it and what it loads. From outside, no file has the name that it knows."""
        enter = [*([] if os.geteuid() == 0 else ["unshare", "--map-root-user"]), "chroot"]
        if subprocess.run([*enter, "/", "true"], capture_output=True).returncode != 0:
            self.skipTest("needs a root of its own: `unshare --map-root-user chroot / true`")
        root = self.folder / "root"
        folder = root / "app"
        (root / "proc/self").mkdir(parents=True)
        (root / "proc/self/exe").symlink_to("/app/reach_cases")  # it looks for its library beside itself
        (root / self.folder.relative_to("/")).mkdir(parents=True)  # for the log
        folder.mkdir()
        for file in PROGRAMS.glob("*reach_*"):
            shutil.copy(file, folder)
        files = {PRELOAD, *SIMGPU.glob("libcuda.so*")}
        for file in [PROGRAMS / "reach_cases", *files]:
            loaded = subprocess.run(["ldd", file], capture_output=True, text=True, env={"LD_LIBRARY_PATH": str(SIMGPU)}).stdout
            files |= {pathlib.Path(path) for path in re.findall(r"(?:^\s+|=> )(/\S+)", loaded, re.M)}
        for file in files:
            copy = root / file.relative_to("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
        return [*enter, root, "/app/reach_cases"]

    def test_of_a_program_in_a_root_of_its_own_the_same_is_said(self):
        process, names = self.start_cases(command=self.in_a_root_of_its_own())
        said, _ = self.reach(process, names, "--stop")
        said.pop("first")
        self.assertEqual({name: verdict for name, (verdict, _, _) in said.items()}, {name: CASES[name][0] for name in said})
        self.assertEqual(said["global"][2], ["variable `a_global` of reach_cases"])

    def test_a_snapshot_says_it_of_each_row_and_its_copy_has_it(self):
        process, names = self.start_cases()
        found = self.execute(VRAMSCOPE, "snapshot", "--reach", "--stop", "-o", "copy.vsl", "--json", "-", process.pid)
        if "cannot be read" in found.stderr:
            self.skipTest(found.stderr)
        self.assertEqual((found.returncode, found.stderr), (0, ""))
        copy = self.execute(VRAMSCOPE, "report", "--json", "-", "copy.vsl").stdout
        for report in (json.loads(found.stdout), json.loads(copy)):
            said = {names[leak["bytes"]]: [group["verdict"] for group in leak["reach"]] for leak in report["leaks"]}
            said.pop("first")
            self.assertEqual(said, {name: [truth] for name, (truth, _) in CASES.items() if name in said})
            self.assertIs(report["processes"][0]["memory_search"]["stopped"], True)
        text = " ".join(self.execute(VRAMSCOPE, "snapshot", "--reach", process.pid).stdout.split())
        self.assertIn("in 1 block, by variable `a_global` of reach_cases", text)
        self.assertIn("what holds the blocks: the program ran on", text)
        self.assertNotIn("lost:", text)
        # The program's own log has nothing of it.
        self.assertNotIn("memory_search", self.execute(VRAMSCOPE, "snapshot", "--json", "-", process.pid).stdout)
        self.assert_refused("snapshot", "--stop", process.pid, words="--reach", status=125)

    def test_of_a_program_that_runs_on_nothing_is_called_lost(self):
        process, names = self.start_cases()
        said, found = self.reach(process, names)
        self.assertEqual(found["lost"], {"bytes": 0, "blocks": 0})
        for name, (verdict, _, _) in said.items():
            with self.subTest(name):
                if CASES[name][0] == "lost" and name != "first":
                    self.assertEqual(verdict, "possibly")
        self.assertEqual(said["overwritten"][1], "registers-not-seen")
        self.assertEqual(said["global"][0], "held")
        self.assertIn("nothing is called lost", " ".join(self.text.split()))

    def test_memory_of_another_allocator_is_never_lost_wrongly(self):
        library = next((path for path in (pathlib.Path(f"/usr/lib/{os.uname().machine}-linux-gnu/libjemalloc.so.2"),) if path.exists()), None)
        if not library:
            self.skipTest("needs libjemalloc2")
        process, names = self.start_cases(preload=(library,))
        said, found = self.reach(process, names, "--stop")
        for name, (truth, _) in CASES.items():
            if truth != "lost":
                with self.subTest(name):
                    self.assertNotEqual(said[name][0], "lost")
        self.assertEqual(said["global"][0], "held")
        self.assertEqual(said["overwritten"][:2], ("possibly", "unknown-memory"))  # the simulated driver's own are there
        self.assertIn("libjemalloc", found["notices"][0])

    def test_a_core_file_says_the_same(self):
        if not shutil.which("gcore"):
            self.skipTest("needs gcore of gdb")
        process, names = self.start_cases()
        done = self.execute("gcore", "-o", self.folder / "core", process.pid)
        core = self.folder / f"core.{process.pid}"
        if not core.exists():
            self.skipTest(done.stderr[-300:])
        self.end_cases(process)
        done = self.execute(VRAMSCOPE, "reach", "--json", "-", core, self.log)
        if "is no core file" in done.stderr:
            self.fail(done.stderr)
        # It ended by _exit, behind the core: a core of that moment is told from a copy by its time.
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {names[row["all"]["bytes"]]: row["groups"][0]["verdict"] for row in json.loads(done.stdout)["rows"]}
        pinned = ("pinned", "in_pinned_memory", "lost_pinned", "in_lost_pinned_memory")  # of the driver's, which the core may lack
        self.assertEqual({name: said[name] for name in CASES if name not in (*pinned, "first")},
                         {name: truth for name, (truth, _) in CASES.items() if name not in (*pinned, "first")})
        cut = self.folder / "cut"
        cut.write_bytes(core.read_bytes()[:100_000])
        self.assert_refused("reach", cut, self.log, words="is cut off", status=120)
        self.assert_refused("reach", self.log, self.log, words="is no core file", status=120)
        os.utime(core, (os.stat(core).st_atime + 3600, os.stat(core).st_mtime + 3600))
        self.assert_refused("reach", core, self.log, words="after its process had ended", status=120)

    def test_so_does_the_kernels_core_file_of_a_program_that_crashed(self):
        pattern = pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()
        if not re.fullmatch(r"[\w.%]+", pattern) or resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
            self.skipTest("the kernel writes no core file into the folder of a program: " + pattern)
        unlimited = functools.partial(resource.setrlimit, resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        process, names = self.start_cases(preexec_fn=unlimited)
        process.send_signal(signal.SIGABRT)
        self.end_cases(process)
        core = next(self.folder.glob("core*"), None)
        if core is None:
            self.skipTest("the kernel wrote no core file")
        done = self.execute(VRAMSCOPE, "reach", "--json", "-", core, self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = {names[row["all"]["bytes"]]: row["groups"][0]["verdict"] for row in json.loads(done.stdout)["rows"]}
        self.assertEqual({name: said[name] for name in CASES if name != "first"},
                         {name: truth for name, (truth, _) in CASES.items() if name != "first"})

    def test_what_cannot_be_searched_is_told_in_one_line(self):
        self.assert_refused("reach", "4194305", words="there is no process 4194305")
        process, _ = self.start_cases(traced=False)
        self.assert_refused("reach", process.pid, words="does not run under vramscope")


@simulated_only
class AtTheEnd(LiveTest):
    """`run --reach`: the memory is searched when main has returned, and the verdicts are in the log."""

    def run_cases(self, *options, program=(PROGRAMS / "reach_cases", "end"), pool="off", **env):
        return self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--pool", pool, "-f", "-o", self.log, *options, "--", *program,
                            TMPDIR=str(self.folder), **env)

    def leaks(self, log=None):
        done = self.execute(VRAMSCOPE, "report", "--json", "-", log or self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_each_leak_has_its_verdict(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool=pool):
                done = self.run_cases("--reach", pool=pool)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("--reach", done.stderr)
                names = blocks_of(done.stdout)
                found = self.leaks()
                said = {names[leak["bytes"]]: leak["reach"] for leak in found["leaks"]}
                said.pop("first")
                self.assertEqual({name: group["verdict"] for name, [group] in said.items()},
                                 {name: truth for name, (truth, _) in CASES.items() if name in said})
                for name, [group] in said.items():
                    if CASES[name][1]:
                        self.assertIn(CASES[name][1], ", ".join(group["chain"]), name)
                [process] = found["processes"]
                self.assertIs(process["memory_search"]["stopped"], True)
                self.assertEqual(sum(process["memory_search"][verdict]["blocks"] for verdict in ("lost", "possibly", "held")),
                                 len(CASES) + 2)  # "vector" is three
                text = self.execute(VRAMSCOPE, "leaks", self.log).stdout
                self.assertIn("in 1 block, by variable `a_global` of reach_cases", " ".join(text.split()))
                self.assertEqual(sorted(path.name for path in self.folder.glob("vramscope-*")), [])

    def test_it_changes_nothing_else(self):
        """The same output, status, leaks and calls; but for the verdicts, when things were, and a thread of the log's."""
        def rows(found):
            return [(leak["fingerprint"], leak["bytes"], leak["class"], leak["kind"], leak["stack"]) for leak in found["leaks"]]

        alone = self.run_cases()
        without = self.leaks()
        self.log.unlink()
        done = self.run_cases("--reach")
        self.assertEqual((done.stdout, done.returncode), (alone.stdout, alone.returncode))
        found = self.leaks()
        self.assertEqual(rows(found), rows(without))
        self.assertNotIn("reach", without["leaks"][0])
        self.assertNotIn("memory_search", without["processes"][0])

    def test_the_status_of_exit_is_the_programs(self):
        for code in ("raise SystemExit(7)", "import os; os._exit(9)", "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"):
            alone = self.run_cases(program=("/usr/bin/python3", "-c", code))
            done = self.run_cases("--reach", program=("/usr/bin/python3", "-c", code))
            self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout), code)

    def test_a_program_that_was_not_searched_is_told_so(self):
        done = self.run_cases("--reach", program=("/bin/sh", "-c", 'exec "$0" < /dev/null', PROGRAMS / "reach_cases"))  # _exit(0)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()), r"--reach: the memory of process \d+ was not searched: it did not end by exit")
        self.assertNotIn("reach", self.leaks()["leaks"][0])

    def test_a_search_that_nobody_answers_is_no_end_of_the_program(self):
        """As when the command was killed: nothing listens, or the socket is gone."""
        environment = {"VRAMSCOPE_ENDING": str(self.folder / "none"), "LD_PRELOAD": str(PRELOAD.with_name("libvramscope-ending.so"))}
        done = self.execute("/bin/sh", "-c", "echo said; exit 3", **environment)
        self.assertEqual((done.returncode, done.stdout), (3, "said\n"))


if __name__ == "__main__":
    unittest.main()
