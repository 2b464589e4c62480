// report/reach/memory/live_memory.hpp — the memory of a process that runs, read from outside.
//
// process_vm_readv() and /proc alone: nothing runs in the process, and unless it is to be stopped,
// no thread of it notices. Where it is, its threads stand still until this is destroyed, also if
// this command is killed.
#pragma once

#include <memory>
#include <sys/types.h>
#include <vector>

#include "report/reach/memory/process_memory.hpp"

namespace vramscope::report {

class LiveMemory : public ProcessMemory {
public:
    // Error (nothing_observed), if the kernel does not allow it, or the process has ended.
    LiveMemory(pid_t pid, bool stop);
    ~LiveMemory() override;
    LiveMemory(const LiveMemory&) = delete;
    LiveMemory& operator=(const LiveMemory&) = delete;

    // Error, unless it is there still: what was read before is of a process then.
    void expect_alive() const;

    bool read(Address from, void* to, std::size_t bytes) const override;
    void find_pages(Address from, std::size_t count, std::vector<char>& there) const override;

private:
    struct Stopped {
        pid_t tid;
        int signal; // that was on its way to it
    };

    void read_mappings();
    // By which its bytes can be read; empty: by none.
    std::filesystem::path file_of(const MemoryMapping& mapping) const;
    bool stop_new_threads();
    bool wait_for_stop(pid_t tid, int& signal) const;
    void stop();
    void resume() noexcept;
    void read_waiting_threads();

    pid_t pid_;
    int page_map_;
    std::vector<Stopped> stopped_threads_;
};

} // namespace vramscope::report
