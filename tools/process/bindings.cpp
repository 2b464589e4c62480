// tools/process/bindings.cpp — from the log, and from the file of the program.
#include "tools/process/bindings.hpp"

#include <fmt/format.h>

#include "tools/process/program_file.hpp"
#include "tracker/format/frameworks.hpp"

namespace vramscope {
namespace {

void add_python(std::vector<Binding>& bindings, const report::Process& process)
{
    const std::string version = process.info_value("python");
    const std::string why_not = process.info_value("python.off");
    if (version.empty())
        return;
    if (why_not.empty())
        bindings.push_back(
            {true, fmt::format("Python {}: its functions are in call stacks", version)});
    else
        bindings.push_back(
            {false,
             fmt::format("Python {}: its functions are not in call stacks: {}", version, why_not)});
}

void add_allocator(std::vector<Binding>& bindings, const report::FrameworkUse& use)
{
    if (use.told())
        bindings.push_back(
            {true, fmt::format("{}: its allocator is heard, of blocks handed out {} times, taken "
                               "back {} times",
                               use.name, use.told_of_blocks, use.told_of_returns)});
    else if (use.name == format::kPyTorch && !use.bypassed)
        bindings.push_back(
            {false,
             fmt::format("PyTorch seen ({}), whose allocator told of no block", use.library)});
}

void add_backward(std::vector<Binding>& bindings, const report::Process& process)
{
    const report::AutogradNodes& nodes = process.nodes;
    const std::string why_not = process.info_value("backward.off");
    if (!why_not.empty())
        bindings.push_back({false, fmt::format("PyTorch's backward pass: its stacks do not say "
                                               "whose it is: {}",
                                               why_not)});
    else if (nodes.made() > 0)
        bindings.push_back(
            {nodes.with_origin > 0,
             fmt::format("PyTorch's backward pass: {} nodes were seen, {} of them made by known "
                         "functions of Python",
                         nodes.made(), nodes.with_origin)});
}

} // namespace

std::vector<Binding> bindings_of(const report::Process& process)
{
    std::vector<Binding> bindings;
    add_python(bindings, process);
    for (const report::FrameworkUse& use : process.frameworks)
        add_allocator(bindings, use);
    add_backward(bindings, process);
    if (const std::string program = process.info_value("exe");
        !program.empty() && has_own_pytorch(inspect_program(program)))
        bindings.push_back({false, pytorch_inside(program)});
    return bindings;
}

} // namespace vramscope
