// report/reach/python/names.cpp — what objects, their parts and locals of CPython are called.
#include <algorithm>

#include <fmt/format.h>

#include "report/reach/python/python_memory.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

using namespace python;

std::string PythonMemory::characters(Address from, std::size_t most) const
{
    std::string text(most, '\0');
    std::size_t bytes = std::min<std::size_t>(most, kPageBytes - from % kPageBytes);
    if (from == 0 || !memory_.read(from, text.data(), bytes))
        return {};
    if (bytes < most && text.find('\0') >= bytes &&
        memory_.read(from + bytes, text.data() + bytes, most - bytes))
        bytes = most;
    text.resize(bytes);
    return text.substr(0, text.find('\0'));
}

std::string PythonMemory::type_name(Address object) const
{
    const Address type = word_at(object + kType);
    return is_type(type) ? types_.at(type) : "";
}

bool PythonMemory::is_of(Address object, std::string_view type) const
{
    return object != 0 && type_name(object) == type;
}

bool PythonMemory::is_a(Address object, std::uint64_t flag) const
{
    const Address type = word_at(object + kType);
    return is_type(type) && (word_at(type + kTypeFlags) & flag) != 0;
}

bool PythonMemory::is_made_from(Address object, std::string_view type) const
{
    constexpr int kMostBases = 16;
    Address at = object == 0 ? 0 : word_at(object + kType);
    for (int base = 0; base < kMostBases && is_type(at); ++base, at = word_at(at + kTypeBase))
        if (types_.at(at) == type)
            return true;
    return false;
}

bool PythonMemory::is_set(Address object) const
{
    return is_made_from(object, "set") || is_made_from(object, "frozenset");
}

std::string PythonMemory::text(Address object) const
{
    constexpr std::uint64_t kMost = 100;
    if (!is_of(object, "str") ||
        (get<std::uint32_t>(object + kTextState) & kTextIsCompactAscii) != kTextIsCompactAscii)
        return "?";
    const auto length = std::min<std::uint64_t>(word_at(object + kCount), kMost);
    return characters(object + layout_.characters, length);
}

std::string PythonMemory::function_of(Address code) const
{
    return text(word_at(code + (layout_.frames == Frames::objects ? kOldCodeName : kCodeName)));
}

std::string PythonMemory::object_name(Address object) const
{
    const std::string type = type_name(object);
    if (is_a(object, kIsList | kIsTuple | kIsDict))
        return fmt::format("{} of {}", type, grouped(word_at(object + kCount)));
    if (is_made_from(object, kDeque))
        return fmt::format("{} of {}", type == kDeque ? "deque" : type,
                           grouped(word_at(object + kCount)));
    if (type == "module")
        return fmt::format("module `{}`", text(word_at(object + kModuleName)));
    if (type == "type")
        return fmt::format("class `{}`", characters(word_at(object + kTypeName), 100));
    if (type == "function")
        return fmt::format("function `{}`", text(word_at(object + layout_.function_name)));
    if (type == "generator" || type == "coroutine" || type == "async_generator")
        return fmt::format("{} `{}`", type, text(word_at(object + layout_.generator_name)));
    if (type == "frame")
        return fmt::format("frame of `{}`",
                           function_of(code_of(layout_.frames == Frames::objects
                                                   ? object
                                                   : word_at(object + kFrameOfObject))));
    return type.empty() ? "a Python object" : type;
}

// Keys of a dict are in front of its values; behind a head, and a table of indices.
std::string PythonMemory::variable_name(const AddressSpan& keys, Address word) const
{
    if (word < first_entry(keys.begin) + sizeof(Address))
        return {};
    const std::string name = text(word_at(word - sizeof(Address)));
    return name == "?" ? "" : name;
}

std::string PythonMemory::value_name(Address owner, Address values, Address word) const
{
    const Address keys = shared_keys(owner);
    const KeysLayout& layout = layout_of(keys);
    const std::string name = text(word_at(
        first_entry(keys) + (word - values) / sizeof(Address) * layout.entry_bytes + layout.key));
    return name == "?" ? "" : "." + name;
}

std::string PythonMemory::attribute_name(Address object, Address word) const
{
    const Address values = values_of(object);
    const bool is_inside = layout_.attributes == Attributes::inside && values > object &&
                           !is_of(object, "dict") && word >= values;
    return is_inside ? value_name(object, values, word) : "";
}

std::optional<std::string> PythonMemory::part_name(Address owner, const AddressSpan& block,
                                                   Address word) const
{
    const std::string type = type_name(owner);
    const Address values = values_of(owner);
    if (values >= block.begin && values <= word && word < block.end)
        return value_name(owner, values, word);
    if (is_a(owner, kIsList | kIsDict) || is_set(owner) || is_made_from(owner, kDeque))
        return "";
    return std::nullopt;
}

bool PythonMemory::is_attributes(Address object, Address word, Address dict) const
{
    const std::string type = type_name(object);
    const bool has_parts = is_of(object, "dict") || type == "function" || type == "cell" ||
                           type == "frame" || type == "module" || type == "method";
    const bool in_front = word < object;
    const Address class_at = word_at(object + kType);
    const auto offset = get<std::int64_t>(class_at + kTypeDictOffset);
    return !has_parts && is_of(dict, "dict") &&
           (in_front || (offset > 0 && word == object + static_cast<Address>(offset)));
}

std::string PythonMemory::in_frame(Address locals, Address code, Address word) const
{
    std::uint64_t number = (word - locals) / sizeof(Address);
    for (const std::uint64_t at : local_names()) {
        const Address names = word_at(code + at);
        const std::uint64_t count = word_at(names + kCount);
        if (number < count)
            return "local `" +
                   text(word_at(names + layout_.tuple_items + number * sizeof(Address))) + "`";
        number -= count;
    }
    return "a temporary";
}

std::string PythonMemory::local_name(Address word) const
{
    const PythonFrame* const frame = frame_at(word);
    if (!frame)
        return "a frame of Python's";
    return fmt::format("{} of `{}` in {}", in_frame(frame->locals, frame->code, word),
                       function_of(frame->code),
                       frame->tid == 0 ? "a thread" : fmt::format("thread {}", frame->tid));
}

} // namespace vramscope::report
