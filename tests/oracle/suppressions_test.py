#!/usr/bin/env python3
# tests/oracle/suppressions_test.py — suppression files mean to vramscope what they mean to gcc's LeakSanitizer.
#
# twin/ is one program, built twice: its host twin leaks memory of malloc, its GPU twin the driver's, in the same functions
# and of the same sizes. Both run with the same file; what is left and what was used must be the same. Patterns that name
# malloc or the modules that only one of them has are no question to ask.
import collections
import json
import re
import unittest

from oracle import DEVICE_MEMORY, PROGRAMS, VRAMSCOPE, OracleTest, why_not

TABLE = {
    "nothing": "",
    "a part of a name": "leak:plain_lea",
    "another case": "leak:PLAIN_LEAK",
    "the beginning": "leak:^plain_leak",
    "not the beginning": "leak:^lain_leak",
    "the end": "leak:in_leak()$",
    "not the end": "leak:plain_leak$",
    "both ends": "leak:^c_leak$",
    "a wildcard": "leak:^shop::*::make",
    "two wildcards": "leak:sh*p::*fill",
    "a wildcard at the front": "leak:*CaseLeak",
    "a wildcard at the back": "leak:CamelCase*",
    "a wildcard before the end": "leak:plain*()$",
    "a wildcard alone": "leak:*",
    "a wildcard that finds nothing": "leak:plain*nothing",
    "the end alone": "leak:$",
    "parameters": "leak:make(int)",
    "a template": "leak:Box<long>",
    "a scope": "leak:shop::",
    "a name in an anonymous namespace": "leak:hidden_leak",
    "an inlined function": "leak:lose(",
    "a file": "leak:twin_other.cpp",
    "a file's end": "leak:twin_other.cpp$",
    "a folder": "leak:oracle/twin/",
    "a header of an inlined function": "leak:memory.hpp",
    "a library": "leak:libtwin_plugin.so",
    "a library's end": "leak:libtwin_plugin.so$",
    "a library that is not there": "leak:libtwin_other.so",
    "an outer frame": "leak:outer_caller",
    "the outermost frame of ours": "leak:all_leaks",
    "the innermost frame's rule is used, not the first": "leak:all_leaks\nleak:plain_leak",
    "the first of two rules of a frame is used": "leak:plain\nleak:plain_leak",
    "several": "leak:plain_leak\nleak:c_leak\nleak:Widget\nleak:nothing_of_that_name",
    "comments and blank lines": "# known\n\nleak:plain_leak\n\n#leak:c_leak\n",
    "white space around": "   leak:plain_leak   \n\tleak:c_leak\t",
    "no end of line": "leak:plain_leak",
    "ends of line of Windows": "leak:plain_leak\r\nleak:c_leak\r\n",
    "a space inside": "leak:plain leak",
    "a number sign inside": "leak:plain_leak # known",
}
REFUSED = {
    "another kind of rule": "race:plain_leak",
    "no kind of rule": "plain_leak",
    "a wrong case of the kind": "Leak:plain_leak",
    "only the kind": "leak",
}


class SuppressionsTest(OracleTest):
    told = {}  # of a file's text, by vramscope: two tests ask

    def on_the_host(self, rules):
        """LeakSanitizer's word: what is left, what each rule was used for; None if it refuses the file."""
        options = f"suppressions={rules}:print_suppressions=1:fast_unwind_on_malloc=0"
        done = self.execute(PROGRAMS / "twin" / "host" / "twin", LSAN_OPTIONS=options)
        if "failed to parse suppressions" in done.stderr:
            return None
        self.assertIn(done.returncode, (0, 23), done.stderr)
        left = collections.Counter()
        for size, blocks in re.findall(r"leak of (\d+) byte\(s\) in (\d+) object", done.stderr):
            left[int(size) // int(blocks)] += int(blocks)
        used = re.findall(r"^ +(\d+) +(\d+) (.*)$", done.stderr.partition("Suppressions used:")[2], re.M)
        return self.by_size(left), {f"leak:{pattern}": (int(blocks), int(size)) for blocks, size, pattern in used}

    @staticmethod
    def by_size(sizes):
        """The two calls of inner_leaf have one frame of ours alone: LeakSanitizer may sum them up, so sums are compared."""
        return sum(sizes.values()), sum(size * blocks for size, blocks in sizes.items())

    def on_the_gpu(self, rules):
        text = rules.read_bytes()
        if text not in self.told:
            self.told[text] = self.traced_with(rules)
        return self.told[text]

    def traced_with(self, rules):
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        done = self.execute(VRAMSCOPE, "run", "--simulate", "256MiB", "--force", "-o", "run.vsl", "--json", report,
                            "--no-builtin-suppressions", "--suppressions", rules, "--", PROGRAMS / "twin" / "gpu" / "twin")
        if done.returncode == 125:
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(report.read_text())
        left = (sum(leak["blocks"] for leak in told["leaks"]), sum(leak["bytes"] for leak in told["leaks"]))
        used = {rule["rule"]: (rule["blocks"], rule["bytes"]) for rule in told["suppressions"] if rule["blocks"]}
        return left, used

    def file_with(self, text):
        path = self.folder / "rules"
        path.write_bytes(text.encode())
        return path

    def test_both_twins_leave_and_use_the_same(self):
        for what, text in TABLE.items():
            with self.subTest(what):
                rules = self.file_with(text)
                self.assertEqual(self.on_the_gpu(rules), self.on_the_host(rules))

    def test_a_rule_without_a_pattern_is_refused_by_us_alone(self):
        rules = self.file_with("leak:")
        self.assertEqual(self.on_the_host(rules)[0], (0, 0))  # it takes everything for known
        self.assertIsNone(self.on_the_gpu(rules))

    def test_heaptrack_leaves_the_same(self):
        if why := why_not("heaptrack_print"):
            self.skip(why)
        run = self.execute(VRAMSCOPE, "run", "--simulate", "256MiB", "-o", "twin.vsl", "--", PROGRAMS / "twin" / "gpu" / "twin")
        self.assertEqual(run.returncode, 0, run.stderr)
        file = self.export(self.folder / "twin.vsl", "heaptrack")
        for what, text in TABLE.items():
            with self.subTest(what):
                rules, out = self.file_with(text), self.folder / "folded"
                self.ask("heaptrack_print", "-f", file, "--disable-builtin-suppressions", "--suppressions", rules,
                         "--flamegraph-cost-type", "leaked", "-F", out)
                left = sum(int(line.rpartition(" ")[2]) for line in out.read_text().splitlines())
                self.assertEqual(left, self.on_the_gpu(rules)[0][1])

    def test_both_refuse_the_same_files(self):
        for what, text in REFUSED.items():
            with self.subTest(what):
                rules = self.file_with(text)
                self.assertEqual((self.on_the_host(rules), self.on_the_gpu(rules)), (None, None))


if __name__ == "__main__":
    unittest.main()
