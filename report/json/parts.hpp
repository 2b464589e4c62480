// report/json/parts.hpp — what several parts of the JSON report are made of.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/model/misuse.hpp"

namespace vramscope::report {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text);
Json frame_json(const Frame& frame);
Json stack_json(const std::vector<Frame>& frames);
Json ordinal_json(std::int32_t device); // null: not known
// The row, and after its other members the stack of its call.
Json with_stack(Json row, const CallPlace& call);
Json call_json(const TimedCall& call);
Json call_or_null(const std::optional<TimedCall>& call);

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
