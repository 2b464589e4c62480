// report/page/source_lines.hpp — the lines around each one that a page names, of sources.
#pragma once

#include <vector>

#include "report/json/documents.hpp"
#include "report/symbols/file_places.hpp"

namespace vramscope::report {

// [{"file": as frames have it, "at": [numbers of lines], "lines": [their texts]}], each line once,
// with two before and two after it. The names of files come from logs: only regular files with the
// ending of a source are read, and at most so many that a page stays a page.
Json source_lines_json(const std::vector<const Json*>& documents, const FilePlaces& places);

} // namespace vramscope::report
