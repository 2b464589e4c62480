#!/usr/bin/env python3
# tests/tools/ci_formats_test.py — `check` and `run --check` in the formats of CI servers: options, files and what runners read.
import json
import unittest
import xml.etree.ElementTree

from cli import PROGRAMS, SOURCE, CliTest

FILES = {"sarif": "out.sarif", "junit": "out.xml", "gitlab": "out.json"}


class CiFormatsTest(CliTest):
    def setUp(self):
        super().setUp()
        status, _, errors = self.simulate(PROGRAMS / "training_demo", "1")
        self.assertEqual(status, 0, errors)

    def check(self, *arguments, status=100, **environment):
        found, stdout, stderr = self.vramscope("check", "run.vsl", "--source-root", SOURCE, *arguments, env=environment)
        self.assertEqual((found, stderr), (status, ""), stdout)
        return stdout


class OfALog(CiFormatsTest):
    def test_all_formats_at_once_say_the_same(self):
        options = [word for name, file in FILES.items() for word in (f"--{name}", file)]
        text = self.check(*options, "--json", "check.json")
        self.assertIn("FAILED: leaked", text)
        culprits = {row["fingerprint"] for row in self.read_json("check.json")["budgets"][0]["culprits"]}
        results = self.read_json("out.sarif")["runs"][0]["results"]
        self.assertEqual({result["partialFingerprints"]["vramscopeStack/v1"] for result in results}, culprits)
        self.assertEqual({issue["fingerprint"] for issue in self.read_json("out.json")}, {f"leaks:{one}" for one in culprits})
        suites = xml.etree.ElementTree.parse(self.folder / "out.xml").getroot()
        self.assertEqual((suites.get("tests"), suites.get("failures")), ("3", "3"))
        for result in results:
            place = result["locations"][0]["physicalLocation"]
            self.assertEqual(place["artifactLocation"], {"uri": "tests/programs/training_demo.cu", "uriBaseId": "%SRCROOT%"})
            source = (SOURCE / place["artifactLocation"]["uri"]).read_text().splitlines()
            self.assertIn("cudaMalloc", source[place["region"]["startLine"] - 1])

    def test_each_can_go_to_stdout_alone(self):
        for name in FILES:
            text = self.check(f"--{name}", "-")
            self.assertNotIn("FAILED", text)
            if name == "junit":
                xml.etree.ElementTree.fromstring(text.encode())
            else:
                json.loads(text)

    def test_what_passes_is_an_empty_list(self):
        self.check("--max-leaked", "1GiB", "--fail-on", "misuse", "--sarif", "out.sarif", status=0)
        run = self.read_json("out.sarif")["runs"][0]
        self.assertEqual({result["level"] for result in run["results"]}, {"note"})
        self.assertTrue(run["invocations"][0]["executionSuccessful"])

    def test_a_crash_is_no_success(self):
        self.vramscope("run", "--simulate", "1GiB", "--force", "-o", "run.vsl", PROGRAMS / "ends", "SIGKILL")
        self.check("--sarif", "out.sarif", status=111)
        self.assertFalse(self.read_json("out.sarif")["runs"][0]["invocations"][0]["executionSuccessful"])


class ForGitHub(CiFormatsTest):
    def test_the_text_cannot_speak_to_the_runner_and_annotations_can(self):
        lines = self.check("--github").splitlines()
        self.assertRegex(lines[0], r"^::stop-commands::vramscope-[0-9a-f]{32}$")
        word = lines[0].removeprefix("::stop-commands::")
        end = lines.index(f"::{word}::")
        self.assertTrue(lines[1].startswith("FAILED: "))
        self.assertEqual(len(lines[end + 1:]), 2)
        for line in lines[end + 1:]:
            self.assertRegex(line, r"^::error file=tests/programs/training_demo\.cu,line=\d+,title=vramscope%3A leaks::.* was|were not freed")
        self.assertNotIn(word, self.check("--github"))

    def test_the_page_is_added_to(self):
        (self.folder / "page.md").write_text("before\n")
        self.check("--github", GITHUB_STEP_SUMMARY=str(self.folder / "page.md"))
        page = (self.folder / "page.md").read_text()
        self.assertTrue(page.startswith("before\n### vramscope: failed\n"), page)
        self.assertIn("| leaked |", page)

    def test_the_page_is_no_input(self):
        log = (self.folder / "run.vsl").read_bytes()
        status, _, errors = self.vramscope("check", "--github", "run.vsl", env={"GITHUB_STEP_SUMMARY": str(self.folder / "run.vsl")})
        self.assertEqual(status, 125, errors)
        self.assertEqual((self.folder / "run.vsl").read_bytes(), log)


class OfARun(CiFormatsTest):
    def test_writes_the_same_and_ends_as_check(self):
        status, stdout, stderr = self.vramscope(
            "run", "--simulate", "1GiB", "-o", "two.vsl", "--check", "--sarif", "two.sarif", "--github", "--source-root", SOURCE,
            PROGRAMS / "training_demo", "1")
        self.assertEqual(status, 100, stderr)
        self.assertNotIn("::error", stdout)
        self.assertRegex(stderr, r"(?m)^::error file=tests/programs/training_demo\.cu,line=")
        self.assertEqual(len(self.read_json("two.sarif")["runs"][0]["results"]), 2)

    def test_needs_check(self):
        status, _, stderr = self.vramscope("run", "--sarif", "two.sarif", "true")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "--sarif", "--check")


class Wrong(CiFormatsTest):
    def refuse(self, *arguments, part):
        before = {path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        status, stdout, stderr = self.vramscope("check", *arguments)
        self.assertEqual((status, stdout), (125, ""))
        self.assert_one_line(stderr, part)
        self.assertEqual({path: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}, before)

    def test_usage_writes_nothing(self):
        for name in FILES:
            self.refuse("run.vsl", f"--{name}", "run.vsl", part="run.vsl")
            self.refuse("run.vsl", f"--{name}", "one", "--json", "one", part="one")
            self.refuse("run.vsl", f"--{name}", "-", "--json", "-", part="stdout")
            self.refuse("run.vsl", f"--{name}", "-", "--github", part="--github")
        self.refuse("run.vsl", "--sarif", "one", "--junit", "./one", part="one")

    def test_a_file_of_somebody_else_stays(self):
        for name, file in FILES.items():
            (self.folder / file).write_text("precious\n")
            self.refuse("run.vsl", f"--{name}", file, part=file)
            self.check(f"--{name}", file, "-f")
            self.check(f"--{name}", file)  # ours, and written again without -f


if __name__ == "__main__":
    unittest.main()
