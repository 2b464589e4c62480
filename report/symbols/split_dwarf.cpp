// report/symbols/split_dwarf.cpp — libdw joins the halves; files are looked at first.
#include "report/symbols/split_dwarf.hpp"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "report/symbols/dwarf_attributes.hpp"
#include "report/symbols/elf_file.hpp"

namespace vramscope::report {

namespace {

namespace fs = std::filesystem;

// Those that libdw tries; the last one by newer versions of it.
std::vector<fs::path> candidates(Dwarf_Die& skeleton, const fs::path& file)
{
    const char* name = string_attribute(skeleton, DW_AT_dwo_name);
    if (name == nullptr)
        name = string_attribute(skeleton, DW_AT_GNU_dwo_name);
    if (name == nullptr)
        return {};
    std::error_code error;
    const fs::path itself = fs::canonical(file, error);
    const fs::path folder = itself.parent_path();
    const char* const compiled_in = string_attribute(skeleton, DW_AT_comp_dir);
    return {folder / name, folder / (compiled_in != nullptr ? compiled_in : "") / name,
            itself.string() + ".dwp"};
}

// libdw would open any file of that name, even a pipe, and trusts its strings to end. 0: not a file
// that we can use.
std::uint64_t usable_bytes(const fs::path& path)
{
    std::string why_not;
    const auto file = ElfFile::open(path, ElfKind::any, why_not);
    Dwarf* const dwarf =
        file ? dwarf_begin_elf(file->elf(), DWARF_C_READ, nullptr) : nullptr; // unpacks them
    const bool usable = dwarf != nullptr && file->debug_strings_end();
    dwarf_end(dwarf);
    return usable ? file->bytes() : 0;
}

} // namespace

SplitUnit find_split_unit(Dwarf_Die& unit, const fs::path& file, const FilePlaces& places)
{
    SplitUnit split;
    std::uint8_t type = 0;
    if (dwarf_cu_info(unit.cu, nullptr, &type, nullptr, nullptr, nullptr, nullptr, nullptr) != 0 ||
        type != DW_UT_skeleton)
        return split;
    split.wanted = true;
    for (const fs::path& path : candidates(unit, file)) {
        std::error_code error;
        if (fs::status(path, error).type() == fs::file_type::not_found)
            continue;
        const std::uint64_t bytes = places.may_refer(file, path) ? usable_bytes(path) : 0;
        if (bytes == 0)
            return split;
        split.file_bytes = std::max(split.file_bytes, bytes);
    }
    split.found = split.file_bytes > 0 &&
                  dwarf_cu_info(unit.cu, nullptr, nullptr, nullptr, &split.die, nullptr, nullptr,
                                nullptr) == 0 &&
                  split.die.addr != nullptr;
    return split;
}

} // namespace vramscope::report
