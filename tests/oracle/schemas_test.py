#!/usr/bin/env python3
# tests/oracle/schemas_test.py — every JSON that the e2e and cli tests made vramscope write follows its schema, by the word
# of two validators. Runs after them (ctest: DEPENDS) on what they kept, and clears it away.
#
# ajv is shown all of them; python3-jsonschema, which is slow, as many as it takes for each object to have come with each set of
# members that it has anywhere, and each value with each of its types.
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


def shapes(value, path=""):
    """What is to be seen in a document: at which path, which members and types; not numbers, names and how often."""
    if isinstance(value, dict):
        yield path, tuple(sorted(value))
        for key, inner in value.items():
            yield from shapes(inner, f"{path}/{key}")
    elif isinstance(value, list):
        yield path, "a list" if value else "an empty list"
        for inner in value:
            yield from shapes(inner, f"{path}/*")
    else:
        yield path, type(value).__name__


def with_all_shapes(documents):
    """Of {file: document}, files that together have every shape, the smallest of each."""
    seen, chosen = set(), []
    for file in sorted(documents, key=lambda file: file.stat().st_size):
        new = set(shapes(documents[file])) - seen
        if new:
            chosen.append(file)
            seen |= new
    return chosen


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
            document = json.loads(file.read_text())
            by_schema.setdefault(schema_of(document), {})[file] = document
        for name, written in sorted(by_schema.items()):
            chosen = with_all_shapes(written)
            print(f"{name}: {len(written)} documents, {len(chosen)} of them with all shapes")
            for only, shown in ((("--ajv",), written), ((), chosen)):
                done = subprocess.run(["/usr/bin/python3", CHECK, *only, SCHEMAS / f"{name}.schema.json", *shown],
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[:4000])


if __name__ == "__main__":
    unittest.main()
