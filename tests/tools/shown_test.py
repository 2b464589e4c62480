#!/usr/bin/env python3
# tests/tools/shown_test.py — where what was found is shown: text, pager, page, colours, a browser.
import json
import os
import unittest

from cli import ESCAPE, PROGRAMS, CliTest, unsanitized


class Shown(CliTest):
    def setUp(self):
        super().setUp()
        status, _, stderr = self.simulate(PROGRAMS / "training_demo", "2")
        self.assertEqual(status, 0, stderr)
        self.text = self.vramscope("leaks", "run.vsl")[1]

    def beside(self, name, script):
        """PATH with this program before all others."""
        (self.folder / "bin").mkdir(exist_ok=True)
        self.script(f"bin/{name}", script)
        return f"{self.folder}/bin:{os.environ['PATH']}"


class Color(Shown):
    @unsanitized
    def test_is_as_it_was_asked_for(self):
        for when, on_terminal, in_pipe in (("auto", True, False), ("always", True, True), ("never", False, False)):
            options = ("leaks", "--color", when, "run.vsl")
            self.assertEqual(ESCAPE in self.on_terminal(*options)[1], on_terminal, when)
            self.assertEqual(ESCAPE in self.vramscope(*options)[1], in_pipe, when)
        self.assertNotIn(ESCAPE, self.on_terminal("leaks", "--color=auto", "run.vsl", env={"NO_COLOR": "1"})[1])
        self.assertIn(ESCAPE, self.vramscope("leaks", "--color=always", "run.vsl", env={"NO_COLOR": "1"})[1])

    def test_another_word_is_refused(self):
        status, stdout, stderr = self.vramscope("leaks", "--color", "blue", "run.vsl")
        self.assertEqual((status, stdout), (125, ""))
        self.assert_one_line(stderr, "--color blue: write auto, always or never")


class Pager(Shown):
    PAGER = "#!/bin/sh\necho \"paged with LESS=$LESS\"\ncat\n"

    def paged(self, *options, **env):
        return "paged with LESS=FRX" in self.on_terminal("leaks", *options, "run.vsl", env={"TERM": "xterm", **env})[1]

    def test_is_for_terminals_alone(self):
        self.script("pager", self.PAGER)
        own = {"VRAMSCOPE_PAGER": "./pager"}
        self.assertTrue(self.paged(**own))
        self.assertFalse(self.paged("--no-pager", **own))
        self.assertEqual(self.vramscope("leaks", "run.vsl", env=own), (0, self.text, ""))

    def test_is_found_as_git_finds_it(self):
        self.script("pager", self.PAGER)
        path = self.beside("less", self.PAGER)
        self.assertTrue(self.paged(VRAMSCOPE_PAGER="./pager", PAGER="false"))
        self.assertFalse(self.paged(VRAMSCOPE_PAGER="cat", PAGER="./pager"))
        self.assertFalse(self.paged(VRAMSCOPE_PAGER="", PAGER="./pager"))
        unset = {"VRAMSCOPE_PAGER": None}
        self.assertTrue(self.paged(PAGER="./pager", **unset))
        self.assertTrue(self.paged(PATH=path, **unset))

    def test_what_is_not_there_hides_nothing(self):
        shown = self.on_terminal("leaks", "run.vsl", env={"VRAMSCOPE_PAGER": "no_such_pager"})[1]
        self.assertIn("LEAKS", shown)
        self.assertIn("Next: vramscope report", shown)

    def test_one_that_reads_only_the_beginning_is_no_error(self):
        status, shown = self.on_terminal("report", "run.vsl", env={"VRAMSCOPE_PAGER": "head -n 1"})
        self.assertEqual((status, shown.count("\n")), (0, 1))


class Quiet(Shown):
    def test_is_the_verdict_alone(self):
        for view in ("report", "leaks", "peak", "frag", "timeline", "churn"):
            whole = self.vramscope(view, "run.vsl")[1]
            quiet = self.vramscope(view, "-q", "run.vsl")
            self.assertEqual(quiet, (0, whole[:whole.index("\n\n") + 1], ""))

    def test_is_silent_where_a_file_is_written(self):
        self.assertEqual(self.vramscope("leaks", "-q", "--json", "x.json", "run.vsl"), (0, "", ""))
        self.assertEqual(self.vramscope("leaks", "--quiet", "-f", "-o", "x.json", "run.vsl"), (0, "", ""))
        self.assertEqual(self.read_json("x.json")["verdict"], "leaks")


class OutputByName(Shown):
    def test_json_is_written_and_said_where(self):
        self.assertEqual(self.vramscope("leaks", "-o", "x.json", "run.vsl"), (0, "", "vramscope: json: x.json\n"))
        self.assertEqual(self.read_json("x.json")["verdict"], "leaks")
        status, stdout, stderr = self.vramscope("leaks", "--json", "beside.json", "run.vsl")
        self.assertEqual((status, stdout, stderr), (0, self.text, ""))

    def test_other_names_are_refused(self):
        for name in ("x.txt", "x", "html", "-", ".json"):
            status, stdout, stderr = self.vramscope("leaks", "-o", name, "run.vsl")
            self.assertEqual((status, stdout), (125, ""), name)
            self.assert_one_line(stderr, "ends in .html or .json")
        self.assert_one_line(self.vramscope("leaks", "--json", "a.json", "-o", "b.json", "run.vsl")[2], "--json")

    def test_a_page_takes_the_place_of_the_text(self):
        if not self.has_pages():
            self.skipTest("built without pages")
        for option in ("--html", "-o"):
            for command in (["leaks", "run.vsl"], ["peak", "run.vsl"], ["plan", "run.vsl"], ["diff", "run.vsl", "run.vsl"]):
                done = self.vramscope(command[0], "-f", option, "page.html", *command[1:])
                self.assertEqual(done, (0, "", "vramscope: page: page.html\n"), command)
                self.assertTrue((self.folder / "page.html").read_text().startswith("<!doctype html>"))
        status, stdout, _ = self.vramscope("check", "-f", "--html", "page.html", "run.vsl")  # its verdict is for a job's log
        self.assertEqual(status, 100)
        self.assertTrue(stdout.startswith("FAILED"))


