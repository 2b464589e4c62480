// tools/process/live/checkpoint_cache.hpp — what was read of the logs of running programs, in the
// user's cache.
//
// The second question about a long log need not read it again. Files are the user's own, for nobody
// else to read, as logs are; what another could have written is not taken. The oldest are removed:
// after a week, or where there are too many. Where there is no folder for a cache, or it cannot be
// written, there is none, and nothing is said.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "report/checkpoint/checkpoint_store.hpp"

namespace vramscope {

class CheckpointCache final : public report::CheckpointStore {
public:
    // In $XDG_CACHE_HOME, or ~/.cache.
    CheckpointCache();

    std::string find(const format::FileHeader& log, Kind kind) override;
    void keep(const format::FileHeader& log, Kind kind, std::string_view checkpoint) override;

private:
    bool is_usable() const; // both folders are there, and the user's own
    std::filesystem::path name_of(const format::FileHeader& log, Kind kind) const;
    void remove_old() const;

    std::filesystem::path folder_; // empty: there is none
};

} // namespace vramscope
