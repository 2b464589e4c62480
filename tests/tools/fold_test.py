# tests/tools/fold_test.py — --fold, and the file that has what a project always wants.
import json
import unittest

from cli import BUILD, CliTest

PROGRAM = BUILD / "bin" / "corpus" / "leak_helper_of_two_callers"


class FoldTest(CliTest):
    def setUp(self):
        super().setUp()
        self.vramscope("run", "--simulate", "1GiB", "-o", "run.vsl", PROGRAM)

    def headlines(self, *options):
        status, stdout, stderr = self.vramscope("leaks", "--json", "-", *options, "run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        return [row["stack"][row.get("own", 0)]["function"] for row in json.loads(stdout)["leaks"]]

    def test_rows_are_named_by_the_callers_of_what_is_folded(self):
        self.assertEqual(self.headlines(), ["take()", "take()"])
        self.assertEqual(self.headlines("--fold", "^take"), ["first()", "second()"])
        self.assertEqual(self.headlines("--fold", "take", "--fold", "first|second"), ["main", "main"])

    def test_the_next_command_has_it_too(self):
        _, stdout, _ = self.vramscope("leaks", "--fold", "^take", "run.vsl")
        self.assertIn("Next: vramscope report --fold '^take' run.vsl", stdout)

    def test_a_wrong_expression_is_one_line(self):
        status, _, stderr = self.vramscope("leaks", "--fold", "take(", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "--fold 'take(': this is no regular expression")

    def test_a_projects_file_is_found_without_an_option(self):
        project = self.folder / ".vramscope"
        project.write_text("# of this project\n\nfold ^take\nsuppressions known.supp\n")
        (self.folder / "known.supp").write_text("leak:second\n")
        project.chmod(0o644)
        self.assertEqual(self.headlines(), ["first()"])

    def test_of_a_projects_file_a_wrong_line_is_named(self):
        (self.folder / ".vramscope").write_text("fold take\nfold\n")
        status, _, stderr = self.vramscope("leaks", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, ".vramscope:2: 'fold': write fold REGEX, suppressions FILE, path-map OLD=NEW or source-url URL")

    def test_a_file_that_others_can_write_is_not_read(self):
        project = self.folder / ".vramscope"
        project.write_text("fold take\n")
        project.chmod(0o666)
        status, stdout, stderr = self.vramscope("leaks", "--json", "-", "run.vsl")
        self.assertEqual(status, 0)
        self.assertIn(".vramscope is not read", stderr)
        self.assertNotIn('"own"', stdout)


if __name__ == "__main__":
    unittest.main()
