// report/log/file_bytes.hpp — reads of a file that may be anybody's, and may change meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vramscope::report {

// Bytes read: less than asked for at the end of the file, or on a read error.
std::size_t read_file(int descriptor, std::uint64_t offset, void* out, std::size_t bytes) noexcept;

// Of this process so far: where something went wrong, not where a file ended. Whoever gives away
// what was read asks before and after it.
std::uint64_t failed_reads() noexcept;

// How large it is now. 0: it cannot be said, and nothing can be read.
std::uint64_t bytes_of_file(int descriptor) noexcept;

} // namespace vramscope::report
