// report/model/frame.hpp — a frame of a call stack in words; frames that rows of one place share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/model/fields.hpp"

namespace vramscope::report {

struct Frame {
    std::string function; // demangled; empty if not known
    // As DWARF alone calls it, where `function` was put together from the scopes around it: what
    // fingerprints and rules of suppression knew it by before.
    std::string short_name{};
    std::string file;         // empty if not known
    int line = 0;             // 0 if not known
    int function_line = 0;    // where the function begins; 0 if not known
    std::string module;       // ModuleId::path
    std::uint64_t offset = 0; // the vaddr asked for
    bool inlined = false;     // the code of this call lies inside the next frame's function
    std::string build_id{};   // ModuleId::build_id
    bool library = false;     // of a library that the program was compiled with: StackReader judges
    bool python = false;      // a function of Python: it has a file, and no module
};
template <>
struct Fields<Frame> {
    static constexpr const char* kName = "frame";
    static constexpr const char* kSays =
        "One of a stack, which is without the frames of vramscope, the CUDA runtime and the C "
        "start-up code; since the report's 1.6 without those of libraries that the program was "
        "compiled with (CCCL, the C++ standard library, the toolkit's headers), unless nothing "
        "else "
        "is there.";
    static constexpr FieldList kAll{
        Field{"function", OrNull{&Frame::function}},
        Field{"file", OrNull{&Frame::file}},
        Field{"line", OrNull{&Frame::line}}.at_least(1),
        Field{"module", OrNull{&Frame::module}},
        Field{"offset", Hex{&Frame::offset},
              "Address in the module's file; the address itself where module is null."},
        Field{"inlined", &Frame::inlined},
        Field{"build_id", HexDigits{&Frame::build_id},
              "Of the module, in hexadecimal digits. One path may have had several modules, one "
              "after the other."}
            .since(6),
        Field{
            "python", IfAny{&Frame::python},
            "Only of a function of Python, which has a file, and no module. Where its name begins "
            "with \"backward of\", it called nothing here, but made the autograd node of PyTorch "
            "whose backward step this is."}
            .since(6),
        Field{"library", PageOnly{&Frame::library}},
    };
};

// The last part of a path: a file without its folders.
constexpr std::string_view file_name(std::string_view path) noexcept
{
    return path.substr(path.rfind('/') + 1);
}

// The frames of one call, innermost first, which never change. Many rows of a report have the same
// place: a copy shares them.
class SharedFrames {
public:
    using Frames = std::vector<Frame>;
    using value_type = Frame;
    using const_iterator = Frames::const_iterator;

    SharedFrames() = default;
    SharedFrames(Frames frames) : frames_(std::make_shared<const Frames>(std::move(frames))) {}
    SharedFrames(std::initializer_list<Frame> frames) : SharedFrames(Frames(frames)) {}

    operator const Frames&() const noexcept { return all(); }
    const_iterator begin() const noexcept { return all().begin(); }
    const_iterator end() const noexcept { return all().end(); }
    std::size_t size() const noexcept { return all().size(); }
    bool empty() const noexcept { return all().empty(); }
    const Frame& operator[](std::size_t at) const { return all()[at]; }
    const Frame& at(std::size_t at) const { return all().at(at); }
    const Frame& front() const { return all().front(); }
    const Frame& back() const { return all().back(); }

private:
    const Frames& all() const noexcept
    {
        static const Frames kNone;
        return frames_ ? *frames_ : kNone;
    }

    std::shared_ptr<const Frames> frames_; // null: none
};

} // namespace vramscope::report
