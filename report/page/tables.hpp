// report/page/tables.hpp — the texts, frames and stacks of a page, each of them once.
//
// Rows name them by number: a program's call stacks share most of their frames. All text is made
// safe to read: control characters and marks of direction become visible.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/json/parts.hpp"
#include "report/page/limits.hpp"

namespace vramscope::report {

// Rows as a list for each column: {"bytes":[1,2],"blocks":[3,4]}. All rows have the same columns.
class Columns {
public:
    void add(const Json& row)
    {
        for (const auto& [name, value] : row.items())
            columns_[name].push_back(value);
    }
    Json take() { return std::move(columns_); }

private:
    Json columns_ = Json::object();
};

class PageTables {
public:
    explicit PageTables(const PageLimits& limits) : limits_(limits) {}

    const PageLimits& limits() const noexcept { return limits_; }
    Json text(std::string_view text); // its number; 0 is the empty one
    // The members `stack`, the number of its stack, and `own`, which of its frames is the program's
    // own innermost one, are added to a row, and its API.
    Json with_call(Json row, const CallPlace& call);

    // The first of the rows, as many as the limits let; `what` are those that are left out.
    template <typename Row, typename RowJson>
    Json rows_of(const std::vector<Row>& rows, const char* what, RowJson row_json)
    {
        Columns columns;
        const std::size_t shown = std::min(rows.size(), limits_.rows);
        for (std::size_t at = 0; at < shown; ++at)
            columns.add(row_json(rows[at]));
        if (shown < rows.size())
            note_thinned(rows.size(), shown, what);
        return columns.take();
    }

    void note_thinned(std::size_t all, std::size_t shown, const char* what);

    // The members `strings`, `frames`, `stacks` and `thinned`, which come last.
    void add_to(Json& document);

private:
    std::size_t frame(const Frame& frame);

    const PageLimits limits_;
    std::map<std::string, std::size_t, std::less<>> numbers_{{"", 0}};
    Json strings_ = Json::array({""});
    std::map<std::vector<std::size_t>, std::size_t> frame_numbers_; // by the columns of a frame
    Columns frames_;
    std::map<std::vector<std::size_t>, std::size_t> stack_numbers_;
    Json stacks_ = Json::array();
    Json thinned_ = Json::array();
    std::size_t cut_texts_ = 0;
};

} // namespace vramscope::report
