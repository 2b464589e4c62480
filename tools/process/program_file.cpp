// tools/process/program_file.cpp — reads ELF headers with every offset checked: the file may be
// anything.
#include "tools/process/program_file.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace vramscope {
namespace fs = std::filesystem;

namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kNativeMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kNativeMachine = EM_AARCH64;
#endif

constexpr std::size_t kMostEntries =
    4096; // of a table, and bytes of a name: a real program has fewer
constexpr std::size_t kMostSymbolBytes = 256 << 20;

// The bytes of an open file; a read outside of it gives false.
class Bytes {
public:
    explicit Bytes(int descriptor) : descriptor_(descriptor) {}
    bool read(void* to, std::size_t bytes, std::uint64_t offset) const
    {
        return offset <= INT64_MAX && ::pread(descriptor_, to, bytes, static_cast<off_t>(offset)) ==
                                          static_cast<ssize_t>(bytes);
    }
    std::string text(std::uint64_t offset) const
    {
        std::array<char, kMostEntries> buffer{};
        if (offset > INT64_MAX)
            return {};
        const ssize_t got =
            ::pread(descriptor_, buffer.data(), buffer.size() - 1, static_cast<off_t>(offset));
        return got > 0 ? std::string(buffer.data()) : std::string();
    }

private:
    int descriptor_;
};

std::vector<Elf64_Phdr> program_headers(const Bytes& file, const Elf64_Ehdr& header)
{
    std::vector<Elf64_Phdr> found;
    if (header.e_phentsize != sizeof(Elf64_Phdr))
        return found;
    for (std::size_t i = 0; i < header.e_phnum && i < kMostEntries; ++i) {
        Elf64_Phdr entry;
        if (!file.read(&entry, sizeof entry, header.e_phoff + i * sizeof entry))
            break;
        found.push_back(entry);
    }
    return found;
}

// The file offset of a virtual address; ~0 if no segment holds it.
std::uint64_t offset_of(const std::vector<Elf64_Phdr>& segments, std::uint64_t address)
{
    for (const Elf64_Phdr& segment : segments)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return ~std::uint64_t{0};
}

std::vector<std::string> needed_libraries(const Bytes& file,
                                          const std::vector<Elf64_Phdr>& segments)
{
    std::vector<std::uint64_t> names;
    std::uint64_t strings = ~std::uint64_t{0};
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type != PT_DYNAMIC)
            continue;
        for (std::size_t i = 0; i < kMostEntries && (i + 1) * sizeof(Elf64_Dyn) <= segment.p_filesz;
             ++i) {
            Elf64_Dyn entry;
            if (!file.read(&entry, sizeof entry, segment.p_offset + i * sizeof entry) ||
                entry.d_tag == DT_NULL)
                break;
            if (entry.d_tag == DT_NEEDED)
                names.push_back(entry.d_un.d_val);
            if (entry.d_tag == DT_STRTAB)
                strings = offset_of(segments, entry.d_un.d_ptr);
        }
    }
    std::vector<std::string> found;
    for (const std::uint64_t name : names)
        if (strings != ~std::uint64_t{0} && name < UINT32_MAX)
            found.push_back(file.text(strings + name));
    return found;
}

// Whether a symbol table defines cudaMalloc: then NVIDIA's runtime was linked in.
bool defines_cuda_malloc(const Bytes& file, const Elf64_Ehdr& header)
{
    const auto section = [&](std::size_t index, Elf64_Shdr& out) {
        return index < header.e_shnum &&
               file.read(&out, sizeof out, header.e_shoff + index * sizeof out);
    };
    for (std::size_t i = 0; header.e_shentsize == sizeof(Elf64_Shdr) && i < header.e_shnum; ++i) {
        Elf64_Shdr table, names;
        if (!section(i, table) || table.sh_type != SHT_SYMTAB || !section(table.sh_link, names) ||
            table.sh_size > kMostSymbolBytes || names.sh_size > kMostSymbolBytes)
            continue;
        std::vector<Elf64_Sym> symbols(table.sh_size / sizeof(Elf64_Sym));
        std::string text(names.sh_size, '\0');
        if (!file.read(symbols.data(), symbols.size() * sizeof(Elf64_Sym), table.sh_offset) ||
            !file.read(text.data(), text.size(), names.sh_offset))
            continue;
        for (const Elf64_Sym& symbol : symbols)
            if (symbol.st_shndx != SHN_UNDEF && symbol.st_name < text.size() &&
                std::strcmp(text.c_str() + symbol.st_name, "cudaMalloc") == 0)
                return true;
    }
    return false;
}

void inspect_elf(const Bytes& file, ProgramFile& program)
{
    Elf64_Ehdr header;
    if (!file.read(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return;
    program.elf = true;
    program.native = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kNativeMachine;
    if (!program.native)
        return;
    const auto segments = program_headers(file, header);
    for (const Elf64_Phdr& segment : segments)
        if (segment.p_type == PT_INTERP) {
            program.dynamic = true;
            program.loader = file.text(segment.p_offset);
        }
    program.needed = needed_libraries(file, segments);
    program.own_runtime = !program.needs("libcudart.so") && defines_cuda_malloc(file, header);
}

std::string script_interpreter(const Bytes& file)
{
    char start[256] = {};
    for (std::size_t i = 0; i + 1 < sizeof start && file.read(start + i, 1, i) && start[i] != '\n';
         ++i) {
    }
    std::string line = start;
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
        const fs::path candidate = fs::path(rest.substr(0, rest.find(':'))) / name;
        if (fs::is_regular_file(candidate, ignored) && ::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    }
    return {};
}

bool has_loader_of_musl(const ProgramFile& program)
{
    return fs::path(program.loader).filename().string().starts_with("ld-musl-");
}

// As the kernel decides it at exec. Root gains nothing by capabilities, so its loader is not
// strict.
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
        const Bytes file(descriptor);
        program.privileged = is_privileged(program.path, status);
        program.interpreter = script_interpreter(file);
        inspect_elf(file, program);
    } else if (descriptor >= 0) {
        program.executable = false;
    }
    if (descriptor >= 0)
        ::close(descriptor);
    return program;
}

bool runs_on_musl(const ProgramFile& program)
{
    return has_loader_of_musl(program) ||
           (!program.interpreter.empty() &&
            has_loader_of_musl(inspect_program(program.interpreter)));
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
    if (program.native && !program.dynamic)
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
