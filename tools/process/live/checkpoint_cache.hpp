// tools/process/live/checkpoint_cache.hpp — what was read of the logs of running programs, in the
// user's cache.
//
// The second question about a long log need not read it again.
#pragma once

#include <string>
#include <string_view>

#include "report/checkpoint/checkpoint_store.hpp"
#include "tools/process/live/user_cache.hpp"

namespace vramscope {

class CheckpointCache final : public report::CheckpointStore {
public:
    CheckpointCache();

    std::string find(const format::FileHeader& log, Kind kind) override;
    void keep(const format::FileHeader& log, Kind kind, std::string_view checkpoint) override;

private:
    UserCache files_;
};

} // namespace vramscope
