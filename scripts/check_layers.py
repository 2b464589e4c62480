#!/usr/bin/env python3
# scripts/check_layers.py — holds the include edges: what may include what, where libraries live; and
# that no two types of the product have one name.
#
# Usage: check_layers.py [ROOT]. One line for each wrong include or type; ends 1 if there is one, 0
# otherwise. A new folder needs a row here before it can hold code.
import pathlib
import re
import sys

# Folder of the including file: the folders it may include, besides its own.
LAYERS = {
    "tracker/format": [],
    "tracker/capture": ["tracker/format"],
    "tracker/capture/python": ["tracker/capture", "tracker/format"],
    "tracker/environment": ["tracker/capture", "tracker/format"],
    "tracker/log": ["tracker/capture", "tracker/capture/python", "tracker/environment", "tracker/format"],
    "tracker/lifecycle": ["tracker/capture", "tracker/environment", "tracker/format", "tracker/log"],
    "interpose/pool": [],
    "interpose/hooks": ["tracker/capture", "tracker/format", "tracker/lifecycle", "tracker/log"],
    "interpose/serve/contexts": ["interpose/hooks", "interpose/pool", "tracker/capture", "tracker/environment",
                                 "tracker/log"],
    "interpose/serve/pools": ["interpose/hooks", "interpose/pool", "interpose/serve/contexts", "tracker/capture",
                              "tracker/environment", "tracker/log"],
    "interpose/serve": ["interpose/hooks", "interpose/serve/contexts", "interpose/serve/pools", "tracker/environment",
                        "tracker/log"],
    "interpose/doors": ["interpose", "interpose/hooks", "interpose/serve/contexts", "interpose/serve/pools",
                        "tracker/capture", "tracker/environment", "tracker/lifecycle", "tracker/log"],
    "interpose/actions": ["interpose/doors", "interpose/hooks", "interpose/serve", "interpose/serve/contexts",
                          "interpose/serve/pools", "tracker/capture", "tracker/environment", "tracker/log"],
    "interpose/frameworks": ["interpose", "interpose/hooks", "tracker/capture", "tracker/lifecycle", "tracker/log"],
    "interpose/nvtx": ["interpose/frameworks", "interpose/serve/contexts", "tracker/capture", "tracker/lifecycle"],
    "interpose/audit": ["tracker/capture"],
    "interpose/ending": ["tracker/environment"],
    "interpose": [],  # vramscope.h, the header for programs
    "interpose/gtest": ["interpose"],  # another, for tests of theirs
    "report": ["tracker/format"],  # error.hpp, decimal.hpp, fnv1a.hpp
    "report/model": ["report", "tracker/format"],
    "report/symbols": ["report", "report/model", "tracker/format"],
    "report/log": ["report", "report/symbols", "tracker/format"],
    "report/replay/lookup": [],
    "report/replay/pool": ["report/log", "report/model", "report/replay/lookup"],
    "report/replay/heap": ["report/log", "report/model", "report/replay/lookup", "tracker/format"],
    "report/replay": ["tracker/format", "report/log", "report/model", "report/replay/heap", "report/replay/lookup",
                      "report/replay/pool"],
    "report/words": ["report/model", "tracker/format"],
    "report/judge": ["report/findings/places", "report/model", "report/words"],
    "report/checkpoint": ["report", "report/log", "report/model", "report/replay", "tracker/format"],
    "report/findings/places": ["report", "report/log", "report/model", "report/replay/heap", "report/symbols"],
    "report/findings/growth": ["report/findings/places", "report/log", "report/model", "report/replay",
                               "report/replay/heap"],
    "report/findings/memory": ["report/findings/places", "report/model", "report/replay", "report/replay/heap",
                               "report/replay/pool"],
    "report/rules": ["report", "report/findings/places", "report/log", "report/model", "report/replay", "report/replay/heap",
                     "report/symbols", "tracker/format"],
    "report/findings": ["report", "report/checkpoint", "report/findings/growth", "report/findings/memory", "report/findings/places", "report/judge",
                        "report/log", "report/model", "report/replay", "report/replay/heap", "report/replay/pool",
                        "report/rules", "report/symbols", "tracker/format"],
    "report/plan/trace": ["report/findings", "report/log", "report/model", "report/replay", "report/replay/heap",
                          "report/replay/lookup", "tracker/format"],
    "report/plan/replay": ["report/plan/trace"],
    "report/plan/policies": ["interpose/pool", "report", "report/plan/replay", "report/plan/trace",
                             "report/replay/lookup", "tracker/format"],
    "report/plan": ["report", "report/findings", "report/findings/memory", "report/findings/places", "report/model",
                    "report/plan/replay", "report/plan/trace", "report/symbols"],
    "report/import/pickle": ["report", "report/log"],
    "report/import/output": ["tracker/format"],
    "report/import/torch": ["report/import/output", "report/import/pickle"],
    "report/import": ["report", "report/import/output", "report/import/torch", "report/log"],
    "report/reach/memory": ["report", "report/model", "report/symbols"],
    "report/reach/python": ["report/reach/memory", "report/words"],
    "report/reach": ["report", "report/checkpoint", "report/findings/places", "report/log", "report/model", "report/reach/memory",
                     "report/reach/python", "report/replay", "report/replay/heap", "report/replay/reading",
                     "report/symbols", "report/words", "tracker/format"],
    "report/text": ["report/model", "report/words"],
    "report/json": ["report/judge", "report/model", "report/words"],
    "report/ci_formats": ["report/findings/places", "report/json", "report/judge", "report/model", "report/words"],
    "report/page": ["report/json", "report/model", "report/symbols", "report/words"],
    "report/exporters": ["report", "report/checkpoint", "report/findings", "report/findings/places", "report/json", "report/log",
                         "report/model", "report/replay", "report/replay/heap", "report/symbols", "report/words",
                         "tracker/format"],
    "report/job": ["report", "report/exporters", "report/json", "report/model", "report/words", "tracker/format"],
    "tools": ["report", "tools/commands", "tools/manual", "tools/options", "tools/output"],
    "tools/commands": ["report", "report/ci_formats", "report/exporters", "report/findings", "report/findings/places",
                       "report/import", "report/job", "report/json", "report/judge", "report/log", "report/model", "report/page",
                       "report/plan", "report/plan/replay", "report/reach", "report/reach/memory", "report/rules", "report/symbols", "report/text",
                       "report/words",
                       "tools/manual", "tools/options", "tools/output", "tools/process", "tools/process/live", "tools/simgpu/driver/base", "tools/watch",
                       "tracker/capture", "tracker/environment", "tracker/format", "tracker/log"],
    "tools/manual": [],
    "tools/options": ["report", "report/ci_formats", "report/findings/places", "report/judge", "report/page",
                      "report/rules", "report/symbols", "report/text", "report/words", "tools/output", "tracker/environment",
                      "tracker/format"],
    "tools/output": ["report", "report/findings", "report/json", "report/log", "report/page", "report/text", "report/words"],
    "tools/process": ["report", "report/log", "report/model", "report/symbols", "tracker/environment", "tracker/format"],
    "tools/process/live": ["report", "report/checkpoint", "report/findings", "report/log", "report/symbols", "report/words",
                           "tools/output", "tools/process", "tracker/capture", "tracker/environment", "tracker/format", "tracker/log"],
    "tools/watch": ["report", "report/exporters", "report/findings", "report/log", "report/model", "report/symbols", "report/words",
                    "tools/output", "tools/process", "tools/process/live", "tracker/capture", "tracker/format"],
    "tools/simgpu": [],  # simgpu.h, the header for tests
    "tools/simgpu/driver/base": ["tools/simgpu", "tracker/format"],  # size_text, terminal_text
    "tools/simgpu/driver": ["tools/simgpu", "tools/simgpu/driver/base"],  # its subjects need each other
    "tools/simgpu/runtime": ["tools/simgpu"],
    "tools/simgpu/runtime/array": ["tools/simgpu/runtime"],
    "tools/simgpu/runtime/graph": ["tools/simgpu/runtime"],
    "tests": ["interpose", "report", "tools", "tracker"],
}

