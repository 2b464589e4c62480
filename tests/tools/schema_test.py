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
        # Sentences that only the code had, as comments.
        "allOf/damaged/properties/address/description": "Of the block, as the program knows it.",
        "allOf/damaged/properties/bytes/description": "How many bytes are wrong.",
        "allOf/damaged/properties/offset/description": "Of the first wrong byte, from address.",
        "allOf/failed/properties/address/description": "That was to be freed, or 0x0.",
        "allOf/map/properties/handle/description": "Of physical memory.",
        "allOf/out_of_memory/description": "Follows the `failed` of an allocation: how the device's memory stood.",
        "allOf/out_of_memory/properties/free/description": "As the driver says.",
        "allOf/out_of_memory/properties/largest_gap/description": "Of the gaps in what the pool holds.",
        "allOf/out_of_memory/properties/total/description":
            "As the driver says, or the limit that was set; 0: not known.",
        "allOf/retain/description": "There is one more reference to physical memory.",
        "allOf/segment_gone/description": "A segment is the driver's again, or no longer the pool's to know.",
        "allOf/stack/properties/frames/items/properties/offset/description":
            "Address in the module's file; the address itself where module is null.",
        "allOf/trim/description": "A pool of the driver's was told to give back what it does not need.",
        # What every such line says of an entry point is said of the type, `api_id`, alone.
        **{f"allOf/{record}/properties/api/description": "With which it allocates them."
           for record in ("blocks_gone", "blocks_pending", "cut_from")},
        **{f"allOf/{record}/properties/api/description": "With which it was allocated."
           for record in ("awaited", "block_name", "size_unknown")},
        # What is said of every value of this kind.
        "allOf/trailer/properties/exit_began_ns/description": "Nanoseconds since the log was opened.",
        "allOf/trailer/properties/pending_frees/items/properties/api/description":
            "The entry point: of an api line before this one.",
        # All words of the enumeration. This one is a report's alone: an export that was stopped has no trailer.
        "allOf/trailer/properties/end/enum": ["exited", "killed", "not-read", "quick-exit", "replaced", "running",
                                              "underscore-exit", "unknown"],
    },
}


def plain(value, root):
    """The value with what its references name, with its lists in an order of their own, and its choices by the type chosen."""
    if isinstance(value, list):
        return sorted((plain(item, root) for item in value), key=json.dumps)
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = root
        for part in value["$ref"].removeprefix("#/").split("/"):
            named = named[part]
        value = {**named, **{key: inner for key, inner in value.items() if key != "$ref"}}
    choices = value.get("allOf", [])
    value = {key: plain(inner, root) for key, inner in value.items() if key not in ("$defs", "allOf")}
    if choices:
        value["allOf"] = {choice["if"]["properties"]["type"]["const"]: plain(choice["then"], root) for choice in choices}
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
