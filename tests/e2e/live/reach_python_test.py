# tests/e2e/live/reach_python_test.py — which variable, list, dict, closure or frame of Python holds a block (holders.py).
#
# The program's own names are the oracle.
import itertools
import os
import pathlib
import re
import sys
import unittest

from live import GPU, SOURCE, VRAMSCOPE, LiveTest, simulated_only

PROGRAM = SOURCE / "tests" / "programs" / "python" / "holders.py"
# What is known of their memory, and what is not.
KNOWN, OTHERS = tuple(f"3.{minor}" for minor in range(8, 16)), ("3.6", "3.7")
WITH_FRAME_OBJECTS = ("3.8", "3.9", "3.10")  # there a generator has its locals in one
OF_TENSOR = ["Tensor.impl", "c_void_p"]
# The chain down to the piece of C's heap, or the int, that has the block's address; None: it is lost.
CHAINS = {
    "a_global": ["variable `a_global` of module `__main__`", *OF_TENSOR],
    "losses": ["variable `losses` of module `__main__`", "list of 3", *OF_TENSOR],
    "cache": ["variable `cache` of module `__main__`", "dict of 2", *OF_TENSOR],
    "a_set": ["variable `a_set` of module `__main__`", "set", *OF_TENSOR],
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
    "window": ["variable `window` of module `__main__`", "Window of 1", *OF_TENSOR],
    "pointer_address": ["variable `pointer` of module `__main__`"],
    "address": ["variable `addresses` of module `__main__`", "list of 1"],
    "local_address": ["local `address` of `main` in thread N"],
    "handle": ["variable `handles` of module `__main__`", "dict of 1", "int"],
    "dropped": None,
    "garbage": None,
}


CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vramscope"
PYTHON_ROOT = pathlib.Path(os.environ.get("VRAMSCOPE_PYTHON_ROOT") or CACHE / "python-root")  # scripts/python-root


