// report/import/output/imported.hpp — what became of a recording, for the person who imports it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace vramscope::report {

struct Imported {
    std::string what; // "PyTorch memory snapshot"
    std::uint64_t events = 0;
    std::uint64_t older_blocks = 0;   // that lived before the recording began
    std::vector<std::string> unknown; // what it does not tell, in whole sentences
};

} // namespace vramscope::report
