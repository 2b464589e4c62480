// interpose/hooks/classified_names.hpp — tells a newer name of memory from those that we know.
#pragma once

namespace vramscope::hooks {

// The tables were made from the headers of this CUDA: a function that is asked for at a later
// version may have other parameters than the one that we know by its name.
inline constexpr int kNewestKnownVersion = 13000;

// For a name that has no row in the hook table: true if it means memory and classified_names.def
// does not have it. A version of a hooked function that we do not know is such a name too.
bool is_unknown_memory_name(const char* symbol) noexcept;

} // namespace vramscope::hooks
