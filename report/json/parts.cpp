// report/json/parts.cpp — frames, stacks and calls.
#include "report/json/parts.hpp"

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

Json frame_json(const Frame& frame)
{
    Json json = {{"function", or_null(frame.function)},
                 {"file", or_null(frame.file)},
                 {"line", if_known(frame.line > 0, frame.line)},
                 {"module", or_null(frame.module)},
                 {"offset", fmt::format("{:#x}", frame.offset)},
                 {"inlined", frame.inlined},
                 {"build_id", or_null(hex_digits(frame.build_id))}};
    if (frame.python)
        json["python"] = true;
    return json;
}

Json or_null(const std::string& text)
{
    return text.empty() ? Json(nullptr) : Json(text);
}

Json stack_json(const std::vector<Frame>& frames)
{
    Json stack = Json::array();
    for (const Frame& frame : frames)
        stack.push_back(frame_json(frame));
    return stack;
}

Json ordinal_json(std::int32_t device)
{
    return if_known(device >= 0, device);
}

Json with_stack(Json row, const CallPlace& call)
{
    row["stack"] = stack_json(call.stack);
    row["stack_truncated"] = call.stack_truncated;
    row["stack_cut"] = call.cut == StackCut::none ? Json(nullptr) : Json(name(call.cut));
    return row;
}

Json call_json(const TimedCall& call)
{
    return with_stack({{"api", call.api}, {"entry_point", call.entry_point}, {"at_ns", call.at_ns}},
                      call);
}

Json call_or_null(const std::optional<TimedCall>& call)
{
    return call ? call_json(*call) : Json(nullptr);
}

} // namespace vramscope::report
