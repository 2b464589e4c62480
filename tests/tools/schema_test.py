#!/usr/bin/env python3
# tests/tools/schema_test.py — the schemas that are printed are their golden copies.
#
# They are made when they are asked for, of the rows and records that are written: so a change of those is seen here.
# VRAMSCOPE_UPDATE_GOLDEN=1 writes what is printed now; then read the difference.
import json
import os
import unittest

from cli import SOURCE, CliTest

GOLDEN = SOURCE / "tests" / "golden" / "schemas"
UPDATE = "VRAMSCOPE_UPDATE_GOLDEN" in os.environ


class SchemaTest(CliTest):
    def printed(self, name):
        status, out, errors = self.vramscope("schema", name)
        self.assertEqual((status, errors), (0, ""))
        return json.loads(out)

    def test_each_is_its_golden_copy(self):
        paths = list(GOLDEN.glob("*.schema.json"))
        self.assertEqual(len(paths), 8)
        for path in paths:
            with self.subTest(path.name):
                printed = self.printed(path.name.partition(".")[0])
                if UPDATE:
                    path.write_text(json.dumps(printed, indent=2) + "\n")
                self.assertEqual(printed, json.loads(path.read_text()))

    def test_an_unknown_schema_is_refused_with_those_that_are_known(self):
        status, out, errors = self.vramscope("schema", "nothing")
        self.assertEqual((status, out), (125, ""))
        self.assert_one_line(errors, "no schema nothing", "report, events")


if __name__ == "__main__":
    unittest.main()
