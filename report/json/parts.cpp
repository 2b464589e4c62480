// report/json/parts.cpp — see parts.hpp.
#include "report/json/parts.hpp"

namespace vramscope::report {

Json or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json ordinal_json(std::int32_t device)
{
    return if_known(device >= 0, device);
}

Json with_stack(Json row, const CallPlace& call, Audience audience)
{
    add_members(row, call, kStack, audience);
    return row;
}

} // namespace vramscope::report
