#!/usr/bin/env python3
# tests/scripts/nvidia_drivers_test.py — runs scripts/nvidia-drivers on a machine that is played.
import os
import shutil
import unittest

import played_machine

RUNTIMES = {"bookworm": ("libcudart11.0", "libcudart.so.11.0"), "trixie": ("libcudart12", "libcudart.so.12")}
APT = played_machine.NON_FREE_APT + """[[ $1 == download ]] || exit 0
[[ ! -e $MACHINE/damaged ]] || exit 100
for package in "${@:5}"; do
    cp "$MACHINE/$suite-$package.deb" "$package.deb" || exit
done
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class NvidiaDrivers(played_machine.PlayedCache):
    SCRIPT = "nvidia-drivers"
    APT = APT

    def setUp(self):
        super().setUp()
        for suite, (package, runtime) in RUNTIMES.items():
            self.package(suite, package, f"usr/lib/{runtime}")
            self.package(suite, "libnvidia-ml1", "usr/lib/libnvidia-ml.so.1")
            self.package(suite, "libcuda1", "usr/lib/nvidia/current/libcuda.so.1")

    def package(self, suite, name, library):
        files = {library: f"{name} of {suite}", "usr/share/doc/copyright": "NVIDIA's"}
        played_machine.deb(self.machine / f"{suite}-{name}", files, self.machine / f"{suite}-{name}.deb")

    def test_the_libraries_of_both_are_kept_and_nothing_else(self):
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.kept(), [f"{suite}/{library}" for suite, (_, runtime) in RUNTIMES.items()
                                       for library in ("libcuda.so.1", runtime, "libnvidia-ml.so.1")])
        self.assertEqual((self.cache / "trixie" / "libcuda.so.1").read_text(), "libcuda1 of trixie")
        self.assertEqual(os.listdir(self.machine / "tmp"), ["x"])

    def test_the_size_is_told_before_the_download(self):
        self.assertIn("fetching the driver and the runtime of bookworm: a download of 4 MB", self.fetch()[1].splitlines()[0])

    def test_only_what_is_missing_is_fetched(self):
        self.fetch()
        self.assert_fetches_what_is_missing("bookworm", "trixie")
        self.assertTrue((self.cache / "trixie" / "libcuda.so.1").exists())

    def test_a_package_that_is_not_there_or_damaged_is_told(self):
        self.write("damaged")
        self.assert_gives_up("libcuda1 libnvidia-ml1 libcudart11.0 did not come whole from http://mirror/debian/")

    def test_a_library_that_is_missing_is_told(self):
        shutil.rmtree(self.machine / "bookworm-libcuda1")
        self.package("bookworm", "libcuda1", "usr/lib/libcuda.so.2")
        self.assert_gives_up("its packages have no libcuda.so.1")


if __name__ == "__main__":
    unittest.main()
