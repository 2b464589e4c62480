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

struct ElfExtent {
    std::uint64_t end = 0;                // of its memory, behind what is zeroed when it is loaded
    std::uint64_t thread_local_bytes = 0; // of each thread
    bool moves = false;                   // its addresses begin where it is loaded
};

// A word of a loaded module: how far its thread-locals lie from each thread's pointer, plus `more`.
struct ThreadLocalWord {
    std::uint64_t address;
    std::uint64_t more;
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
    // Variables, and what else is data with a size, from the same table.
    std::vector<ElfSymbol> variables() const;
    bool has_symtab() const;

    ElfExtent extent() const;                                 // as its program headers say it
    std::optional<ThreadLocalWord> thread_local_word() const; // nothing: it has none

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