def interpreters(version):
    """Those of this machine; of scripts/python-root what is not among these."""
    found = [*pathlib.Path("/usr/bin").glob(f"python{version}"),
             *pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")]
    if sys.version.startswith(version + "."):
        found.append(pathlib.Path(sys.executable))
    return sorted({path.resolve() for path in found}) or [*PYTHON_ROOT.glob(f"python{version}")]

# Up to 3.10 the attributes of its object are a dict.
A_CYCLE = r"a cycle of Cycle(, dict of 2)? that gc\.collect\(\) would free"


def chain_in(version, name):
    chain = CHAINS[name]
    if name == "generator" and version in WITH_FRAME_OBJECTS:
        return [*chain[:2], "frame of `generator`", *chain[2:]]
    return chain


@simulated_only
class PythonHolders(LiveTest):
    def search(self, python, pool="off"):
        """The document, and the names of blocks; the program ends as it would have."""
        process, names = self.start_python(python, PROGRAM, pool)
        found = self.reach(process)
        self.end_python(process)
        self.assertEqual(process.returncode, 0)
        self.log.unlink()
        return found, names

    @staticmethod
    def said_of(found, names):
        """[(name, verdict, chain without the last piece)]"""
        said = []
        for group in (group for row in found["rows"] for group in row["groups"]):
            size = group["sum"]["bytes"]
            name = names.get(size) or next(name for name in ("losses", "cache") if size in sums_of(names, name))
            said.append((name, group["verdict"], [re.sub(r"thread \d+", "thread N", step) for step in group["chain"]]))
        return [row for row in said if row[0] != "first"]

    def test_the_chain_of_each_way_to_hold_a_block(self):
        for version in KNOWN:
            for python in interpreters(version) or [None]:
                for pool in ("off", "cache") if version == KNOWN[-1] else ("off",):
                    with self.subTest(python=python or version, pool=pool):
                        if python is None:
                            self.skipTest(f"no Python {version} is here")
                        found, names = self.search(python, pool)
                        self.assertEqual(found["notices"], [])
                        self.assert_chains(version, self.said_of(found, names))

    def test_where_python_looks_for_faults_of_its_memory_the_same_is_said(self):
        """As `python -X dev` does."""
        for version in KNOWN:
            for python in interpreters(version)[:1]:
                with self.subTest(python=python):
                    os.environ["PYTHONMALLOC"] = "debug"
                    self.addCleanup(os.environ.pop, "PYTHONMALLOC", None)
                    found, names = self.search(python)
                    self.assertEqual(found["notices"], [])
                    self.assert_chains(version, self.said_of(found, names))

    def test_what_points_into_an_object_does_not_hold_it(self):
        for python in [python for version in KNOWN for python in interpreters(version)[:1]]:
            with self.subTest(python=python):
                process, _ = self.start_python(python, PROGRAM.with_name("points_inside.py"))
                found = self.reach(process)
                self.end_python(process)
                self.log.unlink()
                said = [group["verdict"] for row in found["rows"] for group in row["groups"]]
                self.assertEqual(sorted(said), ["held", "possibly"])

    def assert_chains(self, version, said):
        self.assertEqual({name for name, _, _ in said}, set(CHAINS))
        for name, verdict, chain in said:
            # A word may be left over on the stack of C: then what is lost is possibly held; or on that of a function
            # of Python that runs: then it is held.
            lost = ("held", "possibly", "lost") if chain[0].startswith("a temporary of") else ("lost", "possibly")
            self.assertIn(verdict, lost if CHAINS[name] is None else ("held",), (name, chain))
            if CHAINS[name]:
                self.assertEqual(chain[:-1], chain_in(version, name), name)
                self.assertRegex(chain[-1], "^(int|Pointer)$" if name.endswith("address") else r"^a heap block of \d+ B$")
        chains = {(name, verdict): " ".join(chain) for name, verdict, chain in said}
        self.assertRegex(chains.get(("dropped", "lost"), "a heap block of 64 B"), r"^a heap block of \d+ B$")
        for verdict in ("lost", "possibly"):
            self.assertRegex(chains.get(("garbage", verdict), "a cycle of Cycle that gc.collect() would free"), A_CYCLE)

    def test_of_a_version_that_is_not_known_no_name_is_told(self):
        ran = 0
        for version in OTHERS:
            for python in interpreters(version)[:1]:
                with self.subTest(python=python):
                    ran += 1
                    found, names = self.search(python)
                    [notice] = found["notices"]
                    self.assertRegex(notice, r"python.* keeps memory of a shape that is not known")
                    for group in (group for row in found["rows"] for group in row["groups"]):
                        if group["verdict"] == "lost":
                            self.assertIn(names[group["sum"]["bytes"]], ("dropped", "garbage"))
                        self.assertNotRegex(" ".join(group["chain"]), r"module `|Tensor|list of")
        if not ran:
            self.skipTest("no other version of Python is here")

    def test_at_the_end_of_a_program_its_modules_still_hold(self):
        asked = told = 0
        for python in [python for version in KNOWN for python in interpreters(version)[:1]]:
            done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--reach", "-f", "-o", self.log, "--", python, PROGRAM,
                                TMPDIR=str(self.folder))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = " ".join(self.execute(VRAMSCOPE, "leaks", self.log).stdout.split())
            self.assertRegex(text, r"held: \S+ KiB in \d blocks?, by variable `losses` of module `__main__` -> list of 3 -> Tensor\.impl")
            asked += "possibly:" not in text
            told += re.search(f"lost: 4.3 KiB in 1 block, only {A_CYCLE}, which nothing leads to", text) is not None
        # A word that was left over may lead to garbage too.
        self.assertGreaterEqual(2 * told, asked)


def sums_of(names, name):
    """Of some of the blocks of that name."""
    sizes = [size for size in names if names[size] == name]
    return {sum(part) for count in range(1, len(sizes) + 1) for part in itertools.combinations(sizes, count)}


if __name__ == "__main__":
    unittest.main()
