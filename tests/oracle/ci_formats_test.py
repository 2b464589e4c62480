#!/usr/bin/env python3
# tests/oracle/ci_formats_test.py — sarif-multitool, SARIF's schema, junitparser and xmllint read what `check` writes for CI servers.
#
# sarif-multitool ends 0 on errors too, and lets wrong levels pass: its own log is what counts, and the schema beside it.
import json
import os
import stat
import unittest

from oracle import NPM, VRAMSCOPE, OracleTest, why_not, why_not_npm

MULTITOOL = NPM / "@microsoft/sarif-multitool-linux"
READ_JUNIT = """
import json, junitparser, sys
suites = list(junitparser.JUnitXml.fromfile(sys.argv[1]))
json.dump([[sum(suite.failures for suite in suites), sum(suite.errors for suite in suites)],
           [type(outcome).__name__ for suite in suites for case in suite for outcome in case.result],
           [[one.value for some in case.iterchildren(junitparser.Properties) for one in some if one.name == "fingerprint"]
            for suite in suites for case in suite if case.classname not in ("vramscope.budgets", "vramscope.more")]], sys.stdout)
"""
HOSTILE = r"""
import ctypes, sys, types
cuda = ctypes.CDLL("libcuda.so.1")
def leak(bytes):
    address = ctypes.c_uint64()
    assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(bytes)) == 0
cuda.cuInit(0)
context, device = ctypes.c_void_p(), ctypes.c_int()
cuda.cuDeviceGet(ctypes.byref(device), 0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device)
for at, name in enumerate(["</failure>]]>&\"'", "::error::%0A\n::add-mask::x", "\u202egpj.exe\x1b[2J", "x" * 10000, "\ud7ff\ufffe|**b**`c`"]):
    file = "/repo/" + name[:200].replace("/", "_") + ".py"
    code = compile("def f(leak, bytes):\n    leak(bytes)\n", file, "exec").co_consts[0]
    names = {"co_name": name, "co_qualname": name} if sys.version_info >= (3, 11) else {"co_name": name}
    types.FunctionType(code.replace(**names), {})(leak, (at + 1) << 20)
"""


class CiFormatsTest(OracleTest):
    def write(self, log, *options):
        """What `check` writes of this log: SARIF, JUnit, and whether it passed."""
        files = [self.folder / "check.sarif", self.folder / "check.xml"]
        done = self.execute(VRAMSCOPE, "check", "--force", "--source-root", "/repo", "--sarif", files[0], "--junit", files[1],
                            "--fail-on", "leaks,growth,out-of-memory,misuse,damage,failed-calls", *options, log)
        self.assertIn(done.returncode, (0, 100, 110, 111), done.stderr)
        return *files, done.returncode

    def logs_of_all_kinds(self):
        for command, status in ((["training_demo"], 0), (["misuse", "double_free"], 0), (["memory_kinds", "managed"], 0),
                                (["ends", "SIGSEGV"], 128 + 11), (["gtest_suite"], 0)):
            self.doCleanups()
            self.setUp()
            with self.subTest(command):
                yield self.trace_log(*command, status=status)

    def hostile_log(self):
        (self.folder / "hostile.py").write_text(HOSTILE)
        done = self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "hostile.vsl", "python3", "hostile.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / "hostile.vsl"

    def assert_sarif(self, file):
        program = MULTITOOL / "Sarif.Multitool"
        if not os.access(program, os.X_OK):  # npm is not let run the script that would do this
            program.chmod(program.stat().st_mode | stat.S_IXUSR)
        findings = self.folder / "validated.sarif"
        self.execute(program, "validate", file, "--rule-kind", "Sarif;Ghas", "-o", findings, "--log", "ForceOverwrite")
        runs = json.loads(findings.read_text())["runs"]
        self.assertTrue(all(one["executionSuccessful"] for run in runs for one in run["invocations"]))
        wrong = [(one["ruleId"], one["message"]) for run in runs for one in run["results"] if one["ruleId"] != "SARIF2005"]
        self.assertEqual(wrong, [])  # SARIF2005: the project has no page of its own to name
        self.assert_follows(MULTITOOL / "sarif-2.1.0.json", file)

    def test_sarif_is_valid_by_its_validator_and_its_schema(self):
        if why := why_not_npm("@microsoft/sarif-multitool-linux"):
            self.skip(why)
        for log, report in self.logs_of_all_kinds():
            sarif, _, _ = self.write(log)
            self.assert_sarif(sarif)
            run = json.loads(sarif.read_text())["runs"][0]
            leaked = sum(one["properties"]["bytes"] for one in run["results"] if one["ruleId"] == "leaks")
            self.assertEqual(leaked, report["totals"]["leaked_bytes"])
            by_test = {one["properties"]["test"]: one["properties"]["bytes"] for one in run["results"] if one["ruleId"] == "test"}
            self.assertEqual(by_test, {test["name"]: test["leaked_bytes"] for test in report["processes"][0].get("tests", [])
                                       if test["leaked_bytes"]})
        sarif, _, _ = self.write(self.hostile_log())
        self.assert_sarif(sarif)
        self.assertEqual(len(json.loads(sarif.read_text())["runs"][0]["results"]), 5)

    def test_multitool_finds_the_same_results_in_another_run(self):
        if why := why_not_npm("@microsoft/sarif-multitool-linux"):
            self.skip(why)
        base, now = self.two_logs(["training_demo", "30"], ["training_demo", "50"])
        self.write(base)
        (self.folder / "check.sarif").rename(self.folder / "base.sarif")
        self.write(now)
        self.assert_sarif(self.folder / "check.sarif")
        self.execute(MULTITOOL / "Sarif.Multitool", "match-results-forward", self.folder / "check.sarif", "-r",
                     self.folder / "base.sarif", "-o", self.folder / "matched.sarif")
        states = [one["baselineState"] for one in json.loads((self.folder / "matched.sarif").read_text())["runs"][0]["results"]]
        self.assertTrue(states and set(states) <= {"unchanged", "updated"}, states)

    def test_junit_is_read_by_junitparser_and_xmllint(self):
        if self.execute("/usr/bin/python3", "-c", "import junitparser").returncode != 0:
            self.skip("there is no python3-junitparser here (./scripts/setup --tests)")
        for log, _ in self.logs_of_all_kinds():
            self.check_junit(*self.write(log))
        self.check_junit(*self.write(self.hostile_log()))

    def check_junit(self, sarif, file, status):
        counted, found, fingerprints = json.loads(self.ask("/usr/bin/python3", "-c", READ_JUNIT, file))
        self.assertEqual(counted, [found.count("Failure"), found.count("Error")])
        self.assertEqual(bool(found), status != 0)
        self.assertEqual("Failure" in found, status == 100)
        known = {one["partialFingerprints"]["vramscopeStack/v1"] for one in json.loads(sarif.read_text())["runs"][0]["results"]}
        self.assertTrue(all(len(one) == 1 and one[0] in known for one in fingerprints), fingerprints)
        if not why_not("xmllint"):
            self.ask("xmllint", "--noout", file)


if __name__ == "__main__":
    unittest.main()
