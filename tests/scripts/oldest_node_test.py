#!/usr/bin/env python3
# tests/scripts/oldest_node_test.py — all that npm installs runs on the oldest node that is supported, by its own word.
import json
import pathlib
import re
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
PINNED = SOURCE / "tests/support/oldest_node/package.json"


def numbers(version):
    return tuple(int(part) for part in version.split(".")) + (0,) * (2 - version.count("."))


def admits(range_, version):
    """Whether a range of npm's ("^18.19 || >=20.6") has the version. Only what packages here use of its grammar is known."""
    def meets(operator, wanted):
        if operator == ">=":
            return version >= numbers(wanted)
        if operator == "<":
            return version < numbers(wanted)
        if operator == "^":
            return version >= numbers(wanted) and version[0] == numbers(wanted)[0]
        return version[:wanted.count(".") + 1] == numbers(wanted)[:wanted.count(".") + 1]

    def all_met(alternative):
        found = re.findall(r"(>=|<|\^|)\s*([0-9.]+)", alternative)
        assert "".join(operator + wanted for operator, wanted in found) == re.sub(r"\s", "", alternative), range_
        return all(meets(*one) for one in found)
    return any(all_met(alternative) for alternative in range_.split("||"))


class OldestNode(unittest.TestCase):
    def test_is_enough_for_all_that_is_pinned(self):
        (version,) = json.loads(PINNED.read_text())["dependencies"].values()
        locks = [path for path in SOURCE.glob("**/package-lock.json")
                 if not {"build", "node_modules"} & set(path.relative_to(SOURCE).parts)]
        self.assertGreater(len(locks), 3)
        for lock in locks:
            for name, package in json.loads(lock.read_text())["packages"].items():
                wanted = package.get("engines", {}).get("node", ">=0")
                with self.subTest(lock=lock.parent.name, package=name):
                    self.assertTrue(admits(wanted, numbers(version)), f"{name} {package.get('version')} wants node {wanted}")

    def test_a_range_is_read_as_npm_does(self):
        node = numbers("18.20.4")
        for wanted in (">=18", ">= 0.10.0", "^18.19.0 || >= 20.6.0", "18 || 20 || >=22", "^12.20.0 || ^14.13.1 || >=16.0.0",
                       ">=16 || 14 >=14.17", "18.20"):
            self.assertTrue(admits(wanted, node), wanted)
        for wanted in (">=20", "20 || >=22", "^20.18 || ^22.16 || >= 24.0", ">=18.21", "18.19", "18 <18.20"):
            self.assertFalse(admits(wanted, node), wanted)


if __name__ == "__main__":
    unittest.main()
