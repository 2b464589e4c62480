// report/page/template.hpp — the page that web/ was built to, with a place for its data.
#pragma once

#include <string_view>

namespace vramscope::report {

std::string_view page_template() noexcept; // empty: built without it

} // namespace vramscope::report
