// report/words/leak_words.hpp — what is left of memory at the end, as a person reads it.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope::report {

struct Report;
struct Totals;

std::string size_in_blocks(std::uint64_t bytes, std::uint64_t blocks); // "2 MiB in 3 blocks"
std::string was_or_were(std::uint64_t count);                          // " was ", " were "
std::string not_freed(std::uint64_t bytes, std::uint64_t blocks);      // "… were not freed"
std::string never_closed(std::uint64_t imports); // "1 import was never closed"

std::uint64_t leaked_stacks(const Report& report); // also those that have no row of their own

// "2 MiB in 3 blocks were not freed, from 1 call stack; 1 import was never closed"; empty: nothing.
std::string all_that_is_left(const Report& report);
// "nothing leaked; 12 allocations seen, all freed": where the line above is empty.
std::string nothing_leaked(const Totals& totals);

} // namespace vramscope::report
