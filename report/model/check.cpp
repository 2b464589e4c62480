// report/model/check.cpp — amounts as they are shown to programs.
#include "report/model/check.hpp"

#include <algorithm>

namespace vramscope::report {

Amount amount_of(double value, CheckUnit unit)
{
    if (unit == CheckUnit::bytes || unit == CheckUnit::count)
        return static_cast<std::uint64_t>(std::min(value, 0x1p63));
    return value;
}

} // namespace vramscope::report
