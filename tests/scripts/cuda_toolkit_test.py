#!/usr/bin/env python3
# tests/scripts/cuda_toolkit_test.py — runs scripts/cuda-toolkit on a machine that is played.
import os
import pathlib
import shutil
import tempfile
import unittest

from played_machine import PlayedMachine, deb

NVCC = """#!/bin/sh
echo "Cuda compilation tools, release 11.8, V11.8.89"
"""
LIB = "usr/lib/x86_64-linux-gnu"
PACKAGES = {
    "nvidia-cuda-toolkit": {
        **{f"usr/bin/{name}": "" for name in ("nvcc", "nvlink", "ptxas", "fatbinary", "bin2c", "cudafe++", "nvdisasm")},
        "usr/lib/nvidia-cuda-toolkit/bin/nvcc": NVCC, "usr/lib/nvidia-cuda-toolkit/bin/cicc": "",
        "usr/lib/nvidia-cuda-toolkit/bin/crt/link.stub": "", "usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc": "",
        "usr/share/doc/nvidia-cuda-toolkit/copyright": "NVIDIA's licence"},
    "nvidia-cuda-dev": {
        "usr/include/cuda.h": "", f"{LIB}/libcublas_static.a": "large", f"{LIB}/libcudadevrt.a": "", f"{LIB}/libcudart_static.a": "",
        f"{LIB}/stubs/libcuda.so": "", f"{LIB}/stubs/libcublas.so": "", f"{LIB}/libcudart.so": "", f"{LIB}/libnvToolsExt.so": ""},
    "libcudart11.0": {f"{LIB}/libcudart.so.11.0": ""},
    "libnvtoolsext1": {f"{LIB}/libnvToolsExt.so.1": ""},
}
APT = r"""#!/bin/bash
cd "$MACHINE"
[[ ${0##*/} == apt-get ]] && echo "apt-get $*" >>log
non_free() { [[ -e multiverse ]] || { [[ -e updated ]] && grep -q ' bookworm non-free$' "$(sed -n 's/.*sourcelist "\(.*\)";/\1/p' "${APT_CONFIG-/dev/null}")"; }; }
case "${0##*/} $1" in
    "apt-get update")
        [[ $2 == --print-uris ]] && echo "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 " && exit
        [[ -e offline ]] && exit 100; touch updated ;;
    "apt-cache policy") non_free && [[ ! -e empty ]] && echo "  Candidate: 11.8.89~11.8.0-5~deb12u1" || echo "  Candidate: (none)" ;;
    "apt-cache depends")
        [[ $2 == nvidia-cuda-dev ]] && printf '  Depends: %s\n' libcudart11.0 libcublas11 libnvtoolsext1 || printf ' |Depends: <%s>\n' g++-11 clang-14 ;;
    "apt-get download")
        cd - >/dev/null
        if [[ $2 == --print-uris ]]; then
            for p in "${@:3}"; do echo "'http://mirror/$p' $p.deb 200000000 SHA256:0"; done
        else
            [[ -e $MACHINE/broken ]] && echo "E: Failed to fetch http://mirror/x.deb  Hash Sum mismatch" >&2 && exit 100
            for p in "${@:3}"; do cp "$MACHINE/packages/${p}"_1_all.deb .; done
        fi ;;
esac
"""


class CudaToolkit(PlayedMachine):
    SCRIPT = "cuda-toolkit"
    APT = APT

    @classmethod
    def setUpClass(cls):
        if not shutil.which("dpkg-deb"):
            raise unittest.SkipTest("no dpkg-deb here")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.packages = pathlib.Path(folder.name)
        for name, files in PACKAGES.items():
            deb(cls.packages / name, files, cls.packages / f"{name}_1_all.deb")

    def setUp(self):
        super().setUp()
        self.cache = self.machine / "cache"
        (self.machine / "packages").symlink_to(self.packages)

    def toolkit(self, *options):
        return self.run_script(*options, VRAMSCOPE_CUDA=str(self.cache))

    def assert_gives_up(self, why):
        status, output = self.toolkit()
        self.assertEqual((status, output.splitlines()[-1]), (1, f"cuda-toolkit: {why}"))
        self.assertEqual(os.listdir(self.cache), [])

    def test_the_plan_tells_version_download_and_compiler_and_fetches_nothing(self):
        self.assertEqual(self.toolkit("--plan"), (0, "11.8 800 g++-11\n"))
        self.assertEqual(os.listdir(self.cache), [])

    def test_what_a_build_needs_is_where_cmake_and_nvcc_look_for_it(self):
        status, output = self.toolkit()
        self.assertEqual(status, 0, output)
        self.assertEqual(os.listdir(self.cache), ["11.8"])
        new = self.cache / "11.8"
        for name in ["bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/crt/link.stub", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc",
                     "include/cuda.h", "lib64/libcudart_static.a", "lib64/libcudadevrt.a", "lib64/libcudart.so.11.0",
                     "lib64/stubs/libcuda.so", "glibc/bits/mathcalls.h", "copyright"]:
            self.assertTrue((new / name).exists(), name)
        self.assertEqual(os.readlink(new / "host/g++"), "/usr/bin/g++-11")
        self.assertEqual(os.readlink(new / "host/gcc"), "/usr/bin/gcc-11")
        profile = (new / "bin/nvcc.profile").read_text()
        for folder in ["$(TOP)/host:", '"-I$(TOP)/include" "-I$(TOP)/glibc"', '"-L$(TOP)/lib64/stubs"', "$(TOP)/nvvm/libdevice"]:
            self.assertIn(folder, profile)

    def test_nothing_else_is_kept(self):
        self.toolkit()
        self.assertEqual([str(path) for name in ("*cublas*", "*.deb", "nvdisasm") for path in self.cache.rglob(name)], [])

    def test_no_package_is_cut_short_or_installed(self):
        self.toolkit()
        commands = self.log()
        self.assertIn("apt-get download -qq nvidia-cuda-toolkit nvidia-cuda-dev libcudart11.0 libnvtoolsext1", commands)
        self.assertNotIn("install", commands)

    def test_a_system_that_lists_the_toolkit_is_asked_as_it_is(self):
        (self.machine / "multiverse").touch()
        self.assertEqual(self.toolkit("--plan")[0], 0)
        self.assertNotIn("update -qq", self.log())

    def test_without_network_one_line_says_so(self):
        (self.machine / "offline").touch()
        self.assert_gives_up("no network: apt cannot reach http://mirror/debian/")

    def test_a_mirror_without_it_is_told(self):
        (self.machine / "empty").touch()
        self.assert_gives_up("http://mirror/debian/, the mirror that apt uses, has no nvidia-cuda-toolkit in non-free")

    def test_a_package_that_does_not_come_whole_leaves_nothing(self):
        (self.machine / "broken").touch()
        self.assert_gives_up("the download failed: E: Failed to fetch http://mirror/x.deb  Hash Sum mismatch")

    def test_another_system_without_it_is_told(self):
        (self.machine / "root/etc/os-release").write_text("ID=other\nVERSION_CODENAME=bookworm\n")
        self.assert_gives_up("apt knows no nvidia-cuda-toolkit")

    def test_an_unknown_option_is_refused(self):
        self.assertEqual(self.toolkit("--frobnicate")[0], 125)


if __name__ == "__main__":
    unittest.main()
