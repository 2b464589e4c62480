# tests/e2e/look_ups_test.py — cuGetProcAddress: each name, version and flag gives our wrapper of the very function that
# the driver would give, and everything else untouched.
import re
import unittest

from e2e import DRIVER, PRELOAD, EndToEndTest, driver_names, hooked_names, needs

VERSIONS = [0, 1999, 2000, 2020, 3020, 4000, 4010, 5000, 6000, 6050, 7000, 8000, 9000, 10000, 10020, 11000, 11020, 11030,
            11040, 12000, 12020, 12050, 13000, 99000]
FLAGS = [0, 1, 2, 3, 64]  # the last two are wrong


def names_to_ask():
    """Every name that the driver exports, as it is and as cuGetProcAddress knows it."""
    plain = [re.sub(r"(_v\d+)?(_pt[sd][sz])?$", "", name) for name in driver_names()]
    return sorted({*driver_names(), *plain, "-", "cuNoSuchThing", "notCuda"})


@needs("cuGetProcAddress_v2")
class LookUpsTest(EndToEndTest):
    def ask_everything(self):
        return self.look_ups(f"{name} {version} {flags}" for name in names_to_ask() for version in VERSIONS for flags in FLAGS)

    def test_each_answer_is_the_drivers_or_our_wrapper_of_it(self):
        plain, traced = self.ask_everything()
        self.assertGreater(len(plain), 100000)
        self.assert_wrapped(plain, traced)
        entry_points = {name for name in hooked_names() if name.startswith("cu")}
        answered = {answer.partition(":")[2] for _, answer in plain if answer.startswith(DRIVER.name)}
        handed_out = {answer.partition(":")[2] for _, answer in traced if answer.startswith(PRELOAD.name)}
        self.assertEqual(handed_out, entry_points & answered)
        self.assertLessEqual(len(entry_points - answered), 3, "hooks that no look-up ever asks for")

    def test_old_versions_get_the_old_forms(self):
        for asked, name in {"cuMemAlloc 2000 0": "cuMemAlloc", "cuMemAlloc 3020 0": "cuMemAlloc_v2",
                            "cuMemAlloc 13000 2": "cuMemAlloc_v2", "cuMemFree 2020 0": "cuMemFree",
                            "cuMemAllocAsync 11020 1": "cuMemAllocAsync", "cuMemAllocAsync 12000 2": "cuMemAllocAsync_ptsz",
                            "cuGetProcAddress 11030 0": "cuGetProcAddress", "cuGetProcAddress 12000 0": "cuGetProcAddress_v2",
                            "cuDevicePrimaryCtxReset 7000 0": "cuDevicePrimaryCtxReset",
                            "cuDevicePrimaryCtxReset 11000 0": "cuDevicePrimaryCtxReset_v2"}.items():
            with self.subTest(asked):
                _, traced = self.look_ups([asked])
                self.assertEqual({answer for _, answer in traced[:3]}, {f"{PRELOAD.name}:{name}"})


if __name__ == "__main__":
    unittest.main()
