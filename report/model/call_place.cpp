// report/model/call_place.cpp — when two calls are the same to a reader.
#include "report/model/call_place.hpp"

#include <algorithm>

namespace vramscope::report {

void append_place(std::string& key, const Frame& frame)
{
    (key += frame.module) += '\0';
    (key += frame.function) += '\0';
    if (frame.line > 0)
        ((key += frame.file) += '\0') += std::to_string(frame.line);
    else
        key += std::to_string(frame.offset);
    key += '\0';
}

std::string function_key(const Frame& frame)
{
    if (frame.python)
        return frame.file + '\0' + frame.function;
    return frame.module + '\0' + frame.build_id + '\0' +
           (frame.function.empty() ? std::to_string(frame.offset) : frame.function);
}

std::string CallPlace::key() const
{
    constexpr std::size_t kNumbers = 16;
    std::size_t bytes = api.size() + entry_point.size() + 2;
    for (const Frame& frame : stack)
        bytes += frame.module.size() + frame.function.size() + frame.file.size() +
                 frame.build_id.size() + kNumbers;
    std::string key;
    key.reserve(bytes);
    ((key += api) += '\0') += entry_point;
    key += '\0';
    for (const Frame& frame : stack) {
        append_place(key, frame);
        (key += frame.build_id) += '\0'; // one path may have had two libraries, one after the other
    }
    return key;
}

void CallPlace::merge(const CallPlace& same)
{
    fingerprint = std::min(fingerprint, same.fingerprint);
}

const Frame* CallPlace::own_frame() const
{
    return own < stack.size() ? &stack[own] : nullptr;
}

} // namespace vramscope::report
