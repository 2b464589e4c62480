// interpose/serve/events.cpp — the events of allocations, and of frees that failed.
#include "interpose/serve/events.hpp"

namespace vramscope::hooks {

void record_bad_free(Call& call, CUresult result, std::uint64_t address)
{
    const bool expected =
        result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_NOT_INITIALIZED;
    if (!expected && call.ready())
        log::write_with_stack(call.thread, call.site, call.api(), format::Failed{result, address});
}

} // namespace vramscope::hooks
