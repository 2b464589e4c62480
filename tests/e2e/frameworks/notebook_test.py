# tests/e2e/frameworks/notebook_test.py — notebooks of Debian's Jupyter under `vramscope kernel install`: the magics, and the
# notebook of the documentation, whose outputs are those that a reader sees.
#
# With VRAMSCOPE_UPDATE_GOLDEN=1 the notebook is written with what its cells say now.
import html
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

from framework import BUILD, SOURCE, VRAMSCOPE, EndToEndTest, simulated_only

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's Jupyter
NEEDED = ("nbconvert", "ipykernel", "pandas")
DOCUMENTED = SOURCE / "tools/python/notebook.ipynb"
NOT_HERE = 77
ALLOCATE = """%load_ext vramscope
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
def start():
    context = ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
def allocate(mib):
    address = ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20))
    return address
"""
INTERRUPTED = """
import jupyter_client, sys
manager, client = jupyter_client.manager.start_new_kernel(kernel_name="vramscope")
def run(code):
    seen = []
    def hook(message):
        seen.append(message)
        if message["msg_type"] == "stream" and "begun" in message["content"]["text"]:
            manager.interrupt_kernel()
    # What comes soon after a cell that failed is aborted by Jupyter, unless told not to stop on errors.
    reply = client.execute_interactive(code, output_hook=hook, timeout=100, stop_on_error=False)["content"]
    return reply["status"], reply.get("ename"), [m["content"]["text"] for m in seen if m["msg_type"] == "stream"]
print(run("import time\\nprint('begun', flush=True)\\ntime.sleep(90)"))
print(run("print('goes on')"))
client.stop_channels()
manager.shutdown_kernel()
"""


def text_of(output):
    """What a reader sees of it; a page is told by its frame alone."""
    text = output.get("text") or output.get("data", {}).get("text/plain") or output.get("evalue") or ""
    return "".join(text)


