#!/usr/bin/env python3
# tests/tools/schema_test.py — the schemas that are printed say what their golden copies say, but for what is listed here.
#
# They are made when they are asked for, of the rows and records that are written: so a change of those is seen here.
import json
import unittest

from cli import SOURCE, CliTest

GOLDEN = SOURCE / "tests" / "golden" / "schemas"
GONE = None

# Where a schema says something else than its golden copy, and what; {name: {path: value}}. A reference counts as what it names,
# and lists whose order means nothing are compared as sets.
DIFFERENCES = {
    "events": {
        # These are said inside of what had a reference to them.
        "$defs/frame": GONE,
        "$defs/text_or_null": GONE,
        # Sentences that only the code had, as comments.
        "$defs/damaged/properties/address/description": "Of the block, as the program knows it.",
        "$defs/damaged/properties/bytes/description": "How many bytes are wrong.",
        "$defs/damaged/properties/offset/description": "Of the first wrong byte, from address.",
        "$defs/failed/properties/address/description": "That was to be freed, or 0x0.",
        "$defs/map/properties/handle/description": "Of physical memory.",
        "$defs/out_of_memory/description": "Follows the `failed` of an allocation: how the device's memory stood.",
        "$defs/out_of_memory/properties/free/description": "As the driver says.",
        "$defs/out_of_memory/properties/largest_gap/description": "Of the gaps in what the pool holds.",
        "$defs/out_of_memory/properties/total/description":
            "As the driver says, or the limit that was set; 0: not known.",
        "$defs/retain/description": "There is one more reference to physical memory.",
        "$defs/segment_gone/description": "A segment is the driver's again, or no longer the pool's to know.",
        "$defs/trim/description": "A pool of the driver's was told to give back what it does not need.",
        # What is said of every value of this kind.
        "$defs/trailer/properties/exit_began_ns/description": "Nanoseconds since the log was opened.",
        "$defs/trailer/properties/pending_frees/items/properties/api/description":
            "The entry point: of an api line before this one.",
        # All words of the enumeration. This one is a report's alone: an export that was stopped has no trailer.
        "$defs/trailer/properties/end/enum": ["exited", "killed", "not-read", "quick-exit", "replaced", "running",
                                              "underscore-exit", "unknown"],
    },
}


def plain(value, root):
    """The value with what its references name, and with its lists in an order of their own. The branches of a choice stay."""
    if isinstance(value, list):
        return sorted((plain(item, root) for item in value), key=json.dumps)
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = root
        for part in value["$ref"].removeprefix("#/").split("/"):
            named = named[part]
        value = {**named, **{key: inner for key, inner in value.items() if key != "$ref"}}
    value = {key: inner if key == "then" and "$ref" in inner else plain(inner, root) for key, inner in value.items()}
    either = value.get("anyOf", [])
    if len(either) == 2 and {"type": "null"} in either:  # another way to write a list of types
        known = next(inner for inner in either if inner != {"type": "null"})
        value = {**known, **value, "type": sorted([known["type"], "null"])}
        del value["anyOf"]
    return value


def differences(before, now, path=""):
    """{path: what is there now} of all that is not the same."""
    if isinstance(before, dict) and isinstance(now, dict):
        found = {}
        for key in before.keys() | now.keys():
            inner = f"{path}/{key}" if path else key
            found |= differences(before.get(key), now.get(key), inner)
        return found
    return {} if before == now else {path: now}


class SchemaTest(CliTest):
    def printed(self, name):
        status, out, errors = self.vramscope("schema", name)
        self.assertEqual((status, errors), (0, ""))
        return json.loads(out)

    def test_each_says_what_its_golden_copy_says(self):
        for path in GOLDEN.glob("*.schema.json"):
            name = path.name.partition(".")[0]
            with self.subTest(name):
                golden, now = json.loads(path.read_text()), self.printed(name)
                self.assertEqual(differences(plain(golden, golden), plain(now, now)), DIFFERENCES[name])

    def test_an_unknown_schema_is_refused_with_those_that_are_known(self):
        status, out, errors = self.vramscope("schema", "nothing")
        self.assertEqual((status, out), (125, ""))
        self.assert_one_line(errors, "no schema nothing", "report, events")


if __name__ == "__main__":
    unittest.main()
