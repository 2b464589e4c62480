// report/page/none/template.cpp — in place of the page, where there is no node to build it.
#include "report/page/template.hpp"

namespace vramscope::report {

std::string_view page_template() noexcept
{
    return {};
}

} // namespace vramscope::report
