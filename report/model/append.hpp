// report/model/append.hpp — rows of one log join those of the others.
#pragma once

#include <algorithm>
#include <iterator>
#include <vector>

namespace vramscope::report {

template <typename Row>
void append(std::vector<Row>& all, std::vector<Row>&& some)
{
    std::move(some.begin(), some.end(), std::back_inserter(all));
}

} // namespace vramscope::report
