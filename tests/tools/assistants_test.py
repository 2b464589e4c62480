#!/usr/bin/env python3
# tests/tools/assistants_test.py — what the page for assistants names is there: commands, options, members, statuses.
import json
import re
import shlex
import unittest

from cli import SOURCE, CliTest

PAGE = SOURCE / "tools" / "ASSISTANTS.md"
MOST_LINES = 80  # one page
SCHEMAS = {"run": "report", "check": "check", "diff": "diff", "plan": "plan"}  # of what --json writes; else a report


def rows(heading):
    """Of the table below this heading, without its head."""
    text = PAGE.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    table = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def codes(text):
    return re.findall(r"`([^`]+)`", text)


class Schema:
    def __init__(self, text):
        self.all = json.loads(text)

    def inner(self, place):
        """What a value may be: references are followed, and null is left out."""
        if "$ref" in place:
            return self.inner(self.all["$defs"][place["$ref"].rpartition("/")[2]])
        if "anyOf" in place:
            return [one for part in place["anyOf"] for one in self.inner(part)]
        return [place]

    def has(self, path):
        """As in leaks[].stack[].line."""
        places = [self.all]
        for part in path.split("."):
            name = part[:-2] if part.endswith("[]") else part
            places = [one for place in places for one in self.inner(place.get("properties", {}).get(name, {})) if one]
            if part.endswith("[]"):
                places = [one for place in places for one in self.inner(place.get("items", {})) if one]
        return bool(places)


class Assistants(CliTest):
    def help_of(self, command):
        status, out, errors = self.vramscope(command, "--help")
        self.assertEqual(status, 0, errors)
        return out

    def test_it_is_one_page(self):
        self.assertLessEqual(len(PAGE.read_text().splitlines()), MOST_LINES)

    def test_every_command_and_option_is_there(self):
        text = PAGE.read_text()
        typed = [code for code in codes(text) if code.startswith("vramscope ")]
        self.assertGreater(len(typed), 15)
        for code in typed:
            words = shlex.split(code)
            known = self.help_of(words[1])
            for option in (word for word in words[2:] if re.match(r"--?\w", word)):
                self.assertRegex(known, rf"(^|[\s,]){re.escape(option)}[\s,]", code)
        for option in re.findall(r"`(--[\w-]+)", text):  # of several commands
            self.assertIn(option, self.help_of("run"))

    def test_every_member_is_in_the_schema_of_what_its_command_writes(self):
        schemas = {name: Schema(self.vramscope("schema", name)[1]) for name in ("report", "check", "diff", "plan")}
        schema, seen = None, 0
        for question, command, members in rows("Which command answers which question"):
            if found := re.match(r"`vramscope (\w+)", command):
                schema = schemas[SCHEMAS.get(found[1], "report")]
            for member in codes(members):
                self.assertTrue(schema.has(member), f"{question}: {member}")
                seen += 1
        self.assertGreater(seen, 30)
        self.assertFalse(schemas["report"].has("leaks[].stack[].lines"))  # the walk would tell

    def test_the_statuses_are_those_of_the_commands(self):
        told = {row[0] for row in rows("How they end")}
        self.assertEqual(told, {"the program's own", "0", "100", "101", "110", "111", "120", "125"})
        of_tools = (SOURCE / "tools/README.md").read_text().split("## Exit status\n")[1].split("\n## ")[0]
        for status in told - {"the program's own"}:
            self.assertIn(f"\n| {status} |", of_tools)


if __name__ == "__main__":
    unittest.main()
