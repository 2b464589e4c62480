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

namespace vramscope::test {

// A file with a schema, for as long as this lives.
class SchemaFile {
public:
    explicit SchemaFile(const std::string& name)
        : path_(name == "events" ? testing::TempDir() + "vramscope_events." +
                                       std::to_string(::getpid()) + ".schema.json"
                                 : VRAMSCOPE_SOURCE_DIR "/report/json/" + name + ".schema.json"),
          is_made_(name == "events")
    {
        if (is_made_)
            std::ofstream(path_) << report::events_schema();
    }
    ~SchemaFile()
    {
        if (is_made_)
            std::remove(path_.c_str());
    }
    SchemaFile(const SchemaFile&) = delete;
    SchemaFile& operator=(const SchemaFile&) = delete;
    const std::string& path() const { return path_; }

private:
    std::string path_;
    bool is_made_; // when it is asked for, and not a file of the source's
};

inline nlohmann::json schema(const std::string& name)
{
    return nlohmann::json::parse(std::ifstream(SchemaFile(name).path()));
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
