// report/json/parts.cpp — frames, stacks and calls.
#include "report/json/parts.hpp"

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

Json frame_json(const Frame& frame)
{
    return {{"function", or_null(frame.function)},
            {"file", or_null(frame.file)},
            {"line", frame.line > 0 ? Json(frame.line) : Json(nullptr)},
            {"module", or_null(frame.module)},
            {"offset", fmt::format("{:#x}", frame.offset)},
            {"inlined", frame.inlined},
            {"build_id", or_null(hex_digits(frame.build_id))}};
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

Json cut_json(StackCut cut)
{
    return cut == StackCut::none ? Json(nullptr) : Json(name(cut));
}

Json call_json(const TimedCall& call)
{
    return {{"api", call.api},
            {"entry_point", call.entry_point},
            {"at_ns", call.at_ns},
            {"stack", stack_json(call.stack)},
            {"stack_truncated", call.stack_truncated},
            {"stack_cut", cut_json(call.cut)}};
}

Json call_or_null(const std::optional<TimedCall>& call)
{
    return call ? call_json(*call) : Json(nullptr);
}

} // namespace vramscope::report