# What one file does for all. Written by hand elsewhere, it would take or let through other things.
ONCE = {
    r"'[kK]'|kmgt|KMGT": "size_text.hpp",  # sizes
    r"0x202[a-e]|\b(isprint|iscntrl)\(": "terminal_text.hpp",  # what a terminal may be sent
    r"\bElf64_[PS]hdr\b|\bEM_X86_64\b": "elf_file.cpp",  # ELF files; what is loaded is read by ElfW types
}

# A third-party header lives in one layer; tests may include what they need.
LIBRARIES = {
    r"cuda|nvtx|driver_types|vector_types": ["interpose", "tools/simgpu", "tests"],
    r"libunwind|unwind\.h": ["tracker/capture", "tests"],
    r"zlib\.h": ["report/exporters", "tests"],
    r"zstd\.h": ["report/checkpoint", "report/log", "tests"],
    r"nlohmann/": ["report/json", "tools", "tests"],
    r"spdlog/": ["tools", "tests"],
    r"fmt/": ["report", "tools", "tests"],
    r"CLI/": ["tools", "tests"],
    r"elfutils/|dwarf\.h|libelf\.h|gelf\.h": ["report/symbols", "tests"],
    r"gtest/|gmock/": ["interpose/gtest", "tests"],
}

SOURCES = {".hpp", ".cpp", ".h", ".c", ".cu", ".def", ".inc", ".S"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
DEFINES = re.compile(r"(?:class|struct|union|enum(?: class)?) (?:\[\[[^\]]*\]\] |alignas\([^)]*\) )?(\w+)(?: final)?(?: ?:[^:;]| \{|$)[^;]*$")


def inside(folder, layer):
    return folder == layer or folder.startswith(layer + "/")


def layer_of(folder):
    """The most particular row for a folder: tools/simgpu/driver/graph belongs to tools/simgpu/driver."""
    rows = [layer for layer in LAYERS if inside(folder, layer)]
    return max(rows, key=len, default=None)


def check_own(layer, header):
    folder = header.rpartition("/")[0]
    target = layer_of(folder)
    if target is None:
        return "is not written from the repository's root"
    if target == layer or target in LAYERS[layer]:
        return None
    if layer == "tests" and target != "tests" and any(inside(target, allowed) for allowed in LAYERS[layer]):
        return None
    return f"{layer} may not include {target}"


def check_foreign(layer, header):
    for pattern, homes in LIBRARIES.items():
        if re.match(pattern, header) and not any(inside(layer, home) for home in homes):
            return f"belongs in {' or '.join(homes)}, not in {layer}"
    return None


def problems_of(path, name):
    layer = layer_of(name.rpartition("/")[0])
    if layer is None:
        yield f"{name}: its folder has no row in scripts/check_layers.py"
        return
    text = path.read_text(errors="replace")
    if layer != "tests":
        for pattern, home in ONCE.items():
            for match in re.finditer(pattern, text) if path.name != home else ():
                line = text.count("\n", 0, match.start()) + 1
                yield f"{name}:{line}: {match.group(0)}: only {home} does this by hand"
    for match in INCLUDE.finditer(text):
        own, foreign = match.groups()
        wrong = None
        if foreign or (own and check_foreign(layer, own)):
            wrong = check_foreign(layer, foreign or own)
        elif "/" in own:
            wrong = check_own(layer, own)
        elif layer != "tests" and (path.parent / own).exists():
            wrong = "is not written from the repository's root"
        # Any other bare name is a generated header of the same layer, in the build folder. Tests
        # may trace programs that are written as their users write them.
        if wrong:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: {match.group(0).strip()}: {wrong}"


def types_of(text):
    """[(its whole name, its line)] of each type that a file defines where other files see it."""
    spaces = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := re.match(r"namespace ?([\w:]*) ?\{$", line):
            spaces.append(opened[1])
        elif re.match(r"\} // namespace", line) and spaces:
            spaces.pop()
        elif "" not in spaces and (defined := DEFINES.match(line)):
            yield "::".join([*spaces, defined[1]]), number


# Of two types with one name the linker takes the members of either.
def types_defined_twice(texts):
    known = {}
    for name, text in texts.items():
        if name.startswith("tests/") and ("/broken/" in name or not name.endswith(".hpp")):
            continue  # programs of their own, and what stands in another's place on purpose
        for kind, line in types_of(text):
            if kind in known:
                yield f"{name}:{line}: {kind} is defined in {known[kind]} too"
            known.setdefault(kind, name)


def main(root):
    tops = sorted({layer.split("/")[0] for layer in LAYERS})
    files = [path for top in tops for path in sorted((root / top).rglob("*")) if path.suffix in SOURCES]
    if not files:
        print(f"check_layers: no sources under {root}", file=sys.stderr)
        return 1
    problems = [text for path in files for text in problems_of(path, path.relative_to(root).as_posix())]
    problems += types_defined_twice({path.relative_to(root).as_posix(): path.read_text(errors="replace")
                                     for path in files if path.suffix in (".hpp", ".cpp")})
    for text in problems:
        print(text)
    print(f"check_layers: {len(files)} files, {len(problems)} wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1]))
