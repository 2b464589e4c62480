// report/analyze/growth.cpp — from series to rows.
#include "report/analyze/growth.hpp"

namespace vramscope::report {

const char* name(LeakClass found) noexcept
{
    switch (found) {
    case LeakClass::growing:
        return "growing";
    case LeakClass::start_up:
        return "start-up";
    case LeakClass::cache:
        return "cache";
    case LeakClass::once:
        return "once";
    case LeakClass::several:
        return "several";
    case LeakClass::unclear:
        break;
    }
    return "unclear";
}

} // namespace vramscope::report
