# tests/interpose/hooks/hook_table_test.py — the tables of names against the toolkits' headers and
# stub of the driver.
#
# A driver may gain entry points with each version: a name that speaks of memory must be hooked, or
# stand in classified_names.def with the reason why it need not be. VRAMSCOPE_CUDA_INCLUDE and
# VRAMSCOPE_CUDA_STUB name the toolkit that is built with; VRAMSCOPE_CUDA_HEADERS the folder of
# other toolkits' headers (scripts/cuda-headers). With --toolkit VERSION only that one is looked at;
# it ends 77 where it is not here.
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from driver_names import HOOKS, KNOWN_TOOLKITS, SOURCE, Tables, base_of, read_toolkit, runtime_names

INCLUDE = pathlib.Path(os.environ.get("VRAMSCOPE_CUDA_INCLUDE", "/usr/local/cuda/include"))
STUB = pathlib.Path(os.environ.get("VRAMSCOPE_CUDA_STUB", "/usr/local/cuda/lib64/stubs/libcuda.so"))
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path(os.environ.get("HOME", "/")) / ".cache")
OTHERS = pathlib.Path(os.environ.get("VRAMSCOPE_CUDA_HEADERS") or CACHE / "vramscope" / "cuda-headers")
INSTALLED = read_toolkit(INCLUDE, STUB)


OTHER_INCLUDES = sorted(OTHERS.glob("*/include"))


def toolkits():
    """All that are here, by version, the one that is built with among them."""
    found = [read_toolkit(folder) for folder in OTHER_INCLUDES]
    return {toolkit.version: toolkit for toolkit in [*found, INSTALLED] if toolkit}


class TablesTest(unittest.TestCase):
    """What needs no toolkit."""

    def test_each_name_stands_once_in_one_of_the_tables(self):
        tables = Tables()
        self.assertGreater(len(tables.listed), 200)
        names = sorted(tables.listed + list(tables.bases))
        self.assertEqual([a for a, b in zip(names, names[1:]) if a == b], [], "remove it from classified_names.def")

    def test_names_are_sorted_and_bare(self):
        for kind, reason, names in Tables().groups:
            self.assertIn(kind, ("pass", "not_memory"))
            self.assertEqual(names, sorted(names), reason)
            self.assertEqual([name for name in names if base_of(name) != name], [])

    def test_the_whole_file_is_read(self):
        text = re.sub(r"//.*", "", (HOOKS / "classified_names.def").read_text())
        tables = Tables()
        self.assertEqual(sorted(set(re.findall(r"\bcu[A-Z]\w+", text))), sorted(tables.listed))
        self.assertEqual(len(re.findall(r"^VRAMSCOPE_WORD", text, re.MULTILINE)), sum(map(len, tables.words.values())))

    def test_the_rule_of_what_speaks_of_memory(self):
        tables = Tables()
        by_itself, with_owners = tables.speaks_of("memory"), tables.speaks_of("memory", "owner")
        for name in ("cuMemAllocQuantum", "cuArrayCreateSparse", "cuCtxCreateFromGreen", "cuIpcOpenAnything",
                     "cuMemcpyAlloc", "cuNewBufferOfSomething"):
            self.assertTrue(by_itself(name), name)
        for name in ("cuGraphAddSomething", "cuThingDestroy", "cuModuleLoadTwice"):
            self.assertTrue(with_owners(name) and not by_itself(name), name)
        for name in ("cuMemcpyQuantum", "cuMemsetD128", "cuLaunchKernelTwice", "cuDeviceGetThing"):
            self.assertFalse(with_owners(name), name)

    def test_the_library_knows_up_to_which_version_the_tables_hold(self):
        text = (HOOKS / "classified_names.hpp").read_text()
        self.assertEqual(int(re.search(r"kNewestKnownVersion = (\d+);", text)[1]), max(KNOWN_TOOLKITS))


