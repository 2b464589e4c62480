#!/usr/bin/env python3
# tests/scripts/cuda_headers_test.py — runs scripts/cuda-headers on a machine that is played.
import os
import shutil
import unittest

import played_machine

HEADERS = ["crt/host_defines.h", "cuda.h", "cudaTypedefs.h", "cuda_runtime.h", "nvtx3/nvToolsExt.h", "vector_types.h"]
APT = played_machine.NON_FREE_APT + """case $* in
    update*) ;;
    *show*) [[ ! -e $MACHINE/$suite.deb ]] || echo "Size: $(stat -c %s "$MACHINE/$suite.deb")" ;;
    download*) [[ ! -e $MACHINE/damaged ]] && cp "$MACHINE/$suite.deb" nvidia-cuda-dev_1_amd64.deb ;;
esac
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class CudaHeaders(played_machine.PlayedCache):
    SCRIPT = "cuda-headers"
    APT = APT

    def package(self, suite, version, headers=HEADERS):
        """A package with these headers, and a library after them."""
        files = {f"usr/include/{header}": f"#define CUDA_VERSION {version}\n" for header in headers}
        files["usr/lib/library.a"] = os.urandom(3 << 20)
        played_machine.deb(self.machine / suite, files, self.machine / f"{suite}.deb")

    def packages(self):
        self.package("bookworm", 11080)
        self.package("trixie", 12040)

    def test_the_headers_of_both_are_kept_and_nothing_else(self):
        self.packages()
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.kept(), [f"{version}/include/{header}" for version in ("11.8", "12.4") for header in HEADERS])
        self.assertEqual(os.listdir(self.machine / "tmp"), ["x"])

    def test_the_size_is_told_before_the_download(self):
        self.packages()
        self.assertIn("fetching those of CUDA 11.8: a download of 3 MB", self.fetch()[1].splitlines()[0])

    def test_only_what_is_missing_is_fetched(self):
        self.packages()
        self.fetch()
        self.assert_fetches_what_is_missing("11.8", "12.4")
        self.assertTrue((self.cache / "12.4" / "include" / "cuda.h").exists())

    def test_a_mirror_without_the_package_is_told(self):
        self.assert_gives_up("http://mirror/debian/ has no nvidia-cuda-dev in bookworm")

    def test_a_package_whose_checksum_is_wrong_is_told(self):
        self.packages()
        self.write("damaged")
        self.assert_gives_up("nvidia-cuda-dev did not come whole")

    def test_a_header_that_is_missing_is_told(self):
        self.package("bookworm", 11080, headers=HEADERS[:-1])
        self.assert_gives_up(f"nvidia-cuda-dev of bookworm has no {HEADERS[-1]}")

    def test_another_cuda_is_refused(self):
        self.package("bookworm", 12040)
        self.assert_gives_up("nvidia-cuda-dev of bookworm is another version")


if __name__ == "__main__":
    unittest.main()
