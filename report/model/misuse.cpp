// report/model/misuse.cpp — the words of the JSON report.
#include "report/model/misuse.hpp"

namespace vramscope::report {

const char* name(MisuseKind kind) noexcept
{
    switch (kind) {
    case MisuseKind::double_free:
        return "double-free";
    case MisuseKind::never_allocated:
        return "never-allocated";
    case MisuseKind::after_context:
        return "free-after-context";
    case MisuseKind::wrong_api:
        return "wrong-api";
    case MisuseKind::interior_pointer:
        return "interior-pointer";
    case MisuseKind::unknown:
    case MisuseKind::none:
        break;
    }
    return "unknown";
}

} // namespace vramscope::report
