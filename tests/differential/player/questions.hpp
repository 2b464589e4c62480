// tests/differential/player/questions.hpp — the driver calls that vramscope makes of its own,
// inside a hooked call. The order of driver calls is compared without these, and without these
// only.
#pragma once

#include <cstring>

namespace differential {

constexpr const char* kQuestions[] = {
    "cuCtxGetCurrent",         "cuCtxGetDevice",
    "cuDeviceGetName",         "cuDevicePrimaryCtxGetState",
    "cuDeviceTotalMem_v2",     "cuDriverGetVersion",
    "cuMemGetAddressRange_v2", "cuStreamGetCtx",
    "cuStreamIsCapturing",
};

inline bool is_question(const char* name)
{
    for (const char* question : kQuestions)
        if (std::strcmp(name, question) == 0)
            return true;
    return false;
}

} // namespace differential
