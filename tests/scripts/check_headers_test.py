#!/usr/bin/env python3
# tests/scripts/check_headers_test.py — shows check_headers.py a build of one file and a toolkit of two headers.
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_headers.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPT.parent))
spec = importlib.util.spec_from_file_location("check_headers", SCRIPT)
check_headers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_headers)


class CheckHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.old = self.header("old", "cuda.h", "#define CUDA_VERSION 11080\n")
        self.new = self.header("new", "cuda.h", "#define CUDA_VERSION 13000\nint cuNew();\n")

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def header(self, toolkit, name, text):
        return self.write(f"{toolkit}/{name}", text).parent

    def units(self, *files, options=""):
        """The units of a build of these files with the new toolkit."""
        entries = [{"file": str(self.folder / file), "directory": str(self.folder),
                    "command": f"g++ -I{self.folder} -isystem {self.new} {options} -Wall -o x.o -c {self.folder / file}"}
                   for file in files]
        self.write("build/compile_commands.json", json.dumps(entries))
        listed = check_headers.units(self.folder / "build", self.old, [(str(self.folder / "made"), str(self.folder / "ours"))])
        return [unit for unit in listed if unit[0].startswith(str(self.folder))]

    def compiled(self, text, **options):
        self.write("a.cpp", text)
        [unit] = self.units("a.cpp", **options)
        _, status, output = check_headers.compile_one(unit)
        return status, output

    def test_what_the_old_toolkit_has_compiles(self):
        self.assertEqual(self.compiled("#include <cuda.h>\nstatic_assert(CUDA_VERSION == 11080);\n"), (0, ""))

    def test_a_newer_function_does_not_compile(self):
        status, output = self.compiled("#include <cuda.h>\nint main() { return cuNew(); }\n")
        self.assertEqual(status, 1)
        self.assertIn("cuNew", output)

    def test_a_newer_function_behind_its_version_does(self):
        text = "#include <cuda.h>\n#if CUDA_VERSION >= 13000\nint a() { return cuNew(); }\n#endif\n"
        self.assertEqual(self.compiled(text), (0, ""))

    def test_what_only_newer_code_uses_is_a_warning_and_so_an_error(self):
        text = "#include <cuda.h>\nstatic int one() { return 1; }\n#if CUDA_VERSION >= 13000\nint a() { return one(); }\n#endif\n"
        status, output = self.compiled(text)
        self.assertEqual(status, 1)
        self.assertIn("defined but not used", output)

    def test_files_that_are_compiled_as_one_reach_what_each_of_them_does(self):
        inner = self.write("inner.cpp", "#include <cuda.h>\nint a() { return cuNew(); }\n")
        self.write("Unity/unity_0_cxx.cxx", f'#include "{inner}"\n')
        [unit] = self.units("Unity/unity_0_cxx.cxx")
        self.assertIn("cuNew", check_headers.compile_one(unit)[2])

    def test_programs_that_are_compiled_together_are_told_apart(self):
        text = "#include <cuda.h>\nint helper() { return %s; }\nint main() { return helper(); }\n"
        programs = [self.write("a.cu", text % "1"), self.write("b.cu", text % "cuNew()"), self.write("c.cu", text % "2")]
        self.header("old", "cuda_runtime.h", "")
        files = list(check_headers.together(programs, self.folder / "together"))
        self.assertEqual(len(files), 1)
        self.write("build/compile_commands.json", json.dumps([{"file": "x.cpp", "directory": ".", "command": "g++ -o x.o -c x.cpp"}]))
        [unit] = check_headers.units(self.folder / "build", self.old, [], programs=files)
        _, status, output = check_headers.compile_one(unit)
        self.assertEqual(status, 1)
        self.assertEqual([line for line in output.splitlines() if "error:" in line],
                         [f"{self.folder}/b.cu:2:23: error: ‘cuNew’ was not declared in this scope"])

    def test_what_the_build_compiles_with_these_headers_is_not_compiled_again(self):
        self.write("a.cpp", "#include <cuda.h>\n")
        entries = [{"file": str(self.folder / "a.cpp"), "directory": str(self.folder), "command": f"g++ {options} -o x.o -c a.cpp"}
                   for options in (f"-isystem {self.new} -Da_EXPORTS", f"-Werror -isystem {self.old} -Db_EXPORTS")]
        self.write("build/compile_commands.json", json.dumps(entries))
        theirs = check_headers.units(self.folder / "build", self.old, [])
        self.assertNotIn(str(self.folder / "a.cpp"), [unit[0] for unit in theirs])
        entries[1]["command"] = entries[1]["command"].replace("-Werror ", "")  # which a user's build lacks
        self.write("build/compile_commands.json", json.dumps(entries))
        theirs = check_headers.units(self.folder / "build", self.old, [])
        self.assertIn(str(self.folder / "a.cpp"), [unit[0] for unit in theirs])

    def test_files_are_not_compiled_again_one_by_one(self):
        inner = self.write("inner.cpp", "#include <cuda.h>\n")
        self.write("other.cpp", "#include <cuda.h>\n")
        self.write("Unity/unity_0_cxx.cxx", f'#include "{inner}"\n')
        units = self.units("inner.cpp", "other.cpp", "Unity/unity_0_cxx.cxx")
        self.assertEqual([pathlib.Path(unit[0]).name for unit in units], ["unity_0_cxx.cxx", "other.cpp"])

    def test_only_files_that_reach_a_header_are_compiled(self):
        self.write("reaches.hpp", "#pragma once\n#include <cuda.h>\n")
        self.write("circle.hpp", '#include "circle.hpp"\n#include <vector>\n')
        self.write("a.cpp", '#include "reaches.hpp"\n')
        self.write("b.cpp", '#include "circle.hpp"\n')
        self.assertEqual([unit[0] for unit in self.units("a.cpp", "b.cpp")], [str(self.folder / "a.cpp")])

    def test_a_file_of_two_targets_is_compiled_once_unless_they_define_something(self):
        self.write("a.cpp", "#include <cuda.h>\n")
        self.assertEqual(len(self.units("a.cpp", "a.cpp")), 1)
        self.assertEqual(len(self.units("a.cpp", options="-Done_EXPORTS")), 1)

    def test_the_tables_made_from_these_headers_are_taken(self):
        self.write("made/table.hpp", "#error the build's own\n")
        self.write("ours/table.hpp", "#include <cuda.h>\n")
        self.assertEqual(self.compiled('#include "table.hpp"\n', options=f"-I{self.folder / 'made'}"), (0, ""))

    def test_a_runtime_as_new_as_the_headers_has_no_tables_of_theirs(self):
        self.write("a.cpp", "#include <cuda.h>\n")
        self.assertEqual(self.units("a.cpp", options="-DSIMGPU_CUDART=11"), [])
        self.assertEqual(len(self.units("a.cpp", options="-DSIMGPU_CUDART=10")), 1)

    def test_the_corpus_is_compiled(self):
        tests = SCRIPT.parents[1] / "tests"
        files = check_headers.programs_of(tests, self.folder / "together")
        text = "".join(file.read_text() for file in files)
        corpus = [file for file in tests.glob("corpus/**/*.cu") if "#include <thrust/" not in file.read_text()]
        self.assertGreater(len(corpus), 150)
        self.assertEqual([file for file in corpus if file not in files and f'#line 1 "{file}"' not in text], [])
        self.assertLess(len(files), len(corpus) / 4)
        self.assertIn(tests / "gpu/driver_program.cpp", files)

    def test_the_product_alone_is_without_tests(self):
        entries = [{"file": str(file), "directory": str(self.folder), "command": f"g++ -isystem {self.new} -o x.o -c {file}"}
                   for file in (self.write("a.cpp", "#include <cuda.h>\n"), SCRIPT.parents[1] / "tests/gpu/driver_program.cpp")]
        self.write("build/compile_commands.json", json.dumps(entries))
        listed = [unit[0] for unit in check_headers.units(self.folder / "build", self.old, [], product=True)]
        self.assertEqual(listed, [str(self.folder / "a.cpp")])

    def test_a_folder_without_headers_is_told_and_skipped(self):
        done = subprocess.run([sys.executable, SCRIPT, self.folder, self.folder / "none"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 77)
        self.assertIn("./scripts/cuda-headers", done.stdout)


if __name__ == "__main__":
    unittest.main()
