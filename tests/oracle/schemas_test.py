#!/usr/bin/env python3
# tests/oracle/schemas_test.py — every JSON that the e2e and cli tests made vramscope write follows its schema, by the word
# of two validators. Runs after them (ctest: DEPENDS) on what they kept, and clears it away.
#
# ajv is shown all of them; python3-jsonschema, which is slow, as much of them as it takes for each object to have come with each
# set of members that it has anywhere, and each value with each of its types.
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "support"))
import kept_json  # noqa: E402

VRAMSCOPE = pathlib.Path(os.environ["VRAMSCOPE_BUILD"]).resolve() / "bin" / "vramscope"
NAMES = ("report", "check", "diff", "plan", "reach", "job")
CHECK = SOURCE / "tests" / "report" / "check_schema.py"
NOT_HERE = 77
FOLDER = kept_json.folder_of(os.environ["VRAMSCOPE_BUILD"])
FILES = sorted(FOLDER.glob("*.json"))


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


def with_new_shapes(value, seen, path=""):
    """The value without what repeats: of a list of objects the first and each that shows something new, which `seen` then has."""
    if isinstance(value, dict):
        return {key: with_new_shapes(inner, seen, f"{path}/{key}") for key, inner in value.items()}
    if isinstance(value, list):
        kept = []
        for item in value:
            new = set(shapes(item, f"{path}/*")) - seen
            if new or not kept or not isinstance(item, dict):
                kept.append(with_new_shapes(item, seen, f"{path}/*"))
                seen |= new
        return kept
    return value


def with_all_shapes(documents):
    """Of {file: document}, documents that together have every shape, without what repeats them: [(file, document)]."""
    seen, chosen = set(), []
    for file, document in sorted(documents.items(), key=lambda entry: entry[0].stat().st_size):
        new = set(shapes(document)) - seen
        if new:
            chosen.append((file, with_new_shapes(document, set(seen))))
            seen |= new
    return chosen


@functools.cache
def schema_text(name):
    return subprocess.run([VRAMSCOPE, "schema", name], check=True, capture_output=True, text=True).stdout


@functools.cache
def members_at_top(name):
    return frozenset(json.loads(schema_text(name))["properties"])


def schema_of(document):
    """By the members that only one of the schemas has at its top."""
    fitting = [name for name in NAMES if set(document) <= members_at_top(name)]
    return fitting[0] if fitting else "report"


def documents():
    """All that was written, by the name of its schema: {file: document}."""
    by_schema = {}
    for file in FILES:
        document = json.loads(file.read_text())
        by_schema.setdefault(schema_of(document), {})[file] = document
    return by_schema


class SchemasTest(unittest.TestCase):
    def check(self, name, files, *only):
        with tempfile.NamedTemporaryFile("w", suffix=".schema.json") as schema:
            schema.write(schema_text(name))
            schema.flush()
            done = subprocess.run(["/usr/bin/python3", CHECK, *only, schema.name, *files], capture_output=True, text=True)
        if done.returncode == NOT_HERE:
            print(done.stdout, end="")
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[:4000])

    def test_there_is_json_to_look_at(self):
        self.assertGreater(len(FILES), 0, f"nothing in {FOLDER}: run the tests with the label e2e first")

    def test_all_json_that_was_written_follows_its_schema_by_ajv(self):
        for name, written in sorted(documents().items()):
            self.check(name, written, "--ajv")

    def test_all_shapes_of_it_do_by_every_validator(self):
        for name, written in sorted(documents().items()):
            chosen = with_all_shapes(written)
            print(f"{name}: {len(written)} documents, {len(chosen)} of them with all shapes")
            with tempfile.TemporaryDirectory() as folder:
                for file, document in chosen:
                    (pathlib.Path(folder) / file.name).write_text(json.dumps(document))
                self.check(name, sorted(pathlib.Path(folder).iterdir()))


def tearDownModule():
    for file in FILES:  # whatever came of it: the next run's are not to be mixed with these
        file.unlink()


if __name__ == "__main__":
    unittest.main()
