// report/json/memory.hpp — waterfalls for the page, until it is made of the report's document.
#pragma once

#include "report/json/parts.hpp"
#include "report/model/memory.hpp"

namespace vramscope::report {

inline Json waterfall_json(const Waterfall& parts)
{
    return to_json(parts, Audience::page);
}

} // namespace vramscope::report