class ToolkitsTest(unittest.TestCase):
    maxDiff = None

    def toolkits(self):
        found = toolkits()
        if not found:
            self.skipTest(f"no headers of CUDA in {INCLUDE} nor in {OTHERS}")
        return found

    def test_each_name_that_speaks_of_memory_is_in_a_table(self):
        for version, toolkit in self.toolkits().items():
            with self.subTest(version):
                self.assertGreater(len(toolkit.bases), 350)
                self.assertEqual(Tables().holes(toolkit), [])

    def test_no_name_is_in_a_table_that_no_toolkit_has(self):
        found = self.toolkits()
        if max(found) < max(KNOWN_TOOLKITS):
            self.skipTest(f"the toolkits here, {sorted(found)}, are older than the tables")
        everything = set().union(*(toolkit.bases for toolkit in found.values()))
        self.assertEqual(sorted(set(Tables().listed) - everything), [])
        self.assertEqual(sorted(Tables().bases - everything), [])

    def test_each_row_has_the_name_version_and_streams_of_the_headers(self):
        if not INSTALLED or not INSTALLED.exported:
            self.skipTest(f"no stub of the driver at {STUB}")
        expected = INSTALLED.rows()
        rows = {row.symbol: (row.base, row.since, row.streams) for row in Tables().rows.values()}
        self.assertGreater(len(rows), 40)
        wrong = {symbol: (row, expected.get(symbol)) for symbol, row in rows.items() if row != expected.get(symbol, row)}
        self.assertEqual(wrong, {})
        known = {symbol for symbol, (_, since, _) in rows.items() if since <= INSTALLED.version}
        self.assertEqual(known - set(expected), set(), "hooked names that the headers do not know")


