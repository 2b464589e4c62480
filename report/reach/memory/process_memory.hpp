// report/reach/memory/process_memory.hpp — the memory of a process, wherever it is read from.
//
// Nothing that is read is trusted: not an address, not a size, not a number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace vramscope::report {

using Address = std::uint64_t;

struct AddressSpan { // [begin, end)
    Address begin = 0;
    Address end = 0;
};

inline constexpr Address kPageBytes = 4096;

struct MemoryMapping : AddressSpan {
    Address offset = 0; // in the file
    bool writable = false;
    bool shared = false;
    bool own = false;           // vramscope's own tables (capture::map_pages, pool::map_pages)
    std::uint64_t inode = 0;    // 0: no file
    std::string name;           // of the file, or "[heap]"; empty: anonymous
    std::filesystem::path file; // where that file can be opened; empty: it was replaced or is gone
};

struct SeenThread {
    std::uint32_t tid = 0;
    Address stack_pointer = 0;            // 0: not known, as the thread runs
    Address thread_pointer = 0;           // 0: not known
    std::vector<std::uint64_t> registers; // none: they could not be seen
};

// A register as the processor's manual calls it.
std::string register_name(std::size_t index);

// With the registers as the kernel gives them (NT_PRSTATUS); none: they could not be seen.
SeenThread thread_with(std::uint32_t tid, std::vector<std::uint64_t> registers);

// And its vector registers, as the kernel gives them (NT_PRFPREG), if it ran.
void add_vectors(SeenThread& thread, const void* state, std::size_t bytes);

class ProcessMemory {
public:
    virtual ~ProcessMemory() = default;

    // All of it, or nothing.
    virtual bool read(Address from, void* to, std::size_t bytes) const = 0;
    // Of `count` pages from a page's address on, those that have memory.
    virtual void find_pages(Address from, std::size_t count, std::vector<char>& there) const = 0;

    const std::vector<MemoryMapping>& mappings() const { return mappings_; } // by address
    const std::vector<SeenThread>& threads() const { return threads_; }
    // vramscope's own tables are not in it, as what was to be left out.
    bool own_left_out() const { return own_left_out_; }
    bool stopped() const { return stopped_; } // then all of it is of one moment, with registers

    // 0 where it cannot be read.
    std::uint64_t word(Address from) const
    {
        std::uint64_t value = 0;
        return read(from, &value, sizeof value) ? value : 0;
    }

protected:
    std::vector<MemoryMapping> mappings_;
    std::vector<SeenThread> threads_;
    bool stopped_ = false;
    bool own_left_out_ = false;
};

} // namespace vramscope::report
