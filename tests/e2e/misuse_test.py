# tests/e2e/misuse_test.py — wrong frees: each with the lines of the allocation, of the first free
# and of the offence.
import pathlib
import unittest

from e2e import EndToEndTest, line_of, simulated_only

SOURCE = "misuse.cpp"


@simulated_only  # what a real driver does with a wrong free is its own business, a crash included
class MisuseTest(EndToEndTest):
    def misuse(self, way):
        self.report = self.trace("misuse", way)
        self.assertEqual(len(self.report["misuse"]), 1, self.report["misuse"])
        self.assertEqual(self.report["failed_calls"], [])
        return self.report["misuse"][0]

    def assert_at(self, call, mark):
        frame = call["stack"][0]
        self.assertEqual((pathlib.Path(frame["file"] or "?").name, frame["line"]), (SOURCE, line_of(SOURCE, mark)))

    def test_a_double_free_has_three_stacks_and_a_count(self):
        misuse = self.misuse("double_free")
        self.assertEqual((misuse["kind"], misuse["calls"], misuse["bytes"]), ("double-free", 3, 1 << 20))
        self.assert_at(misuse["call"], "double_free")
        self.assert_at(misuse["allocation"], "allocation")
        self.assert_at(misuse["ended"], "first_free")
        self.assertEqual(self.report["verdict"], "clean")

    def test_a_pointer_that_nobody_allocated(self):
        misuse = self.misuse("never_allocated")
        self.assertEqual((misuse["kind"], misuse["address"]), ("never-allocated", "0x7000"))
        self.assert_at(misuse["call"], "never_allocated")
        self.assertIsNone(misuse["allocation"])

    def test_a_pointer_into_a_block(self):
        misuse = self.misuse("interior")
        self.assertEqual((misuse["kind"], misuse["offset"]), ("interior-pointer", 512))
        self.assert_at(misuse["call"], "interior")
        self.assert_at(misuse["allocation"], "allocation")

    def test_the_function_of_another_kind_of_memory(self):
        misuse = self.misuse("wrong_api")
        self.assertEqual((misuse["kind"], misuse["memory"], misuse["call"]["api"]),
                         ("wrong-api", "pinned", "cuMemFreeAsync"))
        self.assert_at(misuse["call"], "wrong_api")
        self.assert_at(misuse["allocation"], "pinned")

    def test_memory_that_went_with_its_context(self):
        misuse = self.misuse("after_context")
        self.assertEqual((misuse["kind"], misuse["ended"]["api"]), ("free-after-context", "cuCtxDestroy"))
        self.assert_at(misuse["call"], "after_context")
        self.assert_at(misuse["ended"], "context_of_block_destroyed")
        self.assert_at(misuse["allocation"], "allocation")

    def test_a_context_that_was_destroyed_before(self):
        misuse = self.misuse("context_twice")
        self.assertEqual((misuse["kind"], misuse["memory"], misuse["ended"]["api"]), ("double-free", "context", "cuCtxDestroy"))
        self.assert_at(misuse["call"], "context_twice")
        self.assert_at(misuse["ended"], "context_destroyed")
        self.assert_at(misuse["allocation"], "context")

    def test_a_run_says_it_first(self):
        done, _ = self.run_traced("misuse", "double_free")
        self.assertRegex(done.stderr, r"vramscope: WRONG FREES: 3 calls, the first a double-free, at double_free\(\) misuse\.cpp:\d+\n")


if __name__ == "__main__":
    unittest.main()
