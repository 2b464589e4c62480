#!/usr/bin/env python3
# scripts/count_tests.py — adds up ctest's JUnit files: "N passed, N failed, N skipped".
#
# Names what failed and what was skipped. A test that could not be started counts as failed: ctest
# files it under "skipped". A test of which only a part was skipped counts as passed, and each part
# as skipped, so that nothing is left out silently. A file without a single test is an error. Ends 0
# when nothing failed, 1 otherwise.
import re
import sys
import xml.etree.ElementTree as ElementTree

ASKED_TO_SKIP = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION", "Disabled")
REASON = re.compile(r"SKIPPED: (.*)$", re.MULTILINE)  # as our tests say it
UNITTEST = re.compile(r"^OK \(.*\bskipped=(\d+)", re.MULTILINE)
GOOGLE_TEST = re.compile(r"^\[  SKIPPED \] (\d+) tests?,", re.MULTILINE)


def outcome(case):
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith(ASKED_TO_SKIP):
        return "skipped"
    return "failed"


def skipped_parts(case):
    """How many tests a test program itself has skipped, and the reasons that it gives."""
    output = case.findtext("system-out") or ""
    parts = sum(int(found) for pattern in (UNITTEST, GOOGLE_TEST) for found in pattern.findall(output))
    return parts, sorted(set(REASON.findall(output)))


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    problems = [] if paths else ["no JUnit file given"]
    for path in paths:
        try:
            cases = list(ElementTree.parse(path).getroot().iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            problems.append(f"{path}: {error}")
            continue
        if not cases:
            problems.append(f"{path}: holds no test")
        for case in cases:
            counts[outcome(case)] += 1
            parts, reasons = skipped_parts(case)
            if outcome(case) == "failed":
                print(f"failed: {case.get('name')}")
            elif outcome(case) == "skipped":
                print(f"skipped: {case.get('name')}{': ' if reasons else ''}{'; '.join(reasons)}")
            elif parts:
                counts["skipped"] += parts
                print(f"skipped: {case.get('name')}: {parts} of its tests{': ' if reasons else ''}{'; '.join(reasons)}")
    for problem in problems:
        print(f"count_tests: {problem}", file=sys.stderr)
    counts["failed"] += len(problems)
    print(", ".join(f"{number} {what}" for what, number in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
