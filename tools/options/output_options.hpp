// tools/options/output_options.hpp — where what a command found goes: --json, --html, -o, --open.
//
// They mean the same everywhere, and so does what a report may not be written over.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/options/suppression_options.hpp"
#include "tools/output/output_file.hpp"
#include "tools/output/results.hpp"

namespace vramscope {

inline constexpr const char* kForceHelp = "overwrite a file that vramscope did not write";

struct OutputOptions {
    std::string json;         // empty: none; "-": stdout
    std::string html;         // as `json`
    bool open = false;        // the page in a browser
    bool force = false;       // overwrite what these two name
    bool pool_blocks = false; // of a report's JSON
    bool by_o = false;        // one of them was named by -o
    bool quiet = false; // of views: the verdict alone, and where a file is written not even that

    // A page takes the place of the text, and so does what -o names: what is said then is where it
    // is. JSON goes beside the text, unless it goes to stdout.
    bool in_place_of_text() const { return by_o || !html.empty() || (quiet && !json.empty()); }
};

// `what` is written: "the report".
void add_json_options(CLI::App& command, OutputOptions& options, const std::string& what,
                      const std::string& force_help = kForceHelp);

// Of commands whose JSON is a report.
void add_pool_blocks_option(CLI::App& command, OutputOptions& options);

// --html and --open.
void add_html_options(CLI::App& command, OutputOptions& options);

// All of them, -o FILE.html or FILE.json too, and how text is shown.
void add_output_options(CLI::App& command, OutputOptions& options, const std::string& what);

// Where the page goes: not over what is taken, nor where the JSON goes. Error (125) if one is
// wanted and this vramscope was built without pages, or is to be opened and goes to no file.
Output page_output(const OutputOptions& options, std::vector<std::filesystem::path> taken);

// Every file that a command reads; an empty name is none.
std::vector<std::filesystem::path> inputs(const std::vector<std::filesystem::path>& logs,
                                          const SuppressionOptions& suppressions,
                                          const std::vector<std::string>& others = {});

// write_results(), but for text in whose place something else is written.
void write_found(const Output& json, const OutputOptions& options, const WriteJson& write_json,
                 const std::function<void(std::ostream&)>& write_text);

// Writes it and says where it is, and opens it if that was asked for.
void write_page(const Output& output, const std::string& page, const OutputOptions& options);

} // namespace vramscope
