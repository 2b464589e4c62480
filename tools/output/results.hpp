// tools/output/results.hpp — reports on their way to the user: progress, colours, and files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "report/findings/make_report.hpp"
#include "report/json/json.hpp"
#include "report/text/views.hpp"
#include "tools/output/output_file.hpp"

namespace vramscope {

// Draws on stderr, where that is a terminal and the work takes long enough to want a bar, until
// it is destroyed.
std::function<void(double fraction)> progress_bar();

// make_report with that bar. While an Interrupt lives, Ctrl-C ends the reading early.
report::Report read_logs(const std::vector<std::filesystem::path>& logs,
                         report::Options options = {});

// Tells which files gave no names, where no report's text does.
void warn_of(const std::vector<report::UnreadFile>& files);

report::TextStyle style_for(int descriptor);

// Throws Error (125) if it cannot be written.
void write_text_to(const Output& output, const std::string& text);
// JSON is indented on a terminal, else one line.
using WriteJson = std::function<void(std::ostream& out, report::JsonStyle style)>;
WriteJson json_of(const report::Report& report, bool pool_blocks); // which outlives it
void write_json_to(const Output& output, const WriteJson& write_json);

// Writes what a command found: as JSON where `json` says, and shows it as text, unless the JSON
// goes to stdout.
void write_results(const Output& json, const WriteJson& write_json,
                   const std::function<void(std::ostream&)>& write_text);

} // namespace vramscope