class PlantedTest(unittest.TestCase):
    """A toolkit with names that are in no table."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.include = pathlib.Path(folder.name)
        (self.include / "cuda.h").write_text("#define CUDA_VERSION 99000\nCUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr*, size_t);\n")

    def holes(self, stub=None):
        return Tables().holes(read_toolkit(self.include, stub))

    def plant(self, header, text):
        with (self.include / header).open("a") as file:
            file.write(text)

    def test_what_is_known_is_no_hole(self):
        self.assertEqual(self.holes(), [])

    def test_a_new_name_in_a_header_is_found(self):
        for header in ("cuda.h", "cudaGL.h", "cudaEGL.h", "cudaVDPAU.h"):
            with self.subTest(header):
                self.plant(header, f"CUresult CUDAAPI cuMemAllocQuantum{header[4:-2]}(CUdeviceptr* dptr);\n")
                self.assertIn(f"cuMemAllocQuantum{header[4:-2]}", self.holes())

    def test_a_new_name_in_a_typedef_header_is_found(self):
        self.plant("cudaTypedefs.h", "typedef CUresult (CUDAAPI *PFN_cuMemAllocQuantum_v14000_ptsz)(CUdeviceptr_v2 *dptr);\n")
        self.assertEqual(self.holes(), ["cuMemAllocQuantum"])

    def test_a_new_export_of_the_stub_is_found(self):
        stub = self.include / "libcuda.so"
        subprocess.run([os.environ.get("VRAMSCOPE_CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", stub], text=True, check=True,
                       input="int cuMemAllocQuantum_v2_ptsz(void) { return 0; } int cuLaunchQuantum(void) { return 0; }")
        self.assertEqual(self.holes(stub), ["cuMemAllocQuantum"])

    def test_a_new_version_of_a_hooked_name_is_found(self):
        self.plant("cuda.h", "CUresult CUDAAPI cuMemAlloc_v3(CUdeviceptr*, size_t, int);\n")
        self.assertEqual(self.holes(), ["cuMemAlloc_v3"])

    def test_a_name_in_a_comment_is_none(self):
        self.plant("cuda.h", "/* CUresult CUDAAPI cuMemAllocQuantum(void); */\n// CUresult CUDAAPI cuMemAllocLater(void);\n")
        self.assertEqual(self.holes(), [])


# Functions of the runtime that have another name than the driver's that they call.
RUNTIME_TWINS = {
    "cudaBindSurfaceToArray": "cuSurfRefSetArray", "cudaBindTextureToArray": "cuTexRefSetArray",
    "cudaBindTextureToMipmappedArray": "cuTexRefSetMipmappedArray",
    "cudaArrayGetInfo": "cuArray3DGetDescriptor", "cudaDeviceGetSharedMemConfig": "cuCtxGetSharedMemConfig",
    "cudaDeviceSetSharedMemConfig": "cuCtxSetSharedMemConfig", "cudaFree": "cuMemFree", "cudaFreeArray": "cuArrayDestroy",
    "cudaFreeAsync": "cuMemFreeAsync", "cudaFreeHost": "cuMemFreeHost", "cudaFreeMipmappedArray": "cuMipmappedArrayDestroy",
    "cudaGetMipmappedArrayLevel": "cuMipmappedArrayGetLevel", "cudaHostAlloc": "cuMemHostAlloc",
    "cudaHostGetDevicePointer": "cuMemHostGetDevicePointer", "cudaHostGetFlags": "cuMemHostGetFlags",
    "cudaHostRegister": "cuMemHostRegister", "cudaHostUnregister": "cuMemHostUnregister", "cudaMalloc": "cuMemAlloc",
    "cudaMalloc3D": "cuMemAllocPitch", "cudaMalloc3DArray": "cuArray3DCreate", "cudaMallocArray": "cuArrayCreate",
    "cudaMallocAsync": "cuMemAllocAsync", "cudaMallocFromPoolAsync": "cuMemAllocFromPoolAsync",
    "cudaMallocHost": "cuMemHostAlloc", "cudaMallocManaged": "cuMemAllocManaged",
    "cudaMallocMipmappedArray": "cuMipmappedArrayCreate", "cudaMallocPitch": "cuMemAllocPitch",
}


class RuntimeTest(unittest.TestCase):
    """The runtime's functions are not hooked: each must call a driver's that is in a table."""
    maxDiff = None

    def setUp(self):
        found = [folder for folder in [INCLUDE, *OTHER_INCLUDES] if (folder / "cuda_runtime_api.h").is_file()]
        if not found:
            self.skipTest(f"no cuda_runtime_api.h in {INCLUDE} nor in {OTHERS}")
        self.names = {str(folder): runtime_names(folder) for folder in found}
        self.tables = Tables()

    @staticmethod
    def twin_of(name):
        return RUNTIME_TWINS.get(name, "cu" + base_of(name).removeprefix("cuda"))

    def test_each_function_of_memory_has_a_twin_in_a_table(self):
        known = self.tables.bases | set(self.tables.listed)
        memory_like = self.tables.speaks_of("memory")
        for folder, names in self.names.items():
            with self.subTest(folder):
                asked = {name for name in names
                         if (memory_like(name) or "Malloc" in name) and not name.startswith("cudaMemcpy")}
                self.assertGreater(len(asked), 60)
                self.assertEqual([name for name in sorted(asked) if self.twin_of(name) not in known], [])

    # The reporter must know them in the stack of a static runtime: nothing else there has a name.
    def test_the_reporter_knows_each_function_that_takes_or_gives_back_memory(self):
        text = (SOURCE / "report" / "findings" / "places" / "frames.cpp").read_text()
        listed = set(re.findall(r'"(cuda\w+)"', re.search(r"kMemoryApis = \{([^}]*)\}", text)[1]))
        owners = {row.base for row in self.tables.rows.values() if row.effect in ("alloc", "free")}
        for folder, names in self.names.items():
            with self.subTest(folder):
                wanted = {name for name in names if self.twin_of(name) in owners}
                self.assertEqual(sorted(wanted - listed), [])
        if INSTALLED.version >= max(KNOWN_TOOLKITS):
            known = {base_of(name) for name in self.names[str(INCLUDE)]}
            self.assertEqual([name for name in sorted(listed) if base_of(name) not in known], [])


def look_at_one(version):
    """As a test of its own, so that a toolkit that is not here shows as a test that was skipped."""
    toolkit = toolkits().get(version)
    if not toolkit:
        print(f"no headers of CUDA {version} in {INCLUDE} nor in {OTHERS}: ./scripts/cuda-headers fetches those of 11.8 and 12.4")
        return 77
    holes = Tables().holes(toolkit)
    print(f"{len(toolkit.bases)} names, of which {len(holes)} are in no table: {' '.join(holes)}")
    return 1 if holes else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--toolkit"]:
        sys.exit(look_at_one(int(sys.argv[2])))
    unittest.main()
