# tests/e2e/tests_test.py — the tests of a GoogleTest suite by their names: in the log, the report
# and the check.
import json
import unittest
import xml.etree.ElementTree

from e2e import VRAMSCOPE, EndToEndTest, simulated_only

MIB = 1 << 20


@simulated_only
class TestsTest(EndToEndTest):
    def suite(self, *filters, status=0, **env):
        arguments = ["--gtest_filter=" + ":".join(filters)] if filters else []
        if any(name.startswith("Faults") for name in filters):
            arguments.append("--gtest_also_run_disabled_tests")
        report = self.trace("gtest_suite", *arguments, status=status, **env)
        [process] = report["processes"]
        return {test["name"]: test for test in process.get("tests", [])}

    def check(self, *options, status):
        result = self.folder / "check.json"
        done = self.execute(VRAMSCOPE, "check", "--json", result, *options, *self.logs())
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.text = done.stdout
        return json.loads(result.read_text())

    def test_each_has_what_it_left(self):
        tests = self.suite()
        self.assertEqual(list(tests), ["Pool.Leaks", "Pool.LeaksInAThread", "Pool.Caches", "Pool.Cleans", "Pool.Skips",
                                       "Small/Sizes.AreFreed/0", "Small/Sizes.AreFreed/1"])
        self.assertEqual({name: test["leaked_bytes"] // MIB for name, test in tests.items() if test["leaked_bytes"]},
                         {"Pool.Leaks": 3, "Pool.LeaksInAThread": 1})
        self.assertEqual(tests["Pool.Caches"]["freed_later_bytes"], 2 * MIB)
        self.assertEqual(tests["Pool.Skips"]["result"], "skipped")
        self.assertEqual(tests["Pool.Cleans"]["result"], "passed")
        [peak] = tests["Pool.Cleans"]["peaks"]
        self.assertEqual(peak["peak_allocated"] - peak["allocated_at_begin"], 8 * MIB)
        [leak] = tests["Pool.Leaks"]["leaks"]
        self.assert_leak(leak, "gtest_suite.cpp", "suite_allocates", "allocate", bytes=3 * MIB, blocks=1, api="cuMemAlloc")

    def test_the_check_names_them(self):
        self.suite()
        result = self.check(status=100)
        self.assertEqual((result["tests"]["count"], result["tests"]["failed"]), (7, 2))
        self.assertEqual([row["name"] for row in result["tests"]["rows"]], ["Pool.Leaks", "Pool.LeaksInAThread"])
        self.assertIn("2 tests are over budget: Pool.Leaks, Pool.LeaksInAThread", self.text)

    def test_junit_has_a_case_for_each_that_fails(self):
        self.suite()
        junit = self.folder / "junit.xml"
        self.check("--junit", junit, status=100)
        cases = {case.get("name"): case for case in xml.etree.ElementTree.parse(junit).iter("testcase")
                 if case.get("classname") == "vramscope.tests"}
        self.assertEqual(list(cases), ["Pool.Leaks", "Pool.LeaksInAThread"])
        self.assertEqual(cases["Pool.Leaks"].find("failure").get("message"), "leaked 3 MiB, at most 0 B")

    def test_annotations_and_code_quality_name_them(self):
        self.suite()
        self.check("--github", "--gitlab", self.folder / "gitlab.json", status=100)
        self.assertRegex(self.text, r"(?m)^::error .*title=vramscope%3A test::test Pool\.Leaks: leaked 3 MiB, at most 0 B; cuMemAlloc in allocate")
        described = [issue["description"] for issue in json.loads((self.folder / "gitlab.json").read_text())]
        self.assertEqual([text.split(":")[0] for text in described[:2]], ["test Pool.Leaks", "test Pool.LeaksInAThread"])

    def test_those_that_keep_their_budgets_pass(self):
        self.suite("Pool.Cleans", "Pool.Caches", "Small/*")
        result = self.check("--max-leaked", "0", "--max-peak", "10MiB", status=0)
        self.assertEqual((result["tests"]["failed"], result["tests"]["unknown"], result["tests"]["rows"]), (0, 0, []))
        [row] = self.check("--max-peak", "9MiB", status=100)["tests"]["rows"]
        self.assertEqual((row["name"], row["breaches"][0]["budget"]), ("Pool.Cleans", "max-peak"))

    def test_one_that_fails_is_not_known_to_be_clean(self):
        tests = self.suite("Pool.Cleans", "Faults.DISABLED_Fails", status=1)
        self.assertEqual(tests["Faults.DISABLED_Fails"]["result"], "failed")
        result = self.check(status=111)
        self.assertEqual((result["tests"]["unknown"], result["tests"]["failed"]), (1, 0))

    def test_one_that_crashes_is_named(self):
        self.suite("Pool.Cleans", "Faults.DISABLED_Crashes", status=134)
        result = self.check(status=111)
        self.assertIn("test Faults.DISABLED_Crashes began and did not end", result["reasons"])
        self.assertEqual(result["tests"]["unknown"], 1)

    def test_one_that_ends_the_program_as_if_all_were_well_is_named(self):
        self.suite("Faults.DISABLED_Exits")
        self.assertIn("test Faults.DISABLED_Exits began and did not end", self.check(status=111)["reasons"])

    def test_the_header_needs_no_tracer(self):
        done = self.plain("gtest_suite")
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
