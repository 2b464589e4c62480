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

namespace vramscope::test {

inline std::string schema_path(const std::string& name)
{
    return VRAMSCOPE_SOURCE_DIR "/report/json/" + name + ".schema.json";
}

inline nlohmann::json schema(const std::string& name)
{
    return nlohmann::json::parse(std::ifstream(schema_path(name)));
}

// The exit status of the check. The text is a document, or holds one on each line.
inline int check_schema(const std::string& name, const std::string& text,
                        const std::string& suffix = ".json")
{
    const std::string path =
        testing::TempDir() + "vramscope_schema_check." + std::to_string(::getpid()) + suffix;
    std::ofstream(path) << text;
    const int status =
        std::system(("/usr/bin/python3 '" VRAMSCOPE_SOURCE_DIR "/tests/report/check_schema.py' '" +
                     schema_path(name) + "' '" + path + "' >&2")
                        .c_str());
    std::remove(path.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// How many of the lines both validators refuse.
inline std::size_t invalid_lines(const std::string& name, const std::string& text)
{
    const std::string path =
        testing::TempDir() + "vramscope_schema_count." + std::to_string(::getpid()) + ".jsonl";
    std::ofstream(path) << text;
    FILE* const check = ::popen(("/usr/bin/python3 '" VRAMSCOPE_SOURCE_DIR
                                 "/tests/report/check_schema.py' --count '" +
                                 schema_path(name) + "' '" + path + "'")
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
