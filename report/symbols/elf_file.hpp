// report/symbols/elf_file.hpp — one ELF file, opened so that nothing on disk can block us.
//
// Never opens a pipe or a device. Data is read, not mapped: a file cut short while we read it gives
// an error instead of SIGBUS.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct Elf;

namespace vramscope::report {

struct AddressRange {
    std::uint64_t low;
    std::uint64_t high;
};

struct ElfSymbol {
    const char* name; // lives as long as the ElfFile
    std::uint64_t address;
    std::uint64_t bytes;
    bool global;
};

enum class ElfKind {
    linked, // programs, libraries and their debug files: what has addresses
    any,    // also what dwz writes, which counts as an object file
};

class ElfFile {
public:
    // Null with `why_not` set ("no such file", ...) if this is not a file we can use.
    static std::unique_ptr<ElfFile> open(const std::filesystem::path& path, ElfKind kind,
                                         std::string& why_not);
    ~ElfFile();
    ElfFile(const ElfFile&) = delete;
    ElfFile& operator=(const ElfFile&) = delete;

    Elf* elf() const { return elf_; }
    const std::filesystem::path& path() const { return path_; }
    std::uint64_t bytes() const { return bytes_; }

    std::string build_id() const;   // raw bytes; empty if it has none
    std::string debug_link() const; // file name in .gnu_debuglink; empty if none
    std::vector<AddressRange> code_sections() const;
    // Whether each debug section that libdw takes strings from ends with the end of a string. libdw
    // (0.188) does not check this of some, and would read on past the section. Ask when libdw has
    // unpacked them.
    bool debug_strings_end() const;
    // Functions of .symtab, or of .dynsym where .symtab is missing. Symbols without a size are left
    // out: how far they reach would be a guess.
    std::vector<ElfSymbol> functions() const;
    bool has_symtab() const;

    bool native() const;                     // it is for this machine's kind of processor
    std::string loader() const;              // a dynamic program's loader; empty if it names none
    std::vector<std::string> needed() const; // the libraries that it names

private:
    ElfFile(int fd, Elf* elf, std::filesystem::path path, std::uint64_t bytes);

    int fd_;
    Elf* elf_;
    std::filesystem::path path_;
    std::uint64_t bytes_;
};

} // namespace vramscope::report
