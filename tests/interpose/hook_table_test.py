# tests/interpose/hook_table_test.py — the hook table against the toolkit's headers and its stub of the driver.
#
# A driver may gain entry points with each version: one whose name speaks of memory must be hooked, or stand below with
# the reason why it need not be. VRAMSCOPE_CUDA_INCLUDE and VRAMSCOPE_CUDA_STUB name the toolkit's; ctest sets them.
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(__file__).parents[2]
INCLUDE = pathlib.Path(os.environ.get("VRAMSCOPE_CUDA_INCLUDE", "/usr/local/cuda/include"))
STUB = pathlib.Path(os.environ.get("VRAMSCOPE_CUDA_STUB", "/usr/local/cuda/lib64/stubs/libcuda.so"))

SPEAKS_OF_MEMORY = re.compile(r"Mem|Alloc|Free|Array|Ctx(Create|Destroy|Attach|Detach)|PrimaryCtx|GetProcAddress|Multicast|Ipc|"
                              r"ExternalMemory")
# Names, without _v2 and _ptsz, that neither take nor give back memory that a program could leak through them.
NOT_HOOKED = {
    "copies, fills, hints and queries": re.compile(
        r"cuMemcpy|cuMemset|cuMemAdvise|cuMemPrefetch|cuMemDiscard|cuMemBatchDecompress|cuStreamAttachMemAsync|"
        r"cuMem(Get|Range|SetAccess|Export)|cuMemHostGet|cuMemPool(Get|Set|Export|Trim)|cuDevice\w*(MemPool|GraphMem)|"
        r"cuArrayGet|cuMipmappedArrayGet|cuDeviceTotalMem|cuDeviceGetTexture1DLinearMaxWidth|cuPointer|cuCtxGet|"
        r"cuDevicePrimaryCtx(GetState|SetFlags)|cuMulticastGet|cuStream(Write|Wait|BatchMemOp)|cuIpcGet|cuCoredump|"
        r"cuMemSetMemPool|cuArray3DGet|cu(Ctx|Func)SetSharedMemConfig|cuOccupancy|cuLogs"),
    "a name for memory that is somebody else's": re.compile(
        r"cuIpc(Open|Close)|cuMemImportFromShareableHandle|cuMemPoolImport|cuImportExternalMemory|cuDestroyExternalMemory|"
        r"cuExternalMemoryGetMapped|cuGraphics|cuTexRef|cuSurfRef|cuMulticast|cuEGL|cuVDPAU|cuGL"),
    "an owner whose memory is recorded piece by piece": re.compile(r"cuMemPool(Create|Destroy)|cuCtxCreate|cuGreenCtx|cuCtxFromGreenCtx"),
    "memory of a graph, which is not the program's to free": re.compile(r"cuGraph"),
    "maps parts of a sparse array to physical memory that is recorded itself": re.compile(r"cuMemMapArrayAsync"),
}


def hook_rows():
    text = (SOURCE / "interpose" / "hooks" / "hook_table.def").read_text()
    rows = re.findall(r"^VRAMSCOPE_HOOK\((\w+),\s*(\w+),\s*(\d+),\s*(\w+),", text, re.MULTILINE)
    return {symbol: (base, int(since), streams) for symbol, base, since, streams in rows}


def exported_names():
    table = subprocess.run(["nm", "-D", "--defined-only", STUB], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in table.splitlines() if line.split()[2].startswith("cu")}


def header_rows(exported):
    """Exported name: (base, since, streams). The n-th version of a typedef is the export with _v<n>."""
    versions = {}
    for header in INCLUDE.glob("cuda*Typedefs.h"):
        for base, since in re.findall(r"\bPFN_(cu[A-Z]\w*?)_v(\d+)(?:_pt[sd][sz])?\s*\)", header.read_text()):
            versions.setdefault(base, set()).add(int(since))
    rows = {}
    for base, every_since in versions.items():
        for number, since in enumerate(sorted(every_since), start=1):
            symbol = base if number == 1 else f"{base}_v{number}"
            for suffix, streams in (("", "legacy"), ("_ptsz", "per_thread"), ("_ptds", "per_thread")):
                if symbol + suffix in exported:
                    rows[symbol + suffix] = (base, since, streams)
    return rows


class HookTableTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        if not STUB.exists():
            self.skipTest(f"no stub of the driver at {STUB}")

    def test_each_row_has_the_name_version_and_streams_of_the_headers(self):
        expected = header_rows(exported_names())
        rows = hook_rows()
        self.assertGreater(len(rows), 40)
        wrong = {symbol: (row, expected.get(symbol)) for symbol, row in rows.items() if row != expected.get(symbol, row)}
        self.assertEqual(wrong, {})
        version = int(re.search(r"#define CUDA_VERSION (\d+)", (INCLUDE / "cuda.h").read_text())[1])
        known = {symbol for symbol, (_, since, _) in rows.items() if since <= version}
        self.assertEqual(known - set(expected), set(), "hooked names that the headers do not know")

    def test_each_export_that_speaks_of_memory_is_hooked_or_has_a_reason(self):
        hooked = set(hook_rows())
        unknown = [name for name in sorted(exported_names())
                   if SPEAKS_OF_MEMORY.search(name) and name not in hooked
                   and not any(reason.match(name) for reason in NOT_HOOKED.values())]
        self.assertEqual(unknown, [])

    def test_no_reason_covers_a_hooked_name(self):
        for why, reason in NOT_HOOKED.items():
            self.assertEqual([name for name in hook_rows() if reason.match(name)], [], why)


if __name__ == "__main__":
    unittest.main()
