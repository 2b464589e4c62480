# tests/torch/page_test.py — the page of real PyTorch's logs: what leaked, and what memory ran out
# for, by lines of Python.
import sys

from torch_root import ROOT, REAL, SOURCE, TorchTest, main

sys.path.insert(0, str(SOURCE / "tests" / "oracle"))
from pages import Pages, why_no_pages  # noqa: E402


class PageOfTorch(Pages, TorchTest):
    def told_of(self, program, **environment):
        self.run_traced(program, **environment)
        names = () if REAL else ("--sysroot", ROOT)
        return self.drive(self.page_of(self.folder / "run.vsl", options=names))

    def test_of_a_leak_shows_the_lines_the_allocator_and_its_segments(self):
        told = self.told_of("leaks.py", VRAMSCOPE_POOL="off")
        self.assertEqual(told["verdict"], "Leaks")
        self.assertRegex(told["lead"], r"^[0-9.]+ MiB in ")
        self.assertEqual(set(told["leaks"]), {"train", "fails", "looks_up", "Hooked.__init__"})
        self.assertIn("kept by allocators", " ".join(told["waterfall"]))
        self.assertGreater(told["strips"], 0)
        self.assertIn("looks_up", " ".join(told["map"]["owners"]))
        self.assertIn("leaks.py:", told["places"][0])

    def test_of_a_shortage_says_that_memory_ran_out_and_where(self):
        told = self.told_of("shortage.py", VRAMSCOPE_POOL="off")
        self.assertIn("shortages", told["sections"])
        self.assertEqual(told["leaks"], [])


if __name__ == "__main__":
    if why_no_pages():
        print(f"SKIPPED: {why_no_pages()}")
        sys.exit(77)
    main()
