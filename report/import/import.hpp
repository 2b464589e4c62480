// report/import/import.hpp — recordings of other tools, as logs.
#pragma once

#include <filesystem>

#include "report/import/output/imported.hpp"

namespace vramscope::report {

// Reads a recording, which it knows by its content, and writes the log to an empty regular file.
// Error with one line: bad_input if it is not a recording, usage if the log cannot be written.
Imported import_recording(const std::filesystem::path& recording, int log);

} // namespace vramscope::report
