// report/symbols/split_dwarf.hpp — the entries of a unit that lie in a file of their own.
//
// -gsplit-dwarf leaves them in a .dwo file beside the program, or where it was compiled.
#pragma once

#include <cstdint>
#include <filesystem>

#include <elfutils/libdw.h>

#include "report/symbols/file_places.hpp"

namespace vramscope::report {

struct SplitUnit {
    bool wanted = false; // the unit is only a skeleton
    bool found = false;
    Dwarf_Die die;                // set if found; lives as long as the skeleton's Dwarf
    std::uint64_t file_bytes = 0; // set if found
};

// `file`: the file that holds the skeleton.
SplitUnit find_split_unit(Dwarf_Die& unit, const std::filesystem::path& file,
                          const FilePlaces& places);

} // namespace vramscope::report
