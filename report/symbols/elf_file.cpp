// report/symbols/elf_file.cpp — ElfFile on libelf.
#include "report/symbols/elf_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

namespace vramscope::report {

namespace {

// Larger files exist only by accident or ill will, and their debug sections would have to fit in
// the memory of this machine.
constexpr std::uint64_t kMaxFileBytes = 8ULL << 30;

#if defined(__x86_64__)
constexpr GElf_Half kNativeMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr GElf_Half kNativeMachine = EM_AARCH64;
#endif

constexpr GElf_Xword kMaxPathBytes = 4096; // the loader's own limit for a path

std::string describe(int error)
{
    return error == ENOENT || error == ENOTDIR ? "no such file" : std::strerror(error);
}

// Opening a device may act on it and opening a pipe may block, so look before and after.
int open_regular(const std::filesystem::path& path, std::uint64_t& bytes, std::string& why_not)
{
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) {
        why_not = describe(errno);
        return -1;
    }
    if (!S_ISREG(info.st_mode)) {
        why_not = "not a regular file";
        return -1;
    }
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        why_not = describe(errno);
        return -1;
    }
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        why_not = "not a regular file";
    } else if (static_cast<std::uint64_t>(info.st_size) > kMaxFileBytes) {
        why_not = "larger than 8 GiB";
    } else {
        bytes = static_cast<std::uint64_t>(info.st_size);
        return fd;
    }
    ::close(fd);
    return -1;
}

bool is_kind(Elf* elf, ElfKind kind)
{
    GElf_Ehdr header;
    if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr)
        return false;
    return kind == ElfKind::any || header.e_type == ET_EXEC || header.e_type == ET_DYN;
}

Elf_Scn* find_section(Elf* elf, GElf_Word type, GElf_Shdr& header)
{
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
        if (gelf_getshdr(section, &header) != nullptr && header.sh_type == type)
            return section;
    }
    return nullptr;
}

bool is_sized_function(const GElf_Sym& symbol)
{
    const auto type = GELF_ST_TYPE(symbol.st_info);
    // Assembly often leaves the type out but gives a size: then the size is what counts.
    const bool code = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
    return code && symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS &&
           symbol.st_size != 0;
}

// Of .symtab, or of .dynsym where .symtab is missing.
template <typename IsWanted>
std::vector<ElfSymbol> symbols_of(Elf* elf, IsWanted is_wanted)
{
    std::vector<ElfSymbol> symbols;
    GElf_Shdr header;
    Elf_Scn* section = find_section(elf, SHT_SYMTAB, header);
    if (section == nullptr)
        section = find_section(elf, SHT_DYNSYM, header);
    Elf_Data* const data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
    if (data == nullptr || data->d_buf == nullptr)
        return symbols;
    const std::size_t entry_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
    const auto count = entry_bytes != 0 ? std::min<std::size_t>(data->d_size / entry_bytes,
                                                                std::numeric_limits<int>::max())
                                        : 0;
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Sym symbol;
        if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || !is_wanted(symbol) ||
            symbol.st_size > std::numeric_limits<GElf_Addr>::max() - symbol.st_value)
            continue;
        const char* const name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name != nullptr && *name != '\0')
            symbols.push_back(
                {name, symbol.st_value, symbol.st_size, GELF_ST_BIND(symbol.st_info) != STB_LOCAL});
    }
    return symbols;
}

} // namespace

std::unique_ptr<ElfFile> ElfFile::open(const std::filesystem::path& path, ElfKind kind,
                                       std::string& why_not)
{
    std::uint64_t bytes = 0;
    const int fd = open_regular(path, bytes, why_not);
    if (fd < 0)
        return nullptr;
    elf_version(EV_CURRENT);
    Elf* const elf = elf_begin(fd, ELF_C_READ, nullptr);
    if (!is_kind(elf, kind)) {
        elf_end(elf);
        ::close(fd);
        why_not = "not an ELF program or library";
        return nullptr;
    }
    return std::unique_ptr<ElfFile>(new ElfFile(fd, elf, path, bytes));
}

ElfFile::ElfFile(int fd, Elf* elf, std::filesystem::path path, std::uint64_t bytes)
    : fd_(fd), elf_(elf), path_(std::move(path)), bytes_(bytes)
{
}

ElfFile::~ElfFile()
{
    elf_end(elf_);
    ::close(fd_);
}

std::string ElfFile::build_id() const
{
    const void* id = nullptr;
    const auto bytes = dwelf_elf_gnu_build_id(elf_, &id);
    return bytes > 0 ? std::string(static_cast<const char*>(id), static_cast<std::size_t>(bytes))
                     : std::string();
}

std::string ElfFile::debug_link() const
{
    GElf_Word checksum = 0;
    const char* const name = dwelf_elf_gnu_debuglink(elf_, &checksum);
    return name != nullptr ? name : "";
}

std::vector<AddressRange> ElfFile::code_sections() const
{
    std::vector<AddressRange> ranges;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
        GElf_Shdr header;
        constexpr GElf_Xword kCode = SHF_ALLOC | SHF_EXECINSTR;
        if (gelf_getshdr(section, &header) != nullptr && (header.sh_flags & kCode) == kCode &&
            header.sh_size <= std::numeric_limits<GElf_Addr>::max() - header.sh_addr)
            ranges.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    }
    return ranges;
}

