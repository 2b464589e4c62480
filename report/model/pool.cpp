// report/model/pool.cpp — the words of PyTorch's snapshots.
#include "report/model/pool.hpp"

namespace vramscope::report {

const char* name(BlockState state) noexcept
{
    switch (state) {
    case BlockState::active_allocated:
        return "active_allocated";
    case BlockState::active_pending_free:
        return "active_pending_free";
    case BlockState::inactive:
        break;
    }
    return "inactive";
}

} // namespace vramscope::report
