// report/page/none/template.cpp — in place of the page, where there is no node to build it.
#include "report/page/template.hpp"

namespace vramscope::report {

std::string_view page_template() noexcept
{
    return {};
}

std::string_view why_no_page() noexcept
{
    return VRAMSCOPE_WHY_NO_PAGE;
}

} // namespace vramscope::report
