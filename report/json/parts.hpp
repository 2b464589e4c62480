// report/json/parts.hpp — what several parts of the JSON report are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/json/write.hpp"
#include "report/model/misuse.hpp"

namespace vramscope::report {

Json or_null(const std::string& text);
Json ordinal_json(std::int32_t device); // null: not known
// The row, and after its other members the stack of its call.
Json with_stack(Json row, const CallPlace& call, Audience audience = Audience::file);

template <typename Value>
Json or_null(const std::optional<Value>& value)
{
    return value ? Json(*value) : Json(nullptr);
}

template <typename Value>
Json if_known(bool known, const Value& value)
{
    return known ? Json(value) : Json(nullptr);
}

template <typename Row, typename RowJson>
Json list_json(const std::vector<Row>& rows, RowJson row_json)
{
    Json list = Json::array();
    for (const Row& row : rows)
        list.push_back(row_json(row));
    return list;
}

} // namespace vramscope::report
