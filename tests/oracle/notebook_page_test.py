#!/usr/bin/env python3
# tests/oracle/notebook_page_test.py — a page that a notebook shows in a frame of its own can be used there, in Chromium.
import json
import pathlib
import shutil
import sys
import unittest

from oracle import BROWSER, BUILD, NOT_HERE, OracleTest
from pages import why_no_pages

FRAME = pathlib.Path(__file__).parent / "browser" / "frame.mjs"
SAVED = "import sys, vramscope; vramscope.load(sys.argv[1]).page().save(sys.argv[2])"
SHOWN = "import sys, vramscope; print(vramscope.load(sys.argv[1]).page()._repr_html_())"


class NotebookPageTest(OracleTest):
    def test_what_is_open_stands_in_the_frames_address_and_not_in_the_notebooks(self):
        log, _ = self.trace_log("training_demo")
        shown = self.execute(sys.executable, "-c", SHOWN, log, PYTHONPATH=str(BUILD / "lib/vramscope/python"))
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        cell = self.folder / "cell.html"
        cell.write_text(shown.stdout)
        told = json.loads(self.ask("node", FRAME, BROWSER, shutil.which("chromium"), cell))
        self.assertEqual((told["errors"], told["requests"]), ([], []))
        self.assertEqual((told["open"], told["theme"]), (1, "dark"))
        self.assertRegex(told["address"], "^about:srcdoc#flame&.*theme=dark")
        self.assertEqual(told["notebook"], "http://notebook.invalid/lab/tree/notebook.ipynb")
        self.assertGreater(told["size"]["width"], 1000)

    def test_a_saved_page_takes_the_place_of_a_page_alone(self):
        log, _ = self.trace_log("training_demo")
        before, page = log.read_bytes(), self.folder / "page.html"

        def save(path):
            done = self.execute(sys.executable, "-c", SAVED, log, path, PYTHONPATH=str(BUILD / "lib/vramscope/python"))
            return done.stderr.splitlines()[-1] if done.stderr else ""
        self.assertEqual([save(page), save(page)], ["", ""])
        self.assertTrue(page.read_text().startswith("<!doctype html>"))
        self.assertEqual(save(log), f"FileExistsError: {log} is there, is no page, and is kept")
        self.assertEqual(log.read_bytes(), before)


if __name__ == "__main__":
    if why := why_no_pages():
        print(f"SKIPPED: {why}")
        sys.exit(NOT_HERE)
    unittest.main()
