# tests/simgpu/runtime/older_cudart_test.py — libcudart.so.12 and libcudart.so.11.0 against the
# headers of CUDA 12.4 and 11.8, which they stand for. VRAMSCOPE_OLDER_CUDA says which of them.
#
# They are compiled with a newer toolkit's headers, in which runtime/cudart.hpp puts back what the
# older one has: every layout and every prototype is compared, and a program that is built with the
# older one's own headers runs on it. Skipped where these are not here.
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["VRAMSCOPE_BUILD"])
COMPILER = os.environ.get("VRAMSCOPE_CXX", "g++")
TOOLKIT = pathlib.Path(os.environ["VRAMSCOPE_CUDA_INCLUDE"])
VERSION = os.environ["VRAMSCOPE_OLDER_CUDA"]
MAJOR = VERSION.split(".")[0]
HEADERS = pathlib.Path(os.environ["VRAMSCOPE_CUDA_HEADERS"], VERSION, "include")
SOURCE = pathlib.Path(__file__).resolve().parents[3]
SIMGPU = BUILD / "lib" / "vramscope" / "simgpu"
NODE = {"12": "libcudart.so.12", "11": "libcudart.so.11.0"}[MAJOR]
LIBRARY = SIMGPU / NODE

AS_OLDER = [f"-DSIMGPU_CUDART={MAJOR}", "-isystem", TOOLKIT, "-include", SOURCE / "tools/simgpu/runtime/cudart.hpp"]
REAL = ["-isystem", HEADERS, "-include", "cuda_runtime_api.h", "-include", "cuda_profiler_api.h"]
PROTOTYPE = re.compile(r"\bcudaError_t\s+(cuda[A-Z]\w*)\s*\(([^()]*)\)\s*;")
STRUCT = re.compile(r"\bstruct\s+(?:__attribute__\(\([^)]*\)\)\s*)*(cuda[A-Z]\w*)\s*\{")
# Larger in CUDA 13, in what older programs do not have. Nothing that is simulated takes or fills the
# first five; the last is part of a union that did not grow.
LARGER = {"cudaExternalMemoryHandleDesc", "cudaExternalMemoryBufferDesc", "cudaExternalMemoryMipmappedArrayDesc",
          "cudaExternalSemaphoreHandleDesc", "cudaExternalSemaphoreSignalParams", "cudaChildGraphNodeParams"}
CHANGED = ["cudaDeviceProp", "cudaPointerAttributes", "cudaResourceDesc", "cudaResourceViewDesc", "cudaFuncAttributes",
           "cudaTextureDesc"]


def output_of(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def preprocessed(options):
    return output_of(COMPILER, "-E", "-P", "-x", "c++", *options, os.devnull)


def prototypes(text):
    def plain(parameters):
        words = re.sub(r"\b(struct|enum)\b|=\s*\w+", " ", parameters)  # 13's headers leave these words out in places
        return re.sub(r"\s*([*,\[\]])\s*", r"\1", " ".join(words.split())).replace("void", "", parameters.strip() == "void")
    return {name: plain(parameters) for name, parameters in PROTOTYPE.findall(text)}


def members(text, name):
    """The names of a structure's members, also those of the structures in it: res.linear.desc."""
    at = re.search(rf"\bstruct\s+(?:__attribute__\(\([^)]*\)\)\s*)*{name}\s*\{{", text).end()
    path, found, opened = [[]], [], 1
    for word in re.finditer(r"([{}])|([^{};]*);", text[at:]):
        if word[1] == "{":
            opened += 1
            path.append([])
        elif word[1] == "}":
            opened -= 1
            if opened == 0:
                return found
            inner = path.pop()
            outer = re.match(r"\s*(\w+)\s*;", text[at + word.end():])[1]
            path[-1] += [f"{outer}.{member}" for member in inner]
            if not path[1:]:
                found += [f"{outer}.{member}" for member in inner]
        else:
            names = re.findall(r"(\w+)(?:\[\w+\])*\s*(?:,|$)", word[2])
            inside = len(path) > 1
            if inside:
                path[-1] += names
            elif not re.match(r"\s*\w+\s*$", word[2]):  # not the name of the union that ended before it
                found += names
    raise AssertionError(f"{name} does not end")


class Layouts(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.ours, cls.theirs = preprocessed(AS_OLDER), preprocessed(REAL)

    def printed(self, options, expressions):
        lines = "".join(f'    std::printf("%zu\\n", {expression});\n' for expression in expressions)
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            subprocess.run([COMPILER, "-std=c++20", "-w", *map(str, options), "-x", "c++", "-", "-o", str(program)], check=True,
                           input=f"#include <cstddef>\n#include <cstdio>\nint main()\n{{\n{lines}}}\n", text=True)
            return dict(zip(expressions, map(int, output_of(program).split())))

    def test_every_structure_has_its_size(self):
        names = sorted((set(STRUCT.findall(self.theirs)) & set(STRUCT.findall(self.ours))) - LARGER)
        self.assertGreater(len(names), 30)
        sizes = [f"sizeof({name})" for name in names]
        self.assertEqual(self.printed(AS_OLDER, sizes), self.printed(REAL, sizes))

    def test_every_member_of_those_that_changed_has_its_place(self):
        places = [f"offsetof({name}, {member})" for name in CHANGED for member in members(self.theirs, name)]
        self.assertIn("offsetof(cudaDeviceProp, sharedMemPerBlockOptin)", places)
        self.assertIn("offsetof(cudaResourceDesc, res.pitch2D.pitchInBytes)", places)
        self.assertGreater(len(places), 100)
        self.assertEqual(self.printed(AS_OLDER, places), self.printed(REAL, places))

    def test_every_function_that_is_simulated_has_its_parameters(self):
        simulated = {line.split()[-1].split("@")[0] for line in output_of("nm", "-D", LIBRARY).splitlines() if " T " in line}
        ours, theirs = prototypes(self.ours), prototypes(self.theirs)
        names = sorted(simulated & set(theirs))
        self.assertGreater(len(names), 160)
        self.assertEqual({name: ours.get(name) for name in names}, {name: theirs[name] for name in names})

    def test_it_says_of_itself_what_it_is(self):
        self.assertIn(f"Library soname: [{NODE}]", output_of("readelf", "-d", LIBRARY))
        self.assertIn(f"cudaMalloc@@{NODE}\n", output_of("nm", "-D", LIBRARY))


class Program(unittest.TestCase):
    def test_a_program_built_with_it_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            subprocess.run([COMPILER, "-std=c++20", "-I", HEADERS, pathlib.Path(__file__).with_name("older_cudart_program.cpp"),
                            LIBRARY, "-o", program], check=True)
            environment = {**os.environ, "LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": "512MiB"}
            done = subprocess.run([program], env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "all as it has it\n", ""))


if __name__ == "__main__":
    for file in (HEADERS / "cuda_runtime_api.h", LIBRARY):
        if not file.is_file():
            print(f"no {file}: ./scripts/cuda-headers fetches the headers, and a newer toolkit makes the library")
            sys.exit(77)
    unittest.main()
