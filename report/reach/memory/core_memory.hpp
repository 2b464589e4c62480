// report/reach/memory/core_memory.hpp — the memory of a process as a core file has it.
//
// Of the kernel's, or of gcore's. What the process asked to be left out is not there: vramscope's
// own tables, and memory that a driver maps, as pinned memory. Nothing in the file is trusted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

class CoreMemory : public ProcessMemory {
public:
    // Error (bad_input): it is no core file, of another processor, or was cut.
    explicit CoreMemory(const std::filesystem::path& file);
    ~CoreMemory() override;
    CoreMemory(const CoreMemory&) = delete;
    CoreMemory& operator=(const CoreMemory&) = delete;

    bool read(Address from, void* to, std::size_t bytes) const override;
    void find_pages(Address from, std::size_t count, std::vector<char>& there) const override;

    // As the process called itself; 0: it does not say.
    std::uint32_t pid() const { return threads_.empty() ? 0 : pid_; }
    std::uint64_t written_ns() const { return written_ns_; } // of CLOCK_REALTIME

private:
    struct Segment : AddressSpan { // of what is in the file
        std::uint64_t offset = 0;
    };

    [[noreturn]] void refuse(const std::string& why) const;
    void read_file(std::uint64_t at, void* to, std::size_t bytes) const;
    void read_segments();
    void read_notes(std::uint64_t at, std::uint64_t bytes);
    void note_file_names(const std::vector<char>& note);
    bool begins_as_heap(Address begin) const;
    void name_mappings();
    void find_files();
    const Segment* find(Address address) const;

    std::filesystem::path file_;
    int descriptor_ = -1;
    std::uint64_t size_ = 0;
    std::uint64_t written_ns_ = 0;
    std::uint32_t pid_ = 0;
    std::vector<Segment> segments_;    // by address
    std::vector<MemoryMapping> named_; // by the note of files
};

} // namespace vramscope::report
