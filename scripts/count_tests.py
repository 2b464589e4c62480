#!/usr/bin/env python3
# scripts/count_tests.py — adds up ctest's JUnit files; prints "N passed, N failed[, N skipped]".
#
# A test that could not be started counts as failed: ctest files it under "skipped". A file without a single
# test is an error. Ends 0 when nothing failed, 1 otherwise.
import sys
import xml.etree.ElementTree as ElementTree

ASKED_TO_SKIP = ("SKIP_RETURN_CODE", "SKIP_REGULAR_EXPRESSION", "Disabled")


def outcome(case):
    if case.get("status") == "run":
        return "passed"
    if case.get("status") == "disabled":
        return "skipped"
    skipped = case.find("skipped")
    if skipped is not None and skipped.get("message", "").startswith(ASKED_TO_SKIP):
        return "skipped"
    return "failed"


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
            if outcome(case) == "failed":
                print(f"failed: {case.get('name')}")
    for problem in problems:
        print(f"count_tests: {problem}", file=sys.stderr)
    counts["failed"] += len(problems)
    line = f"{counts['passed']} passed, {counts['failed']} failed"
    print(line + (f", {counts['skipped']} skipped" if counts["skipped"] else ""))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
