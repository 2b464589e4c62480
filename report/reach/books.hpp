// report/reach/books.hpp — pointers by which a driver keeps its books, and that count for nobody.
//
// A driver that keeps addresses as they are has one for each block that it gave out, in pieces of
// its heap that are all alike, and its own variables lead there. Both must be so: a list of the
// program's may have all blocks, but the driver does not lead to it, or not by fewer steps than the
// program does: what is handed to it, as for a callback, may lead to such a list. So it is with
// PyTorch's allocator and the blocks that it cut.
#pragma once

#include <vector>

#include "report/reach/holder_search.hpp"
#include "report/reach/living_blocks.hpp"

namespace vramscope::report {

// Of the pointers that the first level found, those that are not the driver's.
std::vector<FoundPointer> without_books(std::vector<FoundPointer> found,
                                        const SearchedMemory& searched, const LivingBlocks& living);

} // namespace vramscope::report
