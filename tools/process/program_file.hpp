// tools/process/program_file.hpp — what can be said of a program without running it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace vramscope {

struct ProgramFile {
    std::filesystem::path path; // as found on PATH; empty: not found
    std::string interpreter;    // what the first line of a script names
    std::string loader;         // a dynamic ELF program names one: LD_PRELOAD reaches only these
    bool executable = false;
    bool elf = false;
    bool native = false;     // an ELF program of this machine's kind
    bool privileged = false; // setuid, setgid or file capabilities: the loader ignores LD_PRELOAD
    std::vector<std::string> needed;

    bool needs(const std::string& library_prefix) const;
};

ProgramFile inspect_program(const std::string& name);

// Whether it carries NVIDIA's CUDA runtime inside (nvcc's default). Reads all of its symbols.
bool has_own_runtime(const ProgramFile& program);
// Whether it carries PyTorch's allocator inside, as a static build of PyTorch does.
bool has_own_pytorch(const ProgramFile& program);

// The loader that starts it, or its interpreter, is musl's: a library that needs glibc, preloaded,
// ends it before its first instruction.
bool runs_on_musl(const ProgramFile& program);

// What to say of a program with PyTorch inside.
std::string pytorch_inside(const std::string& program);

// Why vramscope would see nothing of it, in one line each; empty: no reason is known.
std::vector<std::string> obstacles(const ProgramFile& program);

} // namespace vramscope
