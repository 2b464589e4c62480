# tests/oracle/pages.py — pages of --html, opened and used in headless Chromium (browser/drive.mjs): for tests of any kind of log.
import contextlib
import functools
import json
import os
import pathlib
import select
import shutil
import subprocess

from oracle import BROWSER, GPU, VRAMSCOPE, why_no_browser

DRIVER = pathlib.Path(__file__).parent / "browser" / "drive.mjs"
MOST_BYTES = 5_000_000
VIEWS = ["360 dark", "360 light", "1440 light", "1440 dark", "1440 light, with all of it opened"]


@functools.cache
def why_no_pages():
    """Why no page can be made, or none be opened; None if both can."""
    done = subprocess.run([VRAMSCOPE, "report", "--html", "-", os.devnull], capture_output=True, text=True)
    if "without pages" in done.stderr:
        return "vramscope was built without pages"
    return why_no_browser()


@contextlib.contextmanager
def one_browser():
    """For all tests of a class: its start is what takes long."""
    driver = subprocess.Popen(["node", DRIVER, BROWSER, shutil.which("chromium")], text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with driver:
        yield driver
        driver.stdin.close()


class Pages:
    """For a class of tests beside ProgramTest."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = cls.enterClassContext(one_browser())

    def run_simulated(self, program, *arguments, settings=()):
        log = self.folder / "run.vsl"
        done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--force", "-o", log, *settings, "--", program, *arguments)
        self.assertTrue(log.exists(), done.stderr)
        return log

    def page_of(self, *logs, view="report", options=(), status=0):
        written = self.folder / f"{view}.html"
        done = self.execute(VRAMSCOPE, view, "-f", "--html", written, *options, *logs)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertLess(written.stat().st_size, MOST_BYTES)
        return written

    def ask_browser(self, line):
        print(line, file=self.browser.stdin, flush=True)
        self.assertTrue(select.select([self.browser.stdout], [], [], 480)[0], "the browser does not answer")
        told = json.loads(self.browser.stdout.readline() or "{}")
        self.assertTrue(told, "the browser ended: what it said is above")
        return told

    def read(self, page):
        """All that a reader finds in each part of the page who opens and chooses whatever can be: by the part's id."""
        told = self.ask_browser(f"read {page}")
        self.assertEqual((told["errors"], told["requests"]), ([], []))
        return told["parts"]

    def drive(self, page):
        """What happened to the page in the browser; nothing of it may be wrong."""
        told = self.ask_browser(page)
        self.assertEqual(list(told["views"]), VIEWS)
        self.assertEqual((told["errors"], told["requests"], told["resources"], told["html"]), ([], [], 0, []))
        for name, view in told["views"].items():
            self.assertEqual((view["axe"], view["wider"]), ([], 0), name)
            self.assertEqual(view["theme"], name.split()[1].rstrip(","))
        self.assertFalse(told["ran"], "a script that is not the page's own ran")
        self.assertGreater(told["licences"], 1000)
        return told
