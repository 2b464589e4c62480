// report/page/template.hpp — the page that web/ was built to, with a place for its data.
#pragma once

#include <string_view>

namespace vramscope::report {

std::string_view page_template() noexcept; // empty: built without it
std::string_view why_no_page() noexcept;   // "there is no npm"; empty: there is one

} // namespace vramscope::report