@simulated_only
class NotebookTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        self.home = {"HOME": str(self.folder), "JUPYTER_DATA_DIR": str(self.folder / "data"), "IPYTHONDIR": str(self.folder / "ipython"),
                     "PATH": f"{VRAMSCOPE.parent}{os.pathsep}{os.environ['PATH']}", "PYDEVD_DISABLE_FILE_VALIDATION": "1",
                     "COLUMNS": "120"}
        done = self.execute(VRAMSCOPE, "kernel", "install", "--python", PYTHON, "--", "--simulate", "24GiB", **self.home)
        self.assertEqual(done.returncode, 0, done.stderr)

    def executed(self, notebook, *options, **env):
        """The same notebook, with what its cells said."""
        done = self.execute(PYTHON, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "executed.ipynb", *options, notebook,
                            **self.home, **env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((notebook.parent / "executed.ipynb").read_text())

    def say(self, *cells, kernel="vramscope", options=(), **env):
        """What each of these cells says, its outputs one after the other."""
        notebook = self.folder / "cells.ipynb"
        notebook.write_text(json.dumps({
            "cells": [{"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": cell} for cell in cells],
            "metadata": {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}, "nbformat": 4, "nbformat_minor": 4}))
        self.outputs = [cell["outputs"] for cell in self.executed(notebook, *options, **env)["cells"]]
        return ["".join(map(text_of, outputs)) for outputs in self.outputs]


class TheDocumentedOne(NotebookTest):
    def test_its_outputs_are_what_its_cells_say(self):
        place = self.folder / "clone/tools/python/notebook.ipynb"
        place.parent.mkdir(parents=True)
        (self.folder / "clone/tests").symlink_to(SOURCE / "tests")
        place.write_text(DOCUMENTED.read_text())
        documented, executed = json.loads(DOCUMENTED.read_text()), self.executed(place)
        for cell in executed["cells"]:
            cell["metadata"] = {}
            cell.pop("id", None)
            cell["outputs"] = [output for output in cell.get("outputs", []) if "text/html" not in output.get("data", {})]
            if cell["cell_type"] != "code":
                del cell["outputs"]
        if os.environ.get("VRAMSCOPE_UPDATE_GOLDEN"):
            documented["cells"] = executed["cells"]
            DOCUMENTED.write_text(json.dumps(documented, indent=1, ensure_ascii=False) + "\n")
        self.assertEqual([text_of(output) for cell in documented["cells"] for output in cell.get("outputs", [])],
                         [text_of(output) for cell in executed["cells"] for output in cell.get("outputs", [])])
        (log,) = place.parent.glob("vramscope.python3*.vsl")  # of the kernel itself
        self.assertIn("64 MiB in 1 block", self.execute(VRAMSCOPE, "leaks", log).stdout)


class Magics(NotebookTest):
    def test_a_cell_is_a_range_and_a_mark_and_says_what_it_left(self):
        _, first, second, third = self.say(ALLOCATE, "%%vramscope\nstart()\nkept = allocate(4)\n1 + 1",
                                           "%%vramscope loop\nfor i in range(2):\n    allocate(2)\n    later = allocate(1)\nlast = allocate(1)", "%%vramscope\n'nothing'")
        self.assertTrue(first.startswith("2"), first)
        self.assertIn("4.0 MiB after, 4.0 MiB at its peak\nleft alive: 4.0 MiB in 1 block\n", first)
        self.assertIn("  line 3: kept = allocate(4), in allocate, In[1] line 11: driver.cuMemAlloc_v2(", first)
        self.assertEqual(second.splitlines()[:2], ["loop: 4.0 MiB before, 11.0 MiB after, 11.0 MiB at its peak",
                                                   "left alive: 7.0 MiB in 5 blocks"])
        self.assertEqual(re.findall(r"(\S+ MiB) in (\d) blocks? +(line \d: [^,\n]*)", second)[-3:],
                         [("4.0 MiB", "2", "line 3: allocate(2)"), ("2.0 MiB", "2", "line 4: later = allocate(1)"),
                          ("1.0 MiB", "1", "line 5: last = allocate(1)")])
        self.assertTrue(third.endswith("left alive: nothing\n"), third)
        (log,) = self.folder.glob("*.vsl")
        report = json.loads(self.execute(VRAMSCOPE, "report", "--json", "-", log).stdout)
        self.assertEqual([mark["name"] for mark in report["processes"][0]["marks"]], ["loop", "In[4]"])
        # The first cell's mark came before the log, which the first CUDA call opens.
        self.assertEqual(sorted({leak["phase"] for leak in report["leaks"]}), ["In[2]", "loop"])
        self.assertNotIn("_notebook.py", json.dumps(report["leaks"]))

    def test_a_cell_that_raises_says_what_it_left_and_fails(self):
        _, raises, after = self.say(ALLOCATE, "%%vramscope\nstart()\nkept = allocate(4)\nraise KeyError('mine')", "kept.value > 0",
                                    options=["--allow-errors"])
        self.assertIn("left alive: 4.0 MiB in 1 block\n", raises)
        self.assertTrue(raises.endswith("'mine'"), raises)
        self.assertEqual(self.outputs[1][-1]["ename"], "KeyError")
        self.assertNotIn("_notebook.py", "".join(self.outputs[1][-1]["traceback"]))
        self.assertEqual(after, "True")

    def test_the_page_is_shown_in_its_place(self):
        early, _, held, read = self.say(ALLOCATE + "%vramscope", "start()\nkept = allocate(4)", "%vramscope",
                                        "import glob, vramscope\nvramscope.load(*glob.glob('*.vsl')).page()")
        self.assertRegex(early, "^vramscope: process .* has no log yet")
        self.assertRegex(held + read, "(<vramscope.Page of .*>){2}")
        for (output,) in self.outputs[2:]:
            frame = "".join(output["data"]["text/html"])
            page = html.unescape(re.search(r'srcdoc="([^"]*)"', frame)[1])
            self.assertTrue(page.startswith("<!doctype html>"))
            self.assertTrue(str(4 << 20) in page)

    def test_a_kernel_that_is_not_traced_runs_its_cells_and_says_how_to_trace(self):
        module = str(BUILD / "lib/vramscope/python")
        _, cell, page = self.say("%load_ext vramscope", "%%vramscope\nx = 6 * 7\nx", "%vramscope", kernel="python3", PYTHONPATH=module)
        sentence, result = cell.splitlines()
        self.assertEqual(result, "42")
        for said in (sentence, page):
            self.assertRegex(said, "^vramscope: this kernel does not run under vramscope.*`vramscope kernel install`")

    def test_a_kernel_is_interrupted_once(self):
        done = self.execute(PYTHON, "-c", INTERRUPTED, **self.home)
        self.assertEqual(done.stdout.splitlines(), ["('error', 'KeyboardInterrupt', ['begun\\n'])", "('ok', None, ['goes on\\n'])"], done.stderr)


if __name__ == "__main__":
    missing = [name for name in NEEDED if subprocess.run([PYTHON, "-c", f"import {name}"], capture_output=True).returncode != 0]
    if missing:
        print(f"SKIPPED: there is no {', '.join(missing)} here (./scripts/setup --tests)")
        sys.exit(NOT_HERE)
    unittest.main()
