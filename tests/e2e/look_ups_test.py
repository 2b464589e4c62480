# tests/e2e/look_ups_test.py — cuGetProcAddress: each name, version and flag gives our wrapper of the very function that
# the driver would give, and everything else untouched.
#
# The list holds every name, version and flag that the real libcudart can ask for, and more; real_cudart_test.py checks
# what it then holds.
import re
import subprocess
import unittest

from e2e import DRIVER, PRELOAD, EndToEndTest, hooked_names


def driver_names():
    """Every name that the driver exports, as it is and as cuGetProcAddress knows it."""
    table = subprocess.run(["nm", "-D", "--defined-only", DRIVER], capture_output=True, text=True, check=True).stdout
    exported = [line.split()[2] for line in table.splitlines() if line.split()[2].startswith("cu")]
    plain = [re.sub(r"(_v\d+)?(_pt[sd][sz])?$", "", name) for name in exported]
    return sorted({*exported, *plain, "", "cuNoSuchThing", "notCuda"})


def wrapped(answer, hooks):
    """The driver's own function becomes ours of the same name, if it is hooked."""
    library, _, symbol = answer.partition(":")
    return f"{PRELOAD.name}:{symbol}" if library == DRIVER.name and symbol in hooks else answer


class LookUpsTest(EndToEndTest):
    def setUp(self):
        super().setUp()
        names = self.folder / "names"
        names.write_text("\n".join(driver_names()) + "\n")
        self.plain_lines = self.plain("look_ups", names).stdout.splitlines()
        self.traced_lines = self.preloaded("look_ups", names).stdout.splitlines()
        self.hooks = hooked_names()

    def test_each_answer_is_the_drivers_or_our_wrapper_of_it(self):
        self.assertGreater(len(self.plain_lines), 100000)
        expected = []
        for line in self.plain_lines:
            rest, _, answer = line.rpartition(" ")
            expected.append(f"{rest} {wrapped(answer, self.hooks)}")
        different = [pair for pair in zip(expected, self.traced_lines) if pair[0] != pair[1]]
        self.assertEqual(different[:5], [])
        self.assertEqual(len(expected), len(self.traced_lines))

    def test_each_hook_is_handed_out_by_some_look_up(self):
        handed_out = {line.rpartition(":")[2] for line in self.traced_lines if f" {PRELOAD.name}:" in line}
        entry_points = {name for name in self.hooks if name.startswith("cu")}
        # Forms so old that no version has them under the plain name.
        never = {name for name in entry_points
                 if not any(line.endswith(f" {DRIVER.name}:{name}") for line in self.plain_lines)}
        self.assertEqual(entry_points - handed_out, never)
        self.assertLessEqual(len(never), 3, never)

    def test_the_old_32_bit_form_is_handed_out_for_old_versions(self):
        def answer(name, version, flags):
            return next(line.rpartition(" ")[2] for line in self.traced_lines
                        if line.startswith(f"v2 {name} {version} {flags} "))
        ours = PRELOAD.name
        self.assertEqual(answer("cuMemAlloc", 2000, 0), f"{ours}:cuMemAlloc")
        self.assertEqual(answer("cuMemAlloc", 3020, 0), f"{ours}:cuMemAlloc_v2")
        self.assertEqual(answer("cuMemAlloc", 13000, 2), f"{ours}:cuMemAlloc_v2")
        self.assertEqual(answer("cuMemAllocAsync", 11020, 1), f"{ours}:cuMemAllocAsync")
        self.assertEqual(answer("cuMemAllocAsync", 12000, 2), f"{ours}:cuMemAllocAsync_ptsz")
        self.assertEqual(answer("cuGetProcAddress", 11030, 0), f"{ours}:cuGetProcAddress")
        self.assertEqual(answer("cuGetProcAddress", 12000, 0), f"{ours}:cuGetProcAddress_v2")
        self.assertEqual(answer("cuDevicePrimaryCtxReset", 7000, 0), f"{ours}:cuDevicePrimaryCtxReset")


if __name__ == "__main__":
    unittest.main()
