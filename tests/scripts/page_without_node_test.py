#!/usr/bin/env python3
# tests/scripts/page_without_node_test.py — where node or npm cannot make the page, the build goes
# on, and says why.
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(tiny CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH OFF)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH OFF)
include(scripts/cmake/page.cmake)
add_executable(tiny main.cpp)
target_include_directories(tiny PRIVATE ${PROJECT_SOURCE_DIR})
vramscope_page(tiny)
"""
PROGRAM = """
#include "report/page/template.hpp"
#include <iostream>
int main() { std::cout << vramscope::report::page_template().size() << ' ' << vramscope::report::why_no_page(); }
"""


class PageWithoutNode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("report", "scripts"):
            (self.folder / name).symlink_to(SOURCE / name)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        (self.folder / "main.cpp").write_text(PROGRAM)

    def configured(self, *options):
        return subprocess.run(["cmake", "-S", self.folder, "-B", self.folder / "build", *options], capture_output=True, text=True)

    def assert_is_left_out(self, problem, *options):
        made = self.configured(*options)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertIn(f"HTML pages: left out, as {problem}; all else works", made.stdout)
        subprocess.run(["cmake", "--build", self.folder / "build"], check=True, capture_output=True)
        said = subprocess.run([self.folder / "build/tiny"], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, f"0 {problem}")
        refused = self.configured(*options, "-DVRAMSCOPE_HTML=ON")
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(f"VRAMSCOPE_HTML is ON, but {problem}", " ".join(refused.stderr.split()))

    def test_no_node(self):
        self.assert_is_left_out("there is no node")

    def test_npm_that_fails(self):
        self.assert_is_left_out("npm could not install what they are built with (npm ci: 1)", "-DVRAMSCOPE_NODE=/bin/true",
                                "-DVRAMSCOPE_NPM=/bin/false")


if __name__ == "__main__":
    unittest.main()
