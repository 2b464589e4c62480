// tests/support/schema_check.hpp — has two validators hold JSON against a schema of ours.
//
// They run in tests/report/check_schema.py.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/exporters/exporters.hpp"
#include "report/json/json.hpp"

namespace vramscope::test {

inline std::string schema_text(const std::string& name)
{
    return name == "events" ? report::events_schema() : report::report_schema_text();
}

// A file with a schema, for as long as this lives.
class SchemaFile {
public:
    explicit SchemaFile(const std::string& name)
        : path_(testing::TempDir() + "vramscope_" + name + "." + std::to_string(::getpid()) +
                ".schema.json")
    {
        std::ofstream(path_) << schema_text(name);
    }
    ~SchemaFile() { std::remove(path_.c_str()); }
    SchemaFile(const SchemaFile&) = delete;
    SchemaFile& operator=(const SchemaFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

inline nlohmann::json schema(const std::string& name)
{
    return nlohmann::json::parse(schema_text(name));
}

// The exit status of the check. The text is a document, or holds one on each line.
inline int check_schema(const std::string& name, const std::string& text,
                        const std::string& suffix = ".json")
{
    const SchemaFile schema_file(name);
    const std::string path =
        testing::TempDir() + "vramscope_schema_check." + std::to_string(::getpid()) + suffix;
    std::ofstream(path) << text;
    const int status =
        std::system(("/usr/bin/python3 '" VRAMSCOPE_SOURCE_DIR "/tests/report/check_schema.py' '" +
                     schema_file.path() + "' '" + path + "' >&2")
                        .c_str());
    std::remove(path.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// How many of the lines both validators refuse.
inline std::size_t invalid_lines(const std::string& name, const std::string& text)
{
    const SchemaFile schema_file(name);
    const std::string path =
        testing::TempDir() + "vramscope_schema_count." + std::to_string(::getpid()) + ".jsonl";
    std::ofstream(path) << text;
    FILE* const check = ::popen(("/usr/bin/python3 '" VRAMSCOPE_SOURCE_DIR
                                 "/tests/report/check_schema.py' --count '" +
                                 schema_file.path() + "' '" + path + "'")
                                    .c_str(),
                                "r");
    unsigned long count = 0;
    const bool counted = check && std::fscanf(check, "%lu", &count) == 1;
    const bool ended_well = check && ::pclose(check) == 0;
    std::remove(path.c_str());
    EXPECT_TRUE(counted && ended_well) << "the validators could not tell, or do not agree";
    return count;
}

} // namespace vramscope::test
