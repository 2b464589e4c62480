// report/symbols/unwind_table.cpp — UnwindTable on elfutils' libdw.
#include "report/symbols/unwind_table.hpp"

#include <cstdlib>

namespace vramscope::report {

bool UnwindTable::covers(std::uint64_t vaddr) const
{
    Dwarf_Frame* frame = nullptr;
    const bool covered = cfi_ != nullptr && dwarf_cfi_addrframe(cfi_, vaddr, &frame) == 0;
    std::free(frame);
    return covered;
}

} // namespace vramscope::report
