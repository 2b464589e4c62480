// report/findings/places/wrappers.cpp — who calls a function, and in how many lines it allocates.
#include "report/findings/places/wrappers.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "report/findings/places/frames.hpp"

namespace vramscope::report {
namespace {

constexpr int kMostNested = 4; // wrappers of wrappers

// "void Tensor::Tensor" of "void Tensor<float>::Tensor<int>(unsigned long)". It need not be exact:
// what two functions have in common is enough to tell them from others.
std::string without_arguments(std::string_view function)
{
    std::string name;
    int depth = 0;
    for (const char c : function) {
        depth -= depth > 0 && (c == '>' || c == ')');
        if (depth == 0 && c != '>' && c != ')' && c != '<' && c != '(')
            name += c;
        depth += c == '<' || c == '(';
    }
    return name;
}

// A line is not given away for a frame without one: code of others, such as a test's driver.
bool is_told_like(const Frame& caller, const Frame& wrapper)
{
    return caller.line > 0 || wrapper.line == 0;
}

} // namespace

Wrappers::Wrappers(const std::vector<std::string>& expressions)
{
    for (const std::string& expression : expressions)
        expressions_.emplace_back(expression, std::regex::ECMAScript | std::regex::optimize);
}

std::string Wrappers::name_of(const Frame& frame) const
{
    if (frame.function.empty())
        return {};
    const auto [bare, added] = bare_names_.try_emplace(frame.function);
    if (added)
        bare->second = without_arguments(frame.function);
    return (frame.file.empty() ? frame.module : frame.file) + '\0' + bare->second;
}

bool Wrappers::is_wrapper(const Frame& frame) const
{
    if (wrappers_.contains(name_of(frame)))
        return true;
    if (expressions_.empty() || frame.function.empty())
        return false;
    const auto [found, added] = matched_.try_emplace(frame.function);
    if (added)
        found->second =
            std::any_of(expressions_.begin(), expressions_.end(), [&](const std::regex& one) {
                return std::regex_search(frame.function, one);
            });
    return found->second;
}

void Wrappers::see(const CallPlace& place)
{
    Chain chain;
    for (std::size_t at = place.own; at < place.stack.size() && chain.size() < kMostFrames; ++at) {
        const Frame& frame = place.stack[at];
        if (frame.library)
            continue;
        if (!is_told_like(frame, place.stack[place.own]))
            break;
        chain.push_back({begins_here(frame) ? std::string() : name_of(frame), frame.line});
    }
    if (chain.size() > 1)
        chains_.push_back(std::move(chain));
}

void Wrappers::judge()
{
    for (int nested = 0; nested < kMostNested && add_found();)
        ++nested;
    chains_.clear();
}

// Whether there were any that were not known.
bool Wrappers::add_found()
{
    std::map<std::string, std::vector<std::span<const Call>>> by_function;
    for (const Chain& chain : chains_) {
        const auto own = std::find_if(chain.begin(), chain.end(), [this](const Call& call) {
            return !wrappers_.contains(call.function);
        });
        if (own != chain.end())
            by_function[own->function].push_back(std::span(own, chain.end()));
    }
    const std::size_t before = wrappers_.size();
    for (const auto& [function, stacks] : by_function)
        for (std::size_t at = shared_frames(stacks); at-- > 0;)
            wrappers_.insert(stacks.front()[at].function);
    return wrappers_.size() > before;
}

// How many innermost functions these stacks share, before they part to enough callers; 0: they do
// not, or one of them allocates in too many lines.
std::size_t Wrappers::shared_frames(const std::vector<std::span<const Call>>& stacks)
{
    for (std::size_t at = 0; at < kMostFrames; ++at) {
        std::set<int> lines;
        std::set<std::string> callers;
        for (const std::span<const Call> stack : stacks) {
            if (at + 1 >= stack.size() || stack[at].function.empty())
                return 0;
            lines.insert(stack[at].line);
            if (stack[at + 1].function != stack[at].function) // a recursion
                callers.insert(stack[at + 1].function);
        }
        if (lines.size() > kMostLines)
            return 0;
        if (callers.size() >= kLeastCallers)
            return at + 1;
        if (callers.size() != 1)
            return 0;
    }
    return 0;
}

std::size_t Wrappers::own_frame(const CallPlace& place) const
{
    if (wrappers_.empty() && expressions_.empty())
        return place.own;
    for (std::size_t at = place.own; at < place.stack.size(); ++at) {
        const Frame& frame = place.stack[at];
        if (!frame.library && !is_wrapper(frame))
            return is_told_like(frame, place.stack[place.own]) ? at : place.own;
    }
    return place.own;
}

} // namespace vramscope::report
