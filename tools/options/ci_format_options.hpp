// tools/options/ci_format_options.hpp — a check in the formats of CI servers: --sarif, --junit, …
//
// `check` and `run --check` have the same options, and write the same files.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "tools/output/output_file.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace vramscope {

namespace report {
struct Check;
struct Report;
} // namespace report

struct CiFormatOptions {
    std::string sarif; // files, as the next two; empty: none; "-": stdout
    std::string junit;
    std::string gitlab;
    bool github = false;
    std::string source_root; // empty: the repository around the working directory
};

// `check`: the option that those of this list need; null: they need none.
void add_ci_format_options(CLI::App& command, CiFormatOptions& options, CLI::Option* check);

class CiFormatFiles {
public:
    // Error (125) if one is an input, or where another or --json (`json`) goes.
    CiFormatFiles(const CiFormatOptions& options, const std::vector<std::filesystem::path>& inputs,
                  const std::string& json, bool force);
    ~CiFormatFiles();
    CiFormatFiles(const CiFormatFiles&) = delete;
    CiFormatFiles& operator=(const CiFormatFiles&) = delete;

    bool on_stdout() const; // then no text belongs there

    // Error if one of the files is `taken`.
    void keep_off(const std::filesystem::path& taken) const;

    void write(const report::Check& check, const report::Report& report) const;

    // With --github: what `text` writes is shown to no runner as commands, and annotations follow.
    // Without: the text alone.
    void tell(std::ostream& out, const report::Check& check, const report::Report& report,
              const std::function<void(std::ostream&)>& text) const;

private:
    struct File;
    std::vector<File> files_;
    bool github_;
    std::filesystem::path root_;
    std::string summary_; // the file that GitHub shows as the job's page; empty: there is none
};

} // namespace vramscope
