// tests/report/symbols/fixture_file.cpp — reads fixtures with libelf alone.
#include "tests/report/symbols/fixture_file.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

#include <elfutils/libdwelf.h>
#include <gelf.h>

namespace vramscope::report {

namespace {

class OpenElf {
public:
    explicit OpenElf(const std::filesystem::path& path)
        : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC))
    {
        elf_version(EV_CURRENT);
        elf_ = elf_begin(fd_, ELF_C_READ, nullptr);
        if (elf_ == nullptr)
            throw std::runtime_error(path.string() + " is not ELF");
    }
    ~OpenElf()
    {
        elf_end(elf_);
        ::close(fd_);
    }
    OpenElf(const OpenElf&) = delete;
    OpenElf& operator=(const OpenElf&) = delete;
    Elf* get() const { return elf_; }

private:
    int fd_;
    Elf* elf_ = nullptr;
};

} // namespace

std::filesystem::path fixture(const std::string& name)
{
    return std::filesystem::path(VRAMSCOPE_FIXTURE_DIR) / name;
}

ModuleId module_of(const std::filesystem::path& program)
{
    const OpenElf elf(program);
    const void* id = nullptr;
    const auto bytes = dwelf_elf_gnu_build_id(elf.get(), &id);
    return {program.string(),
            bytes > 0 ? std::string(static_cast<const char*>(id), static_cast<std::size_t>(bytes))
                      : ""};
}

std::uint64_t address_of(const std::filesystem::path& program, const std::string& symbol)
{
    const OpenElf elf(program);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data* const data = elf_getdata(section, nullptr);
        GElf_Sym found;
        for (int i = 0; gelf_getsym(data, i, &found) != nullptr; ++i) {
            if (symbol == elf_strptr(elf.get(), header.sh_link, found.st_name))
                return found.st_value;
        }
    }
    throw std::runtime_error(program.string() + " has no symbol " + symbol);
}

std::pair<std::uint64_t, std::uint64_t> section_of(const std::filesystem::path& program,
                                                   const std::string& name)
{
    const OpenElf elf(program);
    std::size_t names = 0;
    elf_getshdrstrndx(elf.get(), &names);
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
        GElf_Shdr header;
        gelf_getshdr(section, &header);
        if (name == elf_strptr(elf.get(), names, header.sh_name))
            return {header.sh_addr != 0 ? header.sh_addr : header.sh_offset, header.sh_size};
    }
    throw std::runtime_error(program.string() + " has no section " + name);
}

std::string source_path(const std::string& name)
{
    return std::string(VRAMSCOPE_SOURCE_DIR) + "/tests/report/symbols/fixture/" + name;
}

int line_with(const std::string& source, const std::string& text)
{
    std::ifstream in(source_path(source));
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
        if (line.find(text) != std::string::npos)
            return number;
    }
    throw std::runtime_error(source + " has no line with " + text);
}

std::string read_bytes(const std::filesystem::path& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::filesystem::path& file, const std::string& bytes)
{
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush())
        throw std::runtime_error("cannot write " + file.string());
}

TempDir::TempDir()
{
    auto name = (std::filesystem::temp_directory_path() / "vramscope-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::runtime_error("cannot make " + name);
    path_ = name;
}

TempDir::~TempDir()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

} // namespace vramscope::report
