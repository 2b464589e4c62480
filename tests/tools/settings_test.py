# tests/tools/settings_test.py — settings on the command line, and the pages that speak of them.
#
# tools/README.md has a table of all settings: with --write it is made from the rows of
# settings.def, the test holds it against them.
import re
import sys
import unittest

from cli import SOURCE, CliTest

TABLE = SOURCE / "tracker" / "environment" / "settings.def"
PAGE = SOURCE / "tools" / "README.md"
HEAD = "| setting | default | what it does | valid values | has an effect |\n|---|---|---|---|---|\n"
SCOPES = {"any": "always", "memory": "always", "pooled": "with a pool", "split": "with `split`"}


def rows():
    text = r'"([^"]*)",?\s*'
    found = re.findall(rf'^VRAMSCOPE_SETTING\((\w+),\s*\w+,\s*{text}{text}(\w+),\s*{text}{text}\)$', TABLE.read_text(), re.MULTILINE)
    return [row for row in found if row[3] != "inner"]


def table():
    return HEAD + "".join(f"| `{name}` | `{default}` | {help_} | {valid} | {SCOPES[scope]} |\n"
                          for _, name, default, scope, valid, help_ in rows())


def table_of_page():
    return HEAD + "".join(re.findall(r"^\| `VRAMSCOPE_\w+` \|.*\n", PAGE.read_text(), re.MULTILINE))


class Settings(CliTest):
    def test_each_row_is_read_by_this_test(self):
        self.assertEqual(len(rows()) + 1, TABLE.read_text().count("\nVRAMSCOPE_SETTING("))

    def test_the_page_has_the_rows_of_the_table(self):
        self.assertIn(table(), PAGE.read_text(), "run: python3 tests/tools/settings_test.py --write")

    def test_the_pages_name_no_setting_that_there_is_not(self):
        names = {row[1] for row in rows()} | {"VRAMSCOPE_RUN", "VRAMSCOPE_BUILD", "VRAMSCOPE_SUPPRESSIONS", "VRAMSCOPE_PAGER"}  # read by the command line alone
        for page in [SOURCE / "README.md", PAGE]:
            spoken_of = set(re.findall(r"\bVRAMSCOPE_[A-Z0-9_]*[A-Z0-9]\b", page.read_text()))
            self.assertEqual({name for name in spoken_of - names if not name.startswith("VRAMSCOPE_SIM")}, set(), page)

    def test_the_help_of_run_has_each_setting(self):
        _, text, _ = self.vramscope("run", "--help-all", env={"COLUMNS": "200"})
        for _, name, default, _, valid, help_ in rows():
            self.assertIn(f"  {name}={default}\n        {help_}\n        use {valid}\n", text)

    def test_pool_and_set_reach_the_program_and_win_over_the_environment(self):
        show = self.script("show", "#!/bin/sh\necho $VRAMSCOPE_POOL $VRAMSCOPE_LIMIT $VRAMSCOPE_STACK_DEPTH $VRAMSCOPE_POISON\n")
        given = {"VRAMSCOPE_POOL": "off", "VRAMSCOPE_STACK_DEPTH": "3", "VRAMSCOPE_POISON": "0x11"}
        self.assertEqual(self.vramscope("run", "--pool", "split", "--set", "limit=8GiB", "--set", "poison=", show, env=given)[1],
                         "split 8GiB 3\n")
        self.assertEqual(self.vramscope("run", "--pool=cache", "--set=stack_depth=9", "--", show)[1], "cache 9\n")


def write():
    text = PAGE.read_text()
    PAGE.write_text(text.replace(table_of_page(), table()))


if __name__ == "__main__":
    write() if sys.argv[1:] == ["--write"] else unittest.main()