bool ElfFile::debug_strings_end() const
{
    std::size_t names = 0;
    if (elf_getshdrstrndx(elf_, &names) != 0)
        return false;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf_, section)) != nullptr;) {
        GElf_Shdr header;
        const char* const text = gelf_getshdr(section, &header) != nullptr
                                     ? elf_strptr(elf_, names, header.sh_name)
                                     : nullptr;
        const std::string_view name = text != nullptr ? text : "";
        if (!name.starts_with(".debug_str") && !name.starts_with(".debug_line_str") &&
            !name.starts_with(".zdebug_str") && !name.starts_with(".zdebug_line_str"))
            continue;
        if (name.find("offsets") != name.npos)
            continue;
        const Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data != nullptr && data->d_buf != nullptr && data->d_size != 0 &&
            static_cast<const char*>(data->d_buf)[data->d_size - 1] != '\0')
            return false;
    }
    return true;
}

bool ElfFile::has_symtab() const
{
    GElf_Shdr header;
    return find_section(elf_, SHT_SYMTAB, header) != nullptr;
}

std::vector<ElfSymbol> ElfFile::functions() const
{
    return symbols_of(elf_, is_sized_function);
}

std::vector<ElfSymbol> ElfFile::variables() const
{
    return symbols_of(elf_, [](const GElf_Sym& symbol) {
        return GELF_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx != SHN_UNDEF &&
               symbol.st_size != 0;
    });
}

ElfExtent ElfFile::extent() const
{
    ElfExtent extent;
    GElf_Ehdr file;
    std::size_t count = 0;
    if (gelf_getehdr(elf_, &file) == nullptr || elf_getphdrnum(elf_, &count) != 0)
        return extent;
    extent.moves = file.e_type == ET_DYN;
    for (int at = 0; static_cast<std::size_t>(at) < count; ++at) {
        GElf_Phdr header;
        if (gelf_getphdr(elf_, at, &header) == nullptr ||
            header.p_memsz > std::numeric_limits<GElf_Addr>::max() - header.p_vaddr)
            continue;
        if (header.p_type == PT_LOAD)
            extent.end = std::max(extent.end, header.p_vaddr + header.p_memsz);
        if (header.p_type == PT_TLS)
            extent.thread_local_bytes = header.p_memsz;
    }
    return extent;
}

std::optional<ThreadLocalWord> ElfFile::thread_local_word() const
{
#if defined(__aarch64__)
    constexpr GElf_Xword kThreadOffset = R_AARCH64_TLS_TPREL;
#else
    constexpr GElf_Xword kThreadOffset = R_X86_64_TPOFF64;
#endif
    GElf_Shdr header;
    Elf_Scn* const section = find_section(elf_, SHT_RELA, header);
    Elf_Data* const data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
    GElf_Rela entry;
    for (int at = 0; gelf_getrela(data, at, &entry) != nullptr; ++at)
        if (GELF_R_TYPE(entry.r_info) == kThreadOffset && GELF_R_SYM(entry.r_info) == 0)
            return ThreadLocalWord{entry.r_offset, static_cast<std::uint64_t>(entry.r_addend)};
    return std::nullopt;
}

bool ElfFile::native() const
{
    GElf_Ehdr header;
    return gelf_getclass(elf_) == ELFCLASS64 && gelf_getehdr(elf_, &header) != nullptr &&
           header.e_machine == kNativeMachine;
}

std::string ElfFile::loader() const
{
    std::size_t count = 0;
    if (elf_getphdrnum(elf_, &count) != 0)
        return {};
    for (int at = 0; static_cast<std::size_t>(at) < count; ++at) {
        GElf_Phdr header;
        if (gelf_getphdr(elf_, at, &header) == nullptr || header.p_type != PT_INTERP)
            continue;
        const Elf_Data* const data =
            elf_getdata_rawchunk(elf_, static_cast<std::int64_t>(header.p_offset),
                                 std::min(header.p_filesz, kMaxPathBytes), ELF_T_BYTE);
        if (data == nullptr || data->d_buf == nullptr)
            return {};
        const std::string_view text(static_cast<const char*>(data->d_buf), data->d_size);
        return std::string(text.substr(0, text.find('\0')));
    }
    return {};
}

std::vector<std::string> ElfFile::needed() const
{
    std::vector<std::string> names;
    GElf_Shdr header;
    Elf_Scn* const section = find_section(elf_, SHT_DYNAMIC, header);
    Elf_Data* const data = section != nullptr ? elf_getdata(section, nullptr) : nullptr;
    GElf_Dyn entry;
    for (int at = 0; gelf_getdyn(data, at, &entry) != nullptr && entry.d_tag != DT_NULL; ++at) {
        const char* const name =
            entry.d_tag == DT_NEEDED ? elf_strptr(elf_, header.sh_link, entry.d_un.d_val) : nullptr;
        if (name != nullptr)
            names.emplace_back(name);
    }
    return names;
}

} // namespace vramscope::report
