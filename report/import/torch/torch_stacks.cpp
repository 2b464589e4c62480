// report/import/torch/torch_stacks.cpp — one stack of a snapshot becomes one or two of a log.
#include "report/import/torch/torch_stacks.hpp"

#include <algorithm>
#include <string_view>

namespace vramscope::report {
namespace {

constexpr std::uint64_t kTorchModule = 1;
constexpr std::uint64_t kTorchBias = 0x10000;
constexpr std::size_t kMostFrames = 1024; // frames of one stack
constexpr std::string_view kLoop = "_PyEval_EvalFrameDefault";

bool is_python_file(std::string_view file)
{
    return file.ends_with(".py") || file.starts_with('<');
}

// Whether the function is part of what recorded the stack.
bool is_recorder(std::string_view function)
{
    return function.starts_with("torch::unwind::") ||
           function.starts_with("torch::CapturedTraceback::") ||
           function.starts_with("torch::cuda::(anonymous namespace)::gather");
}

bool is_named(std::string_view file)
{
    return file != "??";
}

} // namespace

TorchStacks::TorchStacks(LogWriter& log, std::uint32_t lane, const TorchSnapshot& snapshot)
    : log_(log), lane_(lane), snapshot_(snapshot), codes_(snapshot.frames.size()),
      ids_(snapshot.stacks.size())
{
    name_frames();
    for (std::uint32_t stack = 1; stack < snapshot.stacks.size(); ++stack)
        write(stack);
}

void TorchStacks::name_frames()
{
    using format::FrameName;
    interpreter_ = static_cast<std::uint32_t>(snapshot_.frames.size());
    log_.add(lane_, {log_.header().start_ticks},
             format::ModuleLoaded{kTorchModule,
                                  kTorchBias,
                                  kTorchBias,
                                  kTorchBias + interpreter_ + 1,
                                  {},
                                  "PyTorch snapshot"});
    log_.add(lane_, {}, FrameName{kTorchModule, interpreter_, 0, kLoop, {}, {}, 0, 0});
    for (std::uint32_t number = 0; number < interpreter_; ++number) {
        const TorchFrame& frame = snapshot_.frames[number];
        if (is_python_file(frame.file))
            codes_[number] = code_of(frame);
        else
            log_.add(
                lane_, {},
                FrameName{kTorchModule,
                          number,
                          0,
                          frame.function,
                          {},
                          is_named(frame.file) ? std::string_view(frame.file) : std::string_view(),
                          frame.line,
                          0});
    }
}

std::uint64_t TorchStacks::code_of(const TorchFrame& frame)
{
    const auto [code, added] =
        code_numbers_.try_emplace({frame.file, frame.function}, code_numbers_.size() + 1);
    if (added)
        log_.add(lane_, {},
                 format::PythonCode{
                     code->second, format::LineTable::none, 0, frame.file, frame.function, {}});
    return code->second;
}

void TorchStacks::write(std::uint32_t stack)
{
    std::vector<std::uintptr_t> native;
    std::vector<format::PythonFrame> python;
    const std::vector<std::uint32_t>& frames = snapshot_.stacks[stack];
    const std::size_t count = std::min(frames.size(), kMostFrames);
    for (std::size_t at = 0; at < count; ++at) {
        const std::uint32_t number = frames[at];
        if (native.empty() && python.empty() && is_recorder(snapshot_.frames[number].function))
            continue;
        const bool in_loop = !python.empty() && python.back().native == native.size();
        if (codes_[number] != 0) {
            python.push_back({native.size(), codes_[number], snapshot_.frames[number].line});
            continue;
        }
        if (in_loop && snapshot_.frames[number].function != kLoop)
            native.push_back(kTorchBias + interpreter_ + 1);
        native.push_back(kTorchBias + number + 1);
    }
    const std::uint64_t cut = count < frames.size() ? format::Stack::kTruncated : 0;
    const std::uint64_t id = 2 * std::uint64_t{stack};
    log_.add(lane_, {}, format::Stack{id, cut, native.size(), {native.data(), {}}});
    if (!python.empty())
        log_.add(lane_, {},
                 format::PythonStack{id + 1, id, 0, 0, python.size(), {python.data(), {}}});
    ids_[stack] = python.empty() ? id : id + 1;
}

} // namespace vramscope::report