class InABrowser(Shown):
    def test_without_a_page_is_refused(self):
        for options in ([], ["--json", "x.json"], ["--html", "-"]):
            status, stdout, stderr = self.vramscope("leaks", "--open", *options, "run.vsl")
            self.assertEqual((status, stdout), (125, ""))
            self.assert_one_line(stderr, "--open opens the page that --html FILE writes")

    def test_the_page_is_given_to_xdg_open(self):
        if not self.has_pages():
            self.skipTest("built without pages")
        path = self.beside("xdg-open", "#!/bin/sh\necho \"$1\" >opened.part && mv opened.part opened\n")
        self.assertEqual(self.vramscope("leaks", "--open", "-o", "page.html", "run.vsl", env={"PATH": path})[0], 0)
        opened = self.folder / "opened"
        self.wait_for(opened.exists)
        self.assertEqual(opened.read_text(), f"{self.folder.resolve()}/page.html\n")

    def test_where_there_is_none_it_is_said(self):
        if not self.has_pages():
            self.skipTest("built without pages")
        (self.folder / "empty").mkdir()
        status, _, stderr = self.vramscope("leaks", "--open", "--html", "page.html", "run.vsl", env={"PATH": str(self.folder / "empty")})
        self.assertEqual(status, 0)
        self.assertIn(f"warning: --open: there is no xdg-open here: open {self.folder.resolve()}/page.html in a browser", stderr)


class Charts(Shown):
    def chart(self, **env):
        return self.on_terminal("timeline", "run.vsl", env={"LC_ALL": "", "LC_CTYPE": "", "LANG": "", **env}, width=100)[1]

    def test_are_of_half_blocks_where_the_terminal_shows_them(self):
        for locale in ({"LANG": "C.UTF-8"}, {"LC_ALL": "de_DE.utf8"}, {"LANG": "C", "LC_CTYPE": "en_US.UTF-8"}):
            shown = self.chart(**locale)
            self.assertIn("\u2588 allocated", shown, locale)
            self.assertNotIn("#", shown)
            self.assertTrue(all(len(line.rstrip("\r")) <= 100 for line in shown.split("\n")))
        for locale in ({}, {"LANG": "C"}, {"LANG": "C.UTF-8", "LC_ALL": "POSIX"}, {"LANG": "C.UTF-8", "TERM": "dumb"}):
            self.assertIn("# allocated", self.chart(**locale), locale)
        self.assertIn("# allocated", self.vramscope("timeline", "run.vsl", env={"LANG": "C.UTF-8"})[1])


class Json(Shown):
    def test_is_one_line_but_for_a_terminal(self):
        self.assertEqual(self.vramscope("leaks", "--json", "-", "run.vsl")[1].count("\n"), 1)
        self.vramscope("leaks", "--json", "x.json", "run.vsl")
        self.assertEqual((self.folder / "x.json").read_text().count("\n"), 1)
        self.assertIn('{\r\n  "schema_version": ', self.on_terminal("leaks", "--json", "-", "run.vsl")[1])

    def test_begins_with_a_summary_of_numbers_that_are_elsewhere_too(self):
        report = self.read_json("run.json")
        self.assertEqual(list(report)[:2], ["schema_version", "summary"])
        summary = report["summary"]
        self.assertEqual(summary.pop("verdict"), report["verdict"])
        self.assertTrue(all(isinstance(number, int) for number in summary.values()))
        for name in ("leaked_bytes", "leaked_blocks", "unclosed_imports", "peak_host_bytes", "allocations"):
            self.assertEqual(summary[name], report["totals"][name], name)
        compared = json.loads(self.vramscope("diff", "--json", "-", "run.vsl", "run.vsl")[1])["numbers"]
        self.assertEqual({row["name"]: row["new"] for row in compared}, {row["name"]: summary[row["name"]] for row in compared})
        self.assertEqual(summary["growing_stacks"], len(report["growth"]))
        self.assertEqual(summary["lost_events"], report["coverage"]["lost_events"])

    def test_the_blocks_of_the_pool_are_there_on_request(self):
        segments = lambda *options: json.loads(self.vramscope("report", *options, "--json", "-", "run.vsl")[1])[
            "processes"][0]["pool"]["devices"][0]["at_peak"]["segments"]
        few, all_of_it = segments(), segments("--pool-blocks")
        self.assertGreater(len(few), 0)
        self.assertFalse(any("blocks" in segment for segment in few))
        self.assertEqual(few, [{name: value for name, value in segment.items() if name != "blocks"} for segment in all_of_it])
        for segment in all_of_it:
            self.assertEqual(sum(block["size"] for block in segment["blocks"]), segment["total_size"])


if __name__ == "__main__":
    unittest.main()
