#!/usr/bin/env python3
# tests/torch/stand_ins.py — makes stand-ins for CUDA's mathematical libraries, of the names that
# PyTorch asks for.
#
# Usage: stand_ins.py ROOT FOLDER. Each undefined symbol of PyTorch's libraries in ROOT that belongs
# to cuBLAS, cuDNN, NCCL and so on becomes a function that says it is done and computes nothing.
# Nothing of NVIDIA's is used but public names, which PyTorch's own files hold; the driver and the
# runtime are the simulated GPU's, and have no stand-in.
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

USERS = ["libc10_cuda.so.*", "libtorch*.so.*", "libcaffe2_nvrtc.so.*", "libgloo_cuda.so.*", "libtensorpipe_cuda.so.*"]
FAMILIES = ["cublasLt", "cublas", "cudnn", "cufft", "cupti", "curand", "cusolver", "cusparse", "nccl", "nvrtc", "nvToolsExt"]
LIBRARY = re.compile(rf"lib({'|'.join(FAMILIES)})\.so\.\d+$")
# Where "done" alone stops PyTorch. A function may look at its first ten words, whatever they are.
BODIES = {
    # Real cuBLAS has device memory of its own. This one takes of the driver what a test asks for.
    "cublasCreate_v2": """extern char* getenv(char const*);
        extern long atol(char const*);
        extern void *dlopen(char const*, int), *dlsym(void*, char const*);
        char* bytes = getenv("STAND_IN_CUBLAS_BYTES");
        void* memory;
        if (bytes) ((int (*)(void*, unsigned long))dlsym(dlopen("libcuda.so.1", 2), "cuMemAlloc_v2"))(&memory, atol(bytes));
        *(void**)a = handle;
        return 0;""",
    "cublasLtMatmulAlgoGetHeuristic": "*(int*)j = 1; return 0;",
    "cudnnBackendCreateDescriptor": "*(void**)b = handle; return 0;",
    "cudnnGetCudartVersion": "return 12040;",
    "cudnnGetVersion": "return 90000;",
    "cufftCreate": "*(int*)a = 1; return 0;",
    "ncclGetVersion": "*(int*)a = 22203; return 0;",
    "nvrtcGetCUBINSize": "*(long*)b = 16; return 0;",
    "nvrtcGetLoweredName": '*(char const**)c = "kernel"; return 0;',
    "nvrtcGetPTXSize": "*(long*)b = 16; return 0;",
    "nvrtcGetProgramLogSize": "*(long*)b = 1; return 0;",
    "nvrtcVersion": "*(int*)a = 12; *(int*)b = 4; return 0;",
}


def output_of(*command):
    return subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True, check=True).stdout


def family_of(name):
    """The library of a name without a version: nvtxRangePushA is one of nvToolsExt's."""
    if name.startswith("nvtx"):
        return "nvToolsExt"
    return next((family for family in FAMILIES if re.match(family + "[A-Z]", name)), None)


def wanted_names(users):
    """{library: names}, and the libraries whose names carry its version."""
    wanted, versioned = collections.defaultdict(set), set()
    for user in users:
        needed = [name for name in re.findall(r"NEEDED.*\[(.+)\]", output_of("readelf", "-dW", user)) if LIBRARY.match(name)]
        by_family = {LIBRARY.match(name)[1]: name for name in needed}
        for library in needed:
            wanted[library] |= set()
        for line in output_of("nm", "-D", "--undefined-only", user).splitlines():
            name, _, version = line.split()[-1].partition("@")
            version = version.lstrip("@")
            library = version if LIBRARY.match(version) else None if version else by_family.get(family_of(name))
            if library:
                wanted[library].add(name)
                if version:
                    versioned.add(library)
    return wanted, versioned


def body_of(name):
    if name in BODIES:
        return BODIES[name]
    if re.search(r"Get(ErrorString|LastError|ErrorName|StatusString)", name):
        return 'return (long)"a stand-in";'
    if "Create" in name and not name.startswith("nvtx"):
        return "if (a) *(void**)a = handle; return 0;"
    return "return 0;"


def make(library, names, versioned, folder):
    words = ", ".join(f"void* {letter}" for letter in "abcdefghij")
    source = "static char handle[65536];\n" + "".join(f"long {name}({words}) {{ {body_of(name)} }}\n" for name in sorted(names))
    with tempfile.TemporaryDirectory() as scratch:
        script = pathlib.Path(scratch, "exports.map")
        script.write_text(f"{library} {{ global: *; }};\n")
        version = [f"-Wl,--version-script={script}"] if versioned or not names else []
        subprocess.run(["cc", "-O1", "-w", "-fPIC", "-shared", f"-Wl,-soname,{library}", *version, "-x", "c", "-",
                        "-o", str(folder / library)], input=source, text=True, check=True)


def main(root, folder):
    libraries = root / "usr" / "lib" / "x86_64-linux-gnu"
    users = sorted({file.resolve() for pattern in USERS for file in libraries.glob(pattern) if not file.is_symlink()})
    wanted, versioned = wanted_names(users)
    if not any(library.startswith("libcublas.") for library in wanted):
        sys.exit(f"stand_ins.py: no PyTorch with CUDA in {root}")
    folder.mkdir(parents=True, exist_ok=True)
    for library, names in sorted(wanted.items()):
        make(library, names, library in versioned, folder)
    print(", ".join(f"{library} {len(names)}" for library, names in sorted(wanted.items())))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("Usage: stand_ins.py ROOT FOLDER")
    main(*map(pathlib.Path, sys.argv[1:]))
