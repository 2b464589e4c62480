#!/usr/bin/env python3
# tests/tools/ci_recipes_test.py — the files of tools/ci are what their servers read, and their
# commands do what they say.
#
# No runner is here: the YAML is read as the servers' manuals say, and its scripts are run by the
# shells that they would have.
import json
import os
import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree

from cli import PROGRAMS, SOURCE, VRAMSCOPE, CliTest

READ_YAML = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)"


def recipe(name):
    """By the system's Python, which has Debian's packages."""
    done = subprocess.run(["/usr/bin/python3", "-c", READ_YAML, SOURCE / "tools/ci" / name], capture_output=True, text=True)
    if done.returncode != 0:
        print(f"SKIPPED: there is no python3-yaml here (./scripts/setup --tests): {done.stderr.splitlines()[-1]}")
        sys.exit(77)
    return json.loads(done.stdout)


ACTION = recipe("github/action.yml")
GITLAB = recipe("gitlab/vramscope.gitlab-ci.yml")[".vramscope"]


class RecipeTest(CliTest):
    def shell(self, shell, script, **variables):
        path = f"{pathlib.Path(VRAMSCOPE).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run([*shell, script], cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env={**self.environment(), "PATH": path, **variables})


class TheAction(RecipeTest):
    def run_step(self, **inputs):
        (step,) = ACTION["runs"]["steps"]
        given = {name: str(inputs.get(name.replace("-", "_"), about.get("default", ""))) for name, about in ACTION["inputs"].items()}
        variables = {}
        for name, value in step["env"].items():
            key = value.removeprefix("${{ inputs.").removesuffix(" }}")
            self.assertIn(key, given, value)
            variables[name] = given[key]
        self.assertNotIn("${{", step["run"])  # an input there would be code
        return self.shell(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"], step["run"], **variables,
                          GITHUB_STEP_SUMMARY=str(self.folder / "page.md"))

    def test_fails_on_a_leak_with_its_line_and_leaves_the_files(self):
        done = self.run_step(run=f"{PROGRAMS}/training_demo 1", options="--simulate 1GiB", source_root=SOURCE)
        self.assertEqual(done.returncode, 100, done.stderr)
        self.assertIn("::error file=tests/programs/training_demo.cu,line=", done.stderr)
        self.assertIn("### vramscope: failed", (self.folder / "page.md").read_text())
        self.assertEqual(len(self.read_json("vramscope.sarif")["runs"][0]["results"]), 2)
        xml.etree.ElementTree.parse(self.folder / "vramscope.xml")
        self.read_json("vramscope.json")

    def test_passes_within_the_budget_and_takes_hostile_words_as_words(self):
        done = self.run_step(run=f"{PROGRAMS}/training_demo 1", options="--simulate 1GiB", budget="--max-leaked 1GiB")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_step(run="true", budget="--max-leaked $(touch${IFS}owned)")
        self.assertEqual(done.returncode, 125)
        self.assertFalse((self.folder / "owned").exists())

    def test_has_what_github_asks_of_a_composite_action(self):
        self.assertEqual(ACTION["runs"]["using"], "composite")
        self.assertTrue(all(step.get("shell") for step in ACTION["runs"]["steps"]))
        self.assertTrue({"name", "description"} <= set(ACTION))


class TheJob(RecipeTest):
    def test_fails_on_a_leak_and_writes_what_its_reports_name(self):
        variables = {**GITLAB["variables"], "VRAMSCOPE_RUN": f"{PROGRAMS}/training_demo 1", "VRAMSCOPE_OPTIONS": "--simulate 1GiB"}
        (script,) = GITLAB["script"]
        done = self.shell(["sh", "-ec"], script, **variables)
        self.assertEqual(done.returncode, 100, done.stderr)
        reports = GITLAB["artifacts"]["reports"]
        self.assertEqual(len(json.loads((self.folder / reports["codequality"]).read_text())), 2)
        xml.etree.ElementTree.parse(self.folder / reports["junit"])
        for pattern in GITLAB["artifacts"]["paths"]:
            self.assertTrue(list(self.folder.glob(pattern)), pattern)


if __name__ == "__main__":
    unittest.main()
