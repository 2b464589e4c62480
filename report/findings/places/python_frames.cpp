// report/findings/places/python_frames.cpp — told apart by their files and modules.
#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <string_view>

#include "report/findings/places/frames.hpp"
#include "report/symbols/python_lines.hpp"

namespace vramscope::report {
namespace {

template <std::size_t count>
bool has_any(std::string_view text, const std::array<std::string_view, count>& parts)
{
    return std::any_of(parts.begin(), parts.end(),
                       [text](std::string_view part) { return text.find(part) != text.npos; });
}

template <std::size_t count>
bool begins_with_any(std::string_view text, const std::array<std::string_view, count>& begins)
{
    return std::any_of(begins.begin(), begins.end(),
                       [text](std::string_view begin) { return text.starts_with(begin); });
}

// The last one is our own module, where no package manager put it.
bool is_installed(std::string_view path)
{
    constexpr std::array<std::string_view, 3> kFolders = {"/site-packages/", "/dist-packages/",
                                                          "/vramscope/python/vramscope/"};
    return has_any(path, kFolders);
}

// ".../lib/python3.13/asyncio/base_events.py", ".../python313.zip/...".
bool is_standard_library(std::string_view path)
{
    constexpr std::string_view kFolder = "/python3";
    for (std::size_t at = 0; (at = path.find(kFolder, at)) != path.npos; ++at) {
        std::string_view rest = path.substr(at + kFolder.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(".0123456789t"), rest.size()));
        const std::string_view parent = file_name(path.substr(0, at));
        if (rest.starts_with("zip/") || (rest.starts_with('/') && parent.starts_with("lib")))
            return true;
    }
    return false;
}

// What libraries make while the program runs has no file.
bool is_generated_by_library(std::string_view file)
{
    constexpr std::array<std::string_view, 3> kNames = {"<frozen ", "<eval_with_key>",
                                                        "<__array_function__"};
    return begins_with_any(file, kNames);
}

bool is_own_python(const Frame& frame)
{
    return frame.python && !frame.library;
}

// A recording of another tool has no libraries: the interpreter's sources and the names of PyTorch
// tell them.
bool is_told_by_name(const Frame& frame)
{
    constexpr std::array<std::string_view, 3> kSources = {"/python-3", "/Python-3", "/cpython/"};
    constexpr std::array<std::string_view, 3> kNamespaces = {"c10::", "at::", "torch::"};
    return !frame.module.starts_with('/') &&
           (has_any(frame.file, kSources) || begins_with_any(frame.function, kNamespaces));
}

} // namespace

Frame python_frame(const LoggedPythonCode& code, std::uint64_t offset)
{
    Frame frame;
    frame.python = true;
    frame.function = code.name;
    frame.file = code.file;
    frame.line = python_line(code.table, code.lines, code.first_line, offset);
    frame.function_line = static_cast<int>(code.first_line);
    frame.offset = offset;
    frame.library = is_installed(code.file) || is_standard_library(code.file) ||
                    is_generated_by_library(code.file);
    return frame;
}

Frame leaf_frame()
{
    Frame frame;
    frame.python = true;
    frame.function = "gradient of a leaf tensor";
    return frame;
}

bool is_interpreter(const Frame& frame)
{
    constexpr std::array<std::string_view, 5> kLibraries = {"libpython", "python", "libffi.so",
                                                            "libtorch", "libc10"};
    return !frame.python &&
           (begins_with_any(file_name(frame.module), kLibraries) || is_installed(frame.module) ||
            is_standard_library(frame.module) || frame.function == "_PyEval_EvalFrameDefault" ||
            is_told_by_name(frame));
}

void fold_around_python(std::vector<Frame>& stack, const FrameRange& visible)
{
    const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(visible.begin);
    auto innermost = std::find_if(begin, stack.end(), is_own_python);
    if (innermost == stack.end()) {
        innermost =
            std::find_if(begin, stack.end(), [](const Frame& frame) { return frame.python; });
        for (auto frame = innermost; frame != stack.end(); ++frame)
            frame->library = frame->library && !frame->python;
    }
    if (innermost == stack.end())
        return;
    for (auto frame = begin; frame != stack.end(); ++frame) {
        const bool without_source = !frame->python && frame->line == 0;
        frame->library =
            frame->library || is_interpreter(*frame) || without_source || frame < innermost;
    }
}

std::vector<const Frame*> named_frames(const std::vector<Frame>& stack, const FrameRange& visible)
{
    const std::span<const Frame> seen =
        std::span(stack).subspan(visible.begin, visible.end - visible.begin);
    const bool own_alone = std::any_of(seen.begin(), seen.end(), is_own_python);
    std::vector<const Frame*> named;
    for (const Frame& frame : seen)
        if (!own_alone || !frame.library)
            named.push_back(&frame);
    return named;
}

} // namespace vramscope::report
