// tools/commands/search_memory.hpp — a process's memory, searched for what holds its blocks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>

#include "report/reach/make_reach.hpp"
#include "tools/process/live/live_process.hpp"

namespace vramscope {

// A search, and what of the log it is of.
struct MemorySearched {
    std::uint64_t ticks; // when it began
    report::FoundReach found;
};

// `stop`: its threads stand still meanwhile. `checkpoints`: see begin_replay(); may be null. Error
// (110), if it may not be read, or ends.
MemorySearched search_memory(const LiveProcess& process, bool stop,
                             report::CheckpointStore* checkpoints);

// The same of a core file and the log of its process. Error (120), if they do not fit together.
report::FoundReach search_core(const std::filesystem::path& core, const std::filesystem::path& log,
                               report::CheckpointStore* checkpoints);

// Searches it, and writes what was found into its log.
void note_search(const LiveProcess& process, bool stop);
// Writes it into another log of the same, a copy. False: errno says why.
bool write_search(int descriptor, const MemorySearched& search) noexcept;

// While this is there, programs that were started by `run --reach` tell of the end of their work,
// and are searched then, each by a process of its own: what goes wrong there is a line on stderr,
// and is over after nine seconds.
class SearchesAtEnd {
public:
    SearchesAtEnd(); // Error (125), if there can be no socket
    ~SearchesAtEnd();
    SearchesAtEnd(const SearchesAtEnd&) = delete;
    SearchesAtEnd& operator=(const SearchesAtEnd&) = delete;

    const std::string& socket() const { return path_; } // for the program's environment

private:
    std::string folder_; // this user's alone
    std::string path_;
    pid_t server_ = -1;
};

} // namespace vramscope
