// report/symbols/symbolizer_dwarf.hpp — what DWARF says of an address: calls, files, lines.
//
// A compilation unit is read once, when the first address falls into it: one pass over its entries
// gives one range index. (Asking libdw for the scopes of each address walks the unit each time.)
// Every loop over the file's data is bounded by the file's size, whatever the data says.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <elfutils/libdw.h>

#include "report/symbols/dwarf_names.hpp"
#include "report/symbols/elf_file.hpp"
#include "report/symbols/file_places.hpp"
#include "report/symbols/symbolizer_ranges.hpp"

namespace vramscope::report {

// Text lives as long as the DwarfIndex; null where DWARF does not say.
struct DwarfCall {
    const char* mangled_name = nullptr; // what a C++ function is linked by; nullptr: it has none
    const char* name = nullptr;         // as the source spells it, unqualified
    const char* full_name = nullptr; // an inlined C++ function's without a mangled name; may be ""
    const char* file = nullptr;
    int line = 0;
    int function_line = 0; // where the function begins
    bool inlined = false;
};

class DwarfIndex {
public:
    // Null if the file holds no DWARF that we can use. `file` and `places` must outlive the index.
    static std::unique_ptr<DwarfIndex> open(const ElfFile& file, const FilePlaces& places);
    ~DwarfIndex();
    DwarfIndex(const DwarfIndex&) = delete;
    DwarfIndex& operator=(const DwarfIndex&) = delete;

    // Innermost first; empty if no unit covers the address. The last call may lack its names
    // where only the line table knows the address.
    std::vector<DwarfCall> calls(std::uint64_t vaddr);

    // True once a .dwo file of -gsplit-dwarf was wanted and could not be used.
    bool split_file_missing() const { return split_file_missing_; }

private:
    // A function, or a call of one that was inlined.
    struct Scope {
        Dwarf_Off die;
        std::uint32_t outer; // the scope this one is inlined into, or kNone
        bool inlined;
    };
    struct Unit {
        Dwarf_Off die;
        bool indexed = false;
        Dwarf_Die body; // what has the entries: with -gsplit-dwarf in a file of its own
        std::vector<Scope> scopes;
        RangeIndex ranges;
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;

    DwarfIndex(const ElfFile& file, const FilePlaces& places, Dwarf* dwarf);

    bool use_alternate_file(const ElfFile& file);
    void find_units();
    void add_address_table(RangeIndex& target) const;
    void add_ranges(RangeIndex& target, Dwarf_Die& die, std::uint32_t value);
    void index_scopes(Unit& unit, Dwarf_Die& unit_die);
    Dwarf_Die body_of(Dwarf_Die& unit_die);
    std::uint32_t add_scope(Unit& unit, Dwarf_Die& die, std::uint32_t outer);

    const ElfFile& file_;
    const FilePlaces& places_;
    Dwarf* dwarf_;
    std::unique_ptr<ElfFile> alternate_file_; // dwz's shared part
    Dwarf* alternate_ = nullptr;
    RangeIndex code_;         // where ranges may begin: those of dropped code begin elsewhere
    std::vector<Unit> units_; // sorted by offset
    RangeIndex unit_ranges_;
    DwarfNames names_;
    bool split_file_missing_ = false;
    // Entries can share ranges, so a small file could ask for very many: this is the bound.
    std::uint64_t ranges_left_;
};

} // namespace vramscope::report
