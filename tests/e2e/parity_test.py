# tests/e2e/parity_test.py — dlsym and dlvsym answer what they answer without us, but for our
# wrapper in the place of the driver's own function.
import unittest

from e2e import DRIVER, PRELOAD, PROGRAMS, EndToEndTest, hooked_names

LOADER = {"dlsym", "dlvsym", "dlclose", "_exit"}  # libc's own that we export too


class ParityTest(EndToEndTest):
    def answers(self, run, program, how, library):
        done = run(program, how, PROGRAMS / library, PROGRAMS / "libparity_foreign.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        return {tuple(line[:4]): tuple(line[4:]) for line in lines}

    def allowed(self, question, native):
        """The answers that a traced program may get where an untraced one gets `native`."""
        answer, error = native
        library, _, symbol = answer.partition(":")
        ours = (f"{PRELOAD.name}:{symbol}", error)
        if library == DRIVER.name and symbol in self.hooks:
            # From a library that comes after us RTLD_NEXT finds what comes after it: the driver itself.
            return {ours, native} if question[0] == "library" and question[2] == "next" else {ours}
        if library == "libc.so.6" and symbol in LOADER:
            return {ours, native}
        return {native}

    def test_every_look_up(self):
        self.hooks = hooked_names()
        for program in ("parity", "parity_linked"):
            for how in ("none", "local", "global", "none+foreign"):
                for library in ("libparity_library.so", "libparity_library_linked.so"):
                    with self.subTest(program=program, driver=how, library=library):
                        native = self.answers(self.plain, program, how, library)
                        traced = self.answers(self.preloaded, program, how, library)
                        self.assertEqual(native.keys(), traced.keys())
                        self.assertGreater(len(native), 200)
                        wrong = {question: (native[question], traced[question]) for question in native
                                 if traced[question] not in self.allowed(question, native[question])}
                        self.assertEqual(wrong, {})

    def test_eight_threads_with_ten_thousand_look_ups_each(self):
        for how in ("local", "global"):
            done = self.preloaded("parity", how, "-", "-", "storm")
            self.assertEqual(done.stdout, "0 wrong\n")

    def test_looking_up_writes_no_log(self):
        self.preloaded("parity", "local", PROGRAMS / "libparity_library.so", PROGRAMS / "libparity_foreign.so")
        self.assertEqual(self.logs(), [])


if __name__ == "__main__":
    unittest.main()
