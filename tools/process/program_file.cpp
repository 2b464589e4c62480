// tools/process/program_file.cpp — where it is, what kind of file, and what its ELF headers say.
#include "tools/process/program_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/symbols/elf_file.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

// A library that was linked in is told by what the program defines itself.
template <class IsWanted>
bool defines(const ProgramFile& program, IsWanted is_wanted)
{
    std::string why_not;
    const auto file = report::ElfFile::open(program.path, report::ElfKind::any, why_not);
    const auto functions =
        file && file->has_symtab() ? file->functions() : std::vector<report::ElfSymbol>();
    return std::any_of(functions.begin(), functions.end(),
                       [&](const report::ElfSymbol& function) { return is_wanted(function.name); });
}

void inspect_elf(ProgramFile& program)
{
    std::string why_not;
    const auto file = report::ElfFile::open(program.path, report::ElfKind::any, why_not);
    program.elf = file != nullptr;
    program.native = program.elf && file->native();
    if (!program.native)
        return;
    program.loader = file->loader();
    program.needed = file->needed();
}

std::string script_interpreter(int descriptor)
{
    char start[256] = {};
    const ssize_t got = ::pread(descriptor, start, sizeof start, 0);
    std::string line(start, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    line.erase(std::min(line.find('\n'), line.size()));
    if (!line.starts_with("#!"))
        return {};
    line.erase(0, line.find_first_not_of(" \t", 2));
    line.erase(std::min(line.find_last_not_of(" \t\r\n") + 1, line.size()));
    if (!line.starts_with("/usr/bin/env "))
        return line.substr(0, line.find_first_of(" \t"));
    line.erase(0, line.find_first_not_of(" \t", 13));
    return line.substr(0, line.find_first_of(" \t"));
}

fs::path find_program(const std::string& name)
{
    std::error_code ignored;
    if (name.find('/') != std::string::npos)
        return fs::exists(name, ignored) ? fs::path(name) : fs::path();
    const char* search = std::getenv("PATH");
    std::string rest = search ? search : "/usr/bin:/bin";
    for (rest += ':'; !rest.empty(); rest.erase(0, rest.find(':') + 1)) {
        fs::path candidate = fs::path(rest.substr(0, rest.find(':'))) / name;
        if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

bool has_loader_of_musl(const ProgramFile& program)
{
    return fs::path(program.loader).filename().string().starts_with("ld-musl-");
}

// As the kernel decides it at exec. Root gains nothing by capabilities, so its loader
// is not strict.
bool is_privileged(const fs::path& path, const struct stat& status)
{
    constexpr mode_t kSetGroup = S_ISGID | S_IXGRP; // without the latter it means another thing
    struct statvfs file_system {};
    if (::statvfs(path.c_str(), &file_system) == 0 && (file_system.f_flag & ST_NOSUID))
        return false;
    const bool changes_user = (status.st_mode & S_ISUID) && status.st_uid != ::getuid();
    const bool changes_group =
        (status.st_mode & kSetGroup) == kSetGroup && status.st_gid != ::getgid();
    return changes_user || changes_group ||
           (::getuid() != 0 && ::getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

} // namespace

bool ProgramFile::needs(const std::string& library_prefix) const
{
    for (const std::string& library : needed)
        if (library.starts_with(library_prefix))
            return true;
    return false;
}

ProgramFile inspect_program(const std::string& name)
{
    ProgramFile program;
    program.path = find_program(name);
    const int descriptor =
        program.path.empty() ? -1 : ::open(program.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    program.executable = !program.path.empty() && ::access(program.path.c_str(), X_OK) == 0;
    struct stat status;
    if (descriptor >= 0 && ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
        program.privileged = is_privileged(program.path, status);
        program.interpreter = script_interpreter(descriptor);
        inspect_elf(program);
    } else if (descriptor >= 0) {
        program.executable = false;
    }
    if (descriptor >= 0)
        ::close(descriptor);
    return program;
}

bool has_own_runtime(const ProgramFile& program)
{
    return program.native && !program.needs("libcudart.so") &&
           defines(program, [](std::string_view name) { return name == "cudaMalloc"; });
}

bool has_own_pytorch(const ProgramFile& program)
{
    return program.native && defines(program, [](std::string_view name) {
               return name.starts_with("_ZN3c104cuda20CUDACachingAllocator");
           });
}

bool runs_on_musl(const ProgramFile& program)
{
    return has_loader_of_musl(program) ||
           (!program.interpreter.empty() &&
            has_loader_of_musl(inspect_program(program.interpreter)));
}

std::string pytorch_inside(const std::string& program)
{
    return fmt::format("PyTorch seen in {} itself, a static build: its allocator is not hookable; "
                       "with PYTORCH_NO_CUDA_MEMORY_CACHING=1 each tensor is an allocation",
                       program);
}

std::vector<std::string> obstacles(const ProgramFile& program)
{
    if (program.path.empty())
        return {"there is no such program"};
    const std::string name = program.path.string();
    if (!program.executable)
        return {fmt::format("{} is not an executable file", name)};
    std::vector<std::string> lines;
    if (!program.interpreter.empty()) {
        const ProgramFile interpreter = inspect_program(program.interpreter);
        if (interpreter.interpreter.empty()) // one step: scripts that run scripts are rare
            lines = obstacles(interpreter);
        for (std::string& line : lines)
            line = fmt::format("{} is a script, run by {}: {}", name, program.interpreter, line);
        return lines;
    }
    if (program.elf && !program.native)
        lines.push_back(
            fmt::format("{} is built for another kind of machine (32-bit, or another processor): "
                        "libvramscope.so cannot be loaded into it",
                        name));
    if (program.native && program.loader.empty())
        lines.push_back(fmt::format(
            "{} is statically linked: there is no loader that could load libvramscope.so. "
            "Link it dynamically (a static CUDA runtime alone is fine)",
            name));
    if (has_loader_of_musl(program))
        lines.push_back(fmt::format("{} is linked with musl, and libvramscope.so needs glibc: "
                                    "build it on a system with glibc",
                                    name));
    if (program.privileged)
        lines.push_back(fmt::format(
            "{} runs with raised privileges (setuid, setgid or capabilities): the loader ignores "
            "LD_PRELOAD. Trace a copy without them",
            name));
    return lines;
}

} // namespace vramscope
