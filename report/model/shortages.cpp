// report/model/shortages.cpp — the words of the JSON report.
#include "report/model/shortages.hpp"

namespace vramscope::report {

const char* name(ShortageKind kind) noexcept
{
    switch (kind) {
    case ShortageKind::lacking:
        return "lacking";
    case ShortageKind::fragmented:
        return "fragmented";
    case ShortageKind::cached:
        return "cached";
    case ShortageKind::unknown:
        break;
    }
    return "unknown";
}

} // namespace vramscope::report
