#!/usr/bin/env python3
# tests/scripts/check_layers_test.py — plants includes in a small tree and looks whether
# check_layers.py finds them.
import pathlib
import runpy
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_layers.py"


class CheckLayers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("tracker/format/layout.hpp", "#pragma once\n")
        self.write("report/log/reader.cpp", '#include "tracker/format/layout.hpp"\n#include <vector>\n')

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self):
        done = subprocess.run([sys.executable, SCRIPT, self.root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_allowed_includes_pass(self):
        status, output = self.check()
        self.assertEqual(status, 0, output)
        self.assertIn("2 files, 0 wrong", output)

    def test_an_include_against_the_flow_of_data_fails_with_its_line(self):
        self.write("tracker/format/wrong.hpp", '#pragma once\n\n#include "report/log/reader.hpp"\n')
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("tracker/format/wrong.hpp:3:", output)
        self.assertIn("tracker/format may not include report/log", output)

    def test_report_may_not_see_interpose(self):
        self.write("report/log/wrong.cpp", '#include "interpose/hooks/effect.hpp"\n')
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("report/log may not include interpose/hooks", output)

    def test_the_floors_of_serve_hold(self):
        for folder, upper in (("contexts", "interpose/serve/pools"), ("contexts", "interpose/serve"), ("pools", "interpose/serve")):
            with self.subTest(folder=folder, upper=upper):
                wrong = f"interpose/serve/{folder}/wrong.cpp"
                self.write(wrong, f'#include "{upper}/any.hpp"\n')
                status, output = self.check()
                self.assertEqual(status, 1)
                self.assertIn(f"{wrong}:1:", output)
                self.assertIn(f"interpose/serve/{folder} may not include {upper}\n", output)
                self.write(wrong, '#include "interpose/serve/contexts/any.hpp"\n')
                self.assertEqual(self.check()[0], 0)

    def test_two_types_of_one_name_fail(self):
        text = "#pragma once\n\nnamespace vramscope::report {\n\nclass Sums final : public Base {\n};\n\n} // namespace vramscope::report\n"
        self.write("report/log/sums.hpp", text)
        self.write("report/words/sums.hpp", text.replace("Sums", "Sums_").replace("class", "class Sums; // elsewhere\nstruct"))
        self.write("report/words/sums.cpp", text.replace("report {\n", "report {\nnamespace {\n").replace("} // n", "} // namespace\n} // n"))
        self.assertEqual(self.check()[0], 0, self.check()[1])
        self.write("report/words/more.cpp", text)
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("report/words/more.cpp:5: vramscope::report::Sums is defined in report/log/sums.hpp too\n", output)

    def test_nobody_includes_tests(self):
        self.write("tests/support/log_builder.hpp", "#pragma once\n")
        self.write("report/log/wrong.cpp", '#include "tests/support/log_builder.hpp"\n')
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("report/log may not include tests", output)

    def test_a_third_party_header_outside_its_layer_fails(self):
        self.write("report/log/wrong.cpp", "#include <nlohmann/json.hpp>\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("belongs in report/json", output)

    def test_what_one_file_does_for_all_is_done_nowhere_else(self):
        self.write("tracker/format/size_text.hpp", "constexpr const char* kLetters = \"KMGT\";\n")
        self.assertEqual(self.check()[0], 0)
        self.write("report/read/wrong.cpp", "int unit(char c)\n{\n    return c == 'K' ? 10 : 0;\n}\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("report/read/wrong.cpp:3: 'K': only size_text.hpp does this by hand", output)

    def test_an_include_relative_to_its_own_folder_fails(self):
        self.write("tracker/format/wrong.hpp", '#include "layout.hpp"\n')
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("not written from the repository's root", output)

    def test_a_generated_header_without_a_folder_passes(self):
        self.write("tools/simgpu/driver/base/lookup.cpp", '#include "api.hpp"\n')
        self.assertEqual(self.check()[0], 0)

    def test_a_folder_without_a_row_fails(self):
        self.write("tracker/surprise/new.cpp", "int x;\n")
        status, output = self.check()
        self.assertEqual(status, 1)
        self.assertIn("tracker/surprise/new.cpp: its folder has no row", output)

    def test_no_two_folders_may_include_each_other(self):
        layers = runpy.run_path(str(SCRIPT))["LAYERS"]
        both = [(one, other) for one, row in layers.items() for other in row if one in layers.get(other, [])]
        self.assertEqual(both, [])

    def test_a_tree_without_sources_fails(self):
        with tempfile.TemporaryDirectory() as empty:
            self.assertEqual(subprocess.run([sys.executable, SCRIPT, empty], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
