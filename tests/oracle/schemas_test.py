#!/usr/bin/env python3
# tests/oracle/schemas_test.py — every JSON that the e2e and cli tests made vramscope write follows its schema, by the word
# of two validators. Runs after them (ctest: DEPENDS) on what they kept, and clears it away.
#
# Of documents with the same members and the same kinds of values, python3-jsonschema, which is slow, is shown one; ajv all.
import json
import os
import pathlib
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "support"))
import kept_json  # noqa: E402

SCHEMAS = SOURCE / "report" / "export"
CHECK = SOURCE / "tests" / "report" / "check_schema.py"


def shape(value):
    """What a document is made of, without numbers, names and how often."""
    if isinstance(value, dict):
        return tuple(sorted((key, shape(inner)) for key, inner in value.items()))
    if isinstance(value, list):
        return tuple(sorted({repr(shape(inner)) for inner in value}))
    return value if isinstance(value, str) and value.islower() and value.replace("-", "").isalpha() else type(value).__name__


def schema_of(document):
    """By the members that only one of the schemas has at its top."""
    known = {path.name.partition(".")[0]: set(json.loads(path.read_text())["properties"]) for path in SCHEMAS.glob("*.schema.json")}
    fitting = [name for name, members in known.items() if name != "events" and set(document) <= members]
    return fitting[0] if fitting else "report"


class SchemasTest(unittest.TestCase):
    def test_all_json_that_was_written_follows_its_schema(self):
        folder = kept_json.folder_of(os.environ["VRAMSCOPE_BUILD"])
        files = sorted(folder.glob("*.json"))
        self.assertGreater(len(files), 0, f"nothing in {folder}: run the tests with the label e2e first")
        for file in files:  # whatever comes of it: the next run's are not to be mixed with these
            self.addCleanup(file.unlink)
        by_schema = {}
        for file in files:
            by_schema.setdefault(schema_of(json.loads(file.read_text())), []).append(file)
        for name, written in sorted(by_schema.items()):
            shapes = {repr(shape(json.loads(file.read_text()))): str(file) for file in written}
            print(f"{name}: {len(written)} documents of {len(shapes)} shapes")
            for only, chosen in ((("--ajv",), written), ((), shapes.values())):
                done = subprocess.run(["/usr/bin/python3", CHECK, *only, SCHEMAS / f"{name}.schema.json", *chosen],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[:4000])


if __name__ == "__main__":
    unittest.main()
