#!/usr/bin/env python3
# tests/tools/schema_test.py — the schemas that are printed say what their golden copies say, but for what is listed here.
#
# They are made when they are asked for, of the rows and records that are written: so a change of those is seen here.
import fnmatch
import json
import re
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


# The same of the schemas that are made of a report's rows: {name: {ending of a path: value}}, where a path has the names of the
# members alone, and * is any part of it.
ANY = object()
HEX = "^0x[0-9a-f]+$"  # and no "0", which never was written
FRAMES = {
    "stack/offset/pattern": HEX,
    "stack/description": ANY,  # a stack and its frames say in all documents what they are
    "fingerprint/pattern": "^[0-9a-f]{16}$",  # which some rows did not say
    "fingerprint/description": ANY,
}
OF_ROWS = {
    "report": {
        **FRAMES,
        "frame/offset/pattern": HEX,
        "address/pattern": HEX,
        # Only suppressed leaks have it: before, all leaks could have had it.
        "suppression": GONE,
        "suppressed/*suppression/description": ANY,
        # A number is there wherever the object is.
        "unusable_for_largest_request/type": "number",
        "unusable_mean/type": "number",
        # All 121 numbers by their names, which a pattern and their count stood for.
        "memory_stats/*": ANY,
        # A span says of a device's memory what it says of the pool's.
        "timeline/*/description": ANY,
        "free_at_end/description": ANY,
        "free_at_pool_peak/description": ANY,
        "failed_calls/process/description": "Index into processes.",
    },
    "check": {**FRAMES, "stack/*/description": ANY},
    "diff": {**FRAMES, "stack/*/description": ANY,
             "description": "The stack is as it is in the newer run; of what is gone, as in the older."},
    "plan": {
        **{path: value for path, value in FRAMES.items() if path != "stack/offset/pattern"},
        "stack/*/description": ANY,
        "stack_cut/description": ANY,
        "stack/line/minimum": 1,  # 0 was never written
    },
}


def merged(parts):
    """Schemas that all hold, as one: what is required, and what the members are."""
    whole = {}
    for part in parts:
        for key, value in part.items():
            if key == "required":
                whole[key] = sorted({*whole.get(key, []), *value})
            elif key == "properties":
                whole[key] = {**whole.get(key, {}), **value}
            elif key != "description":
                whole[key] = value
    return whole


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
    parts = value.get("allOf", [])
    value = {key: plain(inner, root) for key, inner in value.items() if key not in ("$defs", "allOf")}
    if parts and all("if" in part for part in parts):
        value["allOf"] = {part["if"]["properties"]["type"]["const"]: plain(part["then"], root) for part in parts}
    elif parts:
        value = {**value, **merged([*(plain(part, root) for part in parts), value])}
    either = value.get("anyOf", value.get("oneOf", []))
    if len(either) == 2 and {"type": "null"} in either:  # another way to write that it may be null
        known = next(inner for inner in either if inner != {"type": "null"})
        value = {**known, **{key: inner for key, inner in value.items() if key not in ("anyOf", "oneOf")}}
        if "enum" in known:
            value["enum"] = sorted([*known["enum"], None], key=json.dumps)
        if "type" in known:
            value["type"] = sorted({"null", *([known["type"]] if isinstance(known["type"], str) else known["type"])})
    return value


def without_versions(value):
    """Without the sentences "Since 1.6.", which are made of a number now, and were told for several members at once."""
    if isinstance(value, list):
        return [without_versions(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: without_versions(inner) for key, inner in value.items()}
    if isinstance(value.get("description"), str):
        value["description"] = re.sub(r" ?Since (version )?1\.\d(\.0)?(, [^.]*)?\.", "", value["description"]).strip()
        if not value["description"]:
            del value["description"]
    return value


def of_rows(schema):
    """What is compared of a schema that is made of rows: what can be reached from its head."""
    schema = without_versions(schema)
    return {key: inner for key, inner in plain(schema, schema).items() if key != "$defs"}


def differences(before, now, path=""):
    """{path: what is there now} of all that is not the same."""
    if isinstance(before, dict) and isinstance(now, dict):
        found = {}
        for key in before.keys() | now.keys():
            inner = f"{path}/{key}" if path else key
            found |= differences(before.get(key), now.get(key), inner)
        return found
    return {} if before == now else {path: now}


def ending_of(path):
    """The path by the names of members alone."""
    return "/".join(part for part in path.split("/") if part not in ("properties", "items"))


def unlisted(found, listed):
    """Those of the differences that no ending of a path lists; and the endings that list none."""
    unused, rest = set(listed), {}
    for path, now in found.items():
        fitting = [ending for ending in listed
                   if fnmatch.fnmatchcase(f"/{ending_of(path)}", f"*/{ending}") and listed[ending] in (ANY, now)]
        unused -= set(fitting)
        if not fitting:
            rest[path] = now
    return rest, unused


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
                if name in DIFFERENCES:
                    self.assertEqual(differences(plain(golden, golden), plain(now, now)), DIFFERENCES[name])
                else:
                    self.assertEqual(unlisted(differences(of_rows(golden), of_rows(now)), OF_ROWS[name]), ({}, set()))

    def test_an_unknown_schema_is_refused_with_those_that_are_known(self):
        status, out, errors = self.vramscope("schema", "nothing")
        self.assertEqual((status, out), (125, ""))
        self.assert_one_line(errors, "no schema nothing", "report, events")


if __name__ == "__main__":
    unittest.main()
