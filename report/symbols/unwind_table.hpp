// report/symbols/unwind_table.hpp — whether an ELF file says how its code gets back to the caller.
//
// A stack that was recorded by such tables ends where there is none.
#pragma once

#include <cstdint>
#include <memory>

#include <elfutils/libdw.h>

#include "report/symbols/elf_file.hpp"

namespace vramscope::report {

class UnwindTable {
public:
    explicit UnwindTable(const ElfFile& file) : cfi_(dwarf_getcfi_elf(file.elf())) {}
    ~UnwindTable() { dwarf_cfi_end(cfi_); }
    UnwindTable(const UnwindTable&) = delete;
    UnwindTable& operator=(const UnwindTable&) = delete;

    bool covers(std::uint64_t vaddr) const;

private:
    Dwarf_CFI* cfi_; // null: the file has no table at all
};

} // namespace vramscope::report
