// report/import/import.hpp — recordings of other tools, as logs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vramscope::report {

struct Imported {
    std::string what; // "PyTorch memory snapshot"
    std::uint64_t events = 0;
    std::uint64_t older_blocks = 0;   // that lived before the recording began
    std::vector<std::string> unknown; // what it does not tell, in whole sentences
};

// Reads a recording, which it knows by its content, and writes the log to an empty regular file.
// Error with one line: bad_input for what is no recording, usage if the log cannot be written.
Imported import_recording(const std::filesystem::path& recording, int log);

} // namespace vramscope::report
