// report/text/rows.cpp — see rows.hpp.
#include "report/text/rows.hpp"

#include <memory>
#include <regex>

#include <fmt/format.h>

#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

RowNumbers numbers_of(const Leak& row)
{
    return {row.bytes, row.blocks, row.rate.bytes_per_second, row.first_ns};
}

RowNumbers numbers_of(const Growth& row)
{
    return {row.bytes, row.blocks, row.rate.bytes_per_second, row.rate.first_ns};
}

RowNumbers numbers_of(const PeakStack& row)
{
    return {row.bytes, row.blocks, 0, 0};
}

RowNumbers numbers_of(const ChurnSite& row)
{
    return {row.allocated_bytes, row.allocations, 0, 0};
}

RowNumbers numbers_of(const SharedLeak& row)
{
    return {row.bytes, row.blocks, row.growth, row.first_ns};
}

bool comes_before(const RowNumbers& one, const RowNumbers& other, RowOrder order)
{
    switch (order) {
    case RowOrder::bytes:
        return one.bytes > other.bytes;
    case RowOrder::count:
        return one.blocks > other.blocks;
    case RowOrder::growth:
        return one.growth > other.growth;
    case RowOrder::time:
        return one.first_ns < other.first_ns;
    case RowOrder::as_found:
        break;
    }
    return false;
}

std::string rest_in_words(bool any_shown, std::uint64_t more, std::uint64_t bytes)
{
    if (more == 0)
        return "";
    const std::string of = bytes == 0 ? "" : ", " + human_bytes(bytes); // objects have none
    return any_shown ? fmt::format("... and {}{}", counted(more, "more call stack"), of)
                     : fmt::format("None of {}{}{} is shown", counted(more, "call stack"), of,
                                   bytes == 0 ? "" : ",");
}

std::function<bool(const CallPlace&)> matching(const std::string& expression)
{
    const auto wanted = std::make_shared<const std::regex>(expression, std::regex::ECMAScript |
                                                                           std::regex::optimize);
    return [wanted](const CallPlace& call) {
        return std::any_of(call.stack.begin(), call.stack.end(), [&](const Frame& frame) {
            return std::regex_search(function_of(frame), *wanted) ||
                   std::regex_search(place_of(frame), *wanted);
        });
    };
}

} // namespace vramscope::report
