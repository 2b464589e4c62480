# tests/e2e/live/reach_python_test.py — which variable, list, dict, closure or frame of Python holds a block (holders.py).
#
# The program's own names are the oracle.
import itertools
import json
import pathlib
import re
import subprocess
import sys
import unittest

from live import GPU, PRELOAD, SIMGPU, SOURCE, VRAMSCOPE, LiveTest, simulated_only

PROGRAM = SOURCE / "tests" / "programs" / "python" / "holders.py"
# What is known of their memory, and what is not.
KNOWN, OTHERS = ("3.11", "3.12", "3.13"), ("3.8", "3.9", "3.10", "3.14", "3.15")
OF_TENSOR = ["Tensor.impl", "c_void_p"]
# The chain down to the piece of C's heap that has the block's address; None: it is lost.
CHAINS = {
    "a_global": ["variable `a_global` of module `__main__`", *OF_TENSOR],
    "losses": ["variable `losses` of module `__main__`", "list of 3", *OF_TENSOR],
    "cache": ["variable `cache` of module `__main__`", "dict of 2", *OF_TENSOR],
    "nested": ["variable `nested` of module `__main__`", "dict of 1", "list of 1", "dict of 1", "tuple of 2", *OF_TENSOR],
    "slotted": ["variable `slotted` of module `__main__`", "Slotted", "c_void_p"],
    "registry": ["variable `Registered` of module `__main__`", "class `Registered`.registry", "list of 1", *OF_TENSOR],
    "attribute": ["variable `module` of module `__main__`", "Module.weight", *OF_TENSOR],
    "bound_method": ["variable `hooks` of module `__main__`", "list of 1", "method", "Hooked.seen", *OF_TENSOR],
    "closure": ["variable `callback` of module `__main__`", "function `make_closure.<locals>.<lambda>`", "tuple of 1", "cell",
                *OF_TENSOR],
    "default_argument": ["variable `with_default` of module `__main__`", "function `with_default`", "tuple of 1", *OF_TENSOR],
    "exception": ["variable `caught` of module `__main__`", "list of 1", "RuntimeError", "traceback, 2 times", "frame of `fails`",
                  *OF_TENSOR],
    "generator": ["variable `running` of module `__main__`", "generator `generator`", *OF_TENSOR],
    "local_of_a_thread": ["local `waiting` of `waits` in thread N", *OF_TENSOR],
    "dropped": None,
    "garbage": None,
}


def interpreters(version):
    found = [*pathlib.Path("/usr/bin").glob(f"python{version}"),
             *pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}")]
    if sys.version.startswith(version + "."):
        found.append(pathlib.Path(sys.executable))
    return sorted({path.resolve() for path in found})


@simulated_only
class PythonHolders(LiveTest):
    def start_holders(self, python, pool):
        """The program, once it is ready, and the names of its blocks by their bytes."""
        process = subprocess.Popen([python, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=self.environment(LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_SIMULATE=GPU, VRAMSCOPE_POOL=pool,
                                                        VRAMSCOPE_LOG=str(self.log), LD_PRELOAD=str(PRELOAD)))
        self.addCleanup(self.end_holders, process)
        names = {}
        for line in process.stdout:
            if line == "ready\n":
                return process, names
            size, name = line.split()
            names[int(size)] = name
        self.fail("the program ended early")

    @staticmethod
    def end_holders(process):
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)

    def search(self, python, pool="off"):
        """[(name, verdict, chain without the last piece)] and the document; the program ends as it would have."""
        process, names = self.start_holders(python, pool)
        done = self.execute(VRAMSCOPE, "reach", "--stop", "--json", "-", process.pid)
        if "cannot be read" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.end_holders(process)
        self.assertEqual(process.returncode, 0)
        self.log.unlink()
        found = json.loads(done.stdout)
        said = []
        for row in found["rows"]:
            for group in row["groups"]:
                size = group["sum"]["bytes"]
                name = names.get(size) or next(name for name in ("losses", "cache") if size in sums_of(names, name))
                said.append((name, group["verdict"], [re.sub(r"thread \d+", "thread N", step) for step in group["chain"]]))
        return [row for row in said if row[0] != "first"], found

    def test_the_chain_of_each_way_to_hold_a_block(self):
        known = [python for version in KNOWN for python in interpreters(version)]
        if not known:
            self.skipTest("no Python of 3.11 to 3.13 is here")
        for python in known:
            for pool in ("off", "cache"):
                with self.subTest(python=python, pool=pool):
                    said, found = self.search(python, pool)
                    self.assertEqual(found["notices"], [])
                    self.assertEqual({name for name, _, _ in said}, set(CHAINS))
                    for name, verdict, chain in said:
                        # A word may be left over on the stack of C: then what is lost is possibly held.
                        self.assertIn(verdict, ("lost", "possibly") if CHAINS[name] is None else ("held",), (name, chain))
                        if CHAINS[name]:
                            self.assertEqual(chain[:-1], CHAINS[name], name)
                            self.assertRegex(chain[-1], r"^a heap block of \d+ B$")
                    chains = {name: chain for name, verdict, chain in said if verdict == "lost"}
                    self.assertRegex(" ".join(chains.get("dropped", ["a heap block of 64 B"])), r"^a heap block of \d+ B$")
                    self.assertIn(chains.get("garbage"), (None, ["a cycle of Cycle that gc.collect() would free"]))

    def test_of_a_version_that_is_not_known_no_name_is_told(self):
        ran = 0
        for version in OTHERS:
            for python in interpreters(version)[:1]:
                with self.subTest(python=python):
                    ran += 1
                    said, found = self.search(python)
                    [notice] = found["notices"]
                    self.assertRegex(notice, r"python.* keeps memory of a shape that is not known")
                    for name, verdict, chain in said:
                        if CHAINS[name]:
                            self.assertIn(verdict, ("possibly", "held"), name)
                        self.assertNotRegex(" ".join(chain), r"module `|Tensor|list of", name)
        if not ran:
            self.skipTest("no other version of Python is here")

    def test_at_the_end_of_a_program_its_modules_still_hold(self):
        for python in [python for version in KNOWN for python in interpreters(version)[:1]]:
            done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--reach", "-f", "-o", self.log, "--", python, PROGRAM,
                                TMPDIR=str(self.folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = " ".join(self.execute(VRAMSCOPE, "leaks", self.log).stdout.split())
            self.assertRegex(text, r"held: \S+ KiB in \d blocks?, by variable `losses` of module `__main__` -> list of 3 -> Tensor\.impl")
            if "possibly:" not in text:
                self.assertIn("lost: 4.3 KiB in 1 block, only a cycle of Cycle that gc.collect() would free, which nothing leads to", text)


def sums_of(names, name):
    """Of some of the blocks of that name."""
    sizes = [size for size in names if names[size] == name]
    return {sum(part) for count in range(1, len(sizes) + 1) for part in itertools.combinations(sizes, count)}


if __name__ == "__main__":
    unittest.main()
