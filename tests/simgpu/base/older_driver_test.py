# tests/simgpu/base/older_driver_test.py — VRAMSCOPE_SIM_CUDA: the simulated driver as one
# of an older CUDA.
#
# Programs find functions by cuGetProcAddress or by dlsym, as Numba does: it takes the newest name
# that it finds, and calls it as it knows it. Each question is asked in a process of its own, alone
# and under the tracer.
import os
import pathlib
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["VRAMSCOPE_BUILD"])
DRIVER = BUILD / "lib" / "vramscope" / "simgpu" / "libcuda.so.1"
PRELOAD = BUILD / "lib" / "libvramscope.so"
ASK = """
import ctypes, sys
driver = ctypes.CDLL(sys.argv[1])
version = ctypes.c_int()
assert driver.cuDriverGetVersion(ctypes.byref(version)) == 0
def has(name):
    return hasattr(driver, name)
def asked(name, wanted):
    found, status = ctypes.c_void_p(), ctypes.c_int(-1)
    result = driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), wanted, ctypes.c_ulonglong(0), ctypes.byref(status))
    return result, bool(found.value), status.value
def same(name, wanted, exported):
    found = ctypes.c_void_p()
    driver.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), wanted, ctypes.c_ulonglong(0), None)
    return found.value == ctypes.cast(getattr(driver, exported), ctypes.c_void_p).value
print(eval(sys.argv[2]))
"""


def as_words(version):
    return {} if version is None else {"VRAMSCOPE_SIM_CUDA": version}


class OlderDriver(unittest.TestCase):
    PRELOADED = {}

    def ask(self, question, version=None):
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("VRAMSCOPE", "LD_"))}
        done = subprocess.run([sys.executable, "-c", ASK, DRIVER, question], capture_output=True, text=True,
                              env={**plain, **self.PRELOADED, "VRAMSCOPE_LOG": "/dev/null", **as_words(version)})
        return done.stdout.strip() or done.stderr.strip()

    def needs_a_toolkit_of(self, version):
        newest = int(self.ask("version.value"))
        self.assertGreaterEqual(newest, 11080)
        if newest < version:
            self.skipTest(f"built with a toolkit of {newest}, which is older than {version}")

    def test_it_is_as_new_as_the_toolkit_unless_it_is_told_otherwise(self):
        self.needs_a_toolkit_of(12040)
        self.assertEqual(self.ask("version.value", "12.4"), "12040")
        self.assertEqual(self.ask("version.value", "12.0"), "12000")

    def test_names_that_came_later_are_not_found(self):
        if self.ask('has("cuCtxGetDevice_v2")') != "True":
            self.skipTest("built with a toolkit that is as old")
        self.assertEqual(self.ask('has("cuCtxGetDevice_v2"), has("cuCtxCreate_v4"), has("cuStreamGetDevice")', "12.4"),
                         "(False, False, False)")
        self.assertEqual(self.ask('has("cuCtxGetDevice"), has("cuCtxCreate_v3"), has("cuMemAlloc_v2")', "12.4"),
                         "(True, True, True)")
        self.assertEqual(self.ask('has("cuMemAdvise_v2"), has("cuMemcpyAsync_ptsz")', "12.0"), "(False, True)")

    def test_a_look_up_answers_what_was_there_then(self):
        self.needs_a_toolkit_of(12040)
        self.assertEqual(self.ask('same("cuCtxGetDevice", 12040, "cuCtxGetDevice")', "12.4"), "True")
        self.assertEqual(self.ask('same("cuMemAlloc", 12040, "cuMemAlloc_v2")', "12.4"), "True")
        self.assertEqual(self.ask('asked("cuCtxGetDevice", 12050)', "12.4"), "(1, False, -1)")
        self.assertEqual(self.ask('asked("cuStreamGetDevice", 12040)', "12.4")[:10], "(0, False,")

    def test_a_version_that_cannot_be_is_told_once(self):
        for version in ("13.9", "12", "twelve", "12.4.1", "1.0"):
            self.assertRegex(self.ask("sys.exit(0)", version), f"^simgpu: VRAMSCOPE_SIM_CUDA is '{version}'; write .*$")


@unittest.skipUnless(PRELOAD.exists(), "the preload is not built")
class UnderTheTracer(OlderDriver):
    PRELOADED = {"LD_PRELOAD": str(PRELOAD)}


if __name__ == "__main__":
    unittest.main()
