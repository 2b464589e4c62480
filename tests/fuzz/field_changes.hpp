// tests/fuzz/field_changes.hpp — changes what a log says, and leaves it a log.
//
// Records are read and written again by the format's own description: every field of every record,
// and the headers' numbers. A number becomes one that nobody knows, a huge one, a negative one, or
// one that means something else in the same log.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace vramscope::test {

/// `log`: a whole file, not packed. Changes one to four fields of one of its chunks, or of a header;
/// what no longer fits into the chunk is left out at its end. What is not a log stays as it is.
void change_fields(std::vector<std::uint8_t>& log, std::mt19937_64& random);

/// Takes each chunk apart and puts it together again: the log says what it said.
void rewrite(std::vector<std::uint8_t>& log);

} // namespace vramscope::test
