#!/usr/bin/env python3
# tests/tools/kernel_test.py — `vramscope kernel install`: what Jupyter is given, where, and what is refused.
import json
import os
import pathlib
import unittest

from cli import VRAMSCOPE, CliTest


class KernelTest(CliTest):
    def install(self, *arguments, **env):
        return self.vramscope("kernel", "install", *arguments, env={"JUPYTER_DATA_DIR": str(self.folder / "data"), **env})

    def kernel(self, name="vramscope", data="data"):
        return json.loads((self.folder / data / "kernels" / name / "kernel.json").read_text())

    def test_a_kernel_is_python_under_run(self):
        status, out, errors = self.install("--python", "/usr/bin/python3", "--", "--simulate", "24GiB", "--pool", "off")
        self.assertEqual((status, out), (0, ""), errors)
        self.assert_one_line(errors, f"{self.folder}/data/kernels/vramscope/kernel.json", '"Python 3 (vramscope)"')
        self.assertEqual(self.kernel(), {
            "argv": [str(VRAMSCOPE), "run", "--simulate", "24GiB", "--pool", "off", "--", "/usr/bin/python3", "-m",
                     "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "Python 3 (vramscope)", "language": "python", "interrupt_mode": "message",
            "metadata": {"debugger": True}})

    def test_options_of_run_are_handed_on_as_they_are(self):
        self.assertEqual(self.install("--python", "/usr/bin/python3", "--", "--set=poison=", "--json=a b.json")[0], 0)
        self.assertEqual(self.kernel()["argv"][1:5], ["run", "--set=poison=", "--json=a b.json", "--"])

    def test_it_goes_where_jupyter_looks(self):
        for env, where in (({"HOME": str(self.folder)}, ".local/share/jupyter"),
                           ({"HOME": "/nowhere", "XDG_DATA_HOME": str(self.folder / "xdg")}, "xdg/jupyter")):
            status, _, errors = self.install(**{"JUPYTER_DATA_DIR": "", "XDG_DATA_HOME": "", **env})
            self.assertEqual(status, 0, errors)
            self.assertEqual(self.kernel(data=where)["language"], "python")
        status, _, errors = self.install(JUPYTER_DATA_DIR="", XDG_DATA_HOME="", HOME="")
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "HOME", "JUPYTER_DATA_DIR")

    def test_a_python_of_a_virtual_environment_stays_that(self):
        (self.folder / "venv").mkdir()
        (self.folder / "venv/python3").symlink_to("/usr/bin/python3")
        for how, env in ((["--python", "venv/python3"], {}), ([], {"PATH": f"{self.folder}/venv:{os.environ['PATH']}"})):
            self.assertEqual(self.install("-f", *how, **env)[0], 0)
            self.assertEqual(self.kernel()["argv"][3], str(self.folder / "venv/python3"))

    def test_a_kernel_that_is_there_is_kept(self):
        self.assertEqual(self.install("--name", "mine")[0], 0)
        place = self.folder / "data/kernels/mine/kernel.json"
        place.write_text("{}")
        status, _, errors = self.install("--name", "mine")
        self.assertEqual((status, place.read_text()), (125, "{}"))
        self.assert_one_line(errors, str(place), "-f overwrites it")
        self.assertEqual(self.install("--name", "mine", "-f")[0], 0)
        self.assertEqual(self.kernel("mine")["display_name"], "Python 3 (mine)")

    def test_what_makes_no_sense_is_one_line(self):
        for arguments, parts in ((["--python", "no-such-python"], ["no-such-python", "--python"]), (["--name", "../other"], ["--name", "../other"]),
                                 (["--name", ".."], ["--name"]), (["--", "24GiB"], ["24GiB", "--simulate"]),
                                 (["--", "--simulated", "24GiB"], ["behind --", "--simulated", "did you mean '--simulate'?", "vramscope run --help"]),
                                 (["--", "--json="], ["behind --", "--json", "empty"]),
                                 (["--", "--simulate", "24GiB", "python3"], ["python3", "is no option"]),
                                 (["--name", ""], ["--name"])):
            status, _, errors = self.install(*arguments)
            self.assertEqual(status, 125, errors)
            self.assert_one_line(errors, *parts)
        self.assertFalse((self.folder / "data").exists())
        status, _, errors = self.vramscope("kernel", "remove")
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "remove", "install")

    def test_a_folder_that_cannot_be_made_is_told(self):
        (self.folder / "file").write_text("")
        status, _, errors = self.install(JUPYTER_DATA_DIR=str(self.folder / "file"))
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "cannot make", str(pathlib.Path(self.folder / "file")))


if __name__ == "__main__":
    unittest.main()
