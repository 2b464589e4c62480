// tests/report/symbols/fixture_file.hpp — fixture programs and their sources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

// The built program of that name.
std::filesystem::path fixture(const std::string& name);
// The module as a log would name it.
ModuleId module_of(const std::filesystem::path& program);
// The address of a symbol, MARK(name) for one; throws if there is none.
std::uint64_t address_of(const std::filesystem::path& program, const std::string& symbol);
// Where and how long a section is; throws if there is none.
std::pair<std::uint64_t, std::uint64_t> section_of(const std::filesystem::path& program,
                                                   const std::string& name);
// A source file of the fixtures, and the one line in it that contains `text`.
std::string source_path(const std::string& name);
int line_with(const std::string& source, const std::string& text);

std::string read_bytes(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, const std::string& bytes);

// A folder of one test, empty at its start and removed at its end.
class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

} // namespace vramscope::report
