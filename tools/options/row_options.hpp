// tools/options/row_options.hpp — which rows of its lists of call stacks a view shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/views.hpp"

namespace CLI {
class App;
}

namespace vramscope {

struct RowOptions {
    std::optional<std::int64_t> most; // none is taken below 0
    std::string order;                // a word of kRowOrders
    std::string least;                // a size
    std::string match;                // a regular expression
};

struct RowOrderWord {
    std::string_view word;
    report::RowOrder order;
};
inline constexpr RowOrderWord kRowOrders[] = {
    {"bytes", report::RowOrder::bytes},
    {"count", report::RowOrder::count},
    {"growth", report::RowOrder::growth},
    {"time", report::RowOrder::time},
};

// `orders`: so many of kRowOrders, the first, are those that its rows have.
void add_row_options(CLI::App& command, RowOptions& options, std::size_t orders);

// Error (usage) for a number, word, size or expression that is none.
report::RowChoice read_row_options(const RowOptions& options, std::size_t orders);

} // namespace vramscope
