// tests/support/collected_log.hpp — a log that grows and is collected meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "report/findings/make_report.hpp"
#include "tests/support/random_program.hpp"

namespace vramscope::test {

struct Played {
    std::vector<Step> steps;
    Layout layout;
};

// A random one that frees memory wrongly too; one of five has memory that overlaps, and no such
// frees.
Played program_to_collect(std::uint32_t seed);

// A log as a recorder and a collector write it: the collector takes chunks too, so those of the
// program are at other places than in the log that it would have written alone.
class CollectedLog {
public:
    CollectedLog();
    CollectedLog(const CollectedLog&) = delete;
    CollectedLog& operator=(const CollectedLog&) = delete;
    ~CollectedLog();

    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }
    int descriptor() const { return descriptor_; }

    // The log is now what it would be in these bytes.
    void grow_to(const Bytes& log);
    void collect(std::uint64_t until_ticks); // as a collector does it
    // Grows with the program; after each few steps all of them are collected.
    void play(const Played& program, std::mt19937& random);

    format::FileHeader read_header() const;
    std::uint64_t bytes_on_disk() const;
    void write(const void* bytes, std::size_t count, std::uint64_t offset);

    std::uint32_t chunks_given_back = 0;

private:
    bool is_there(std::uint32_t position) const; // else it was given back
    void copy_chunk(const std::uint8_t* bytes, std::uint32_t position);

    int descriptor_;
    std::map<std::uint32_t, std::uint32_t> place_; // of each chunk of the whole log
};

// Its report in JSON, with all sites and without what the file is called.
std::string full_report_of(const std::filesystem::path& log);
// Why no report of it can be made; empty: one was.
std::string refusal_of(const std::filesystem::path& log, const report::Options& options = {});

} // namespace vramscope::test
