# tests/e2e/frameworks/bindings_test.py — what doctor says of a log: which allocators told of their
# blocks, and how often.
import unittest

from framework import PROGRAMS, VRAMSCOPE, EndToEndTest


class BindingsTest(EndToEndTest):
    def test_pytorchs_hook_is_counted(self):
        report = self.trace("torch_program", PROGRAMS / "libtorch_allocator.so", "cache_alone")
        self.assertEqual([(use["name"], use["told_of_blocks"], use["told_of_returns"])
                          for use in report["processes"][0]["frameworks"]], [("PyTorch", 5, 5)])
        lines = self.execute(VRAMSCOPE, "doctor", *self.logs()).stdout.splitlines()
        self.assertIn("ok    PyTorch: its allocator is heard, of blocks handed out 5 times, taken back 5 times", lines)


if __name__ == "__main__":
    unittest.main()
