// report/symbols/symbol_index.hpp — functions of a symbol table, by address.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/symbols/elf_file.hpp"
#include "report/symbols/symbolizer_ranges.hpp"

namespace vramscope::report {

// The function of a symbol: without the compiler's clone suffix (.cold, .isra.0) and the version.
std::string demangle(std::string symbol);

// Of several names for the same code the shortest range wins, then the name that users write: fewer
// leading underscores, global before local.
class SymbolIndex {
public:
    explicit SymbolIndex(const ElfFile& file);

    const char* find(std::uint64_t vaddr) const; // a string of the file; nullptr: none is there

private:
    RangeIndex index_;
    std::vector<const char*> names_;
};

} // namespace vramscope::report
