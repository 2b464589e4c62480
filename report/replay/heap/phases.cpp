// report/replay/heap/phases.cpp — a tree of ranges with counted holders.
#include "report/replay/heap/phases.hpp"

#include <algorithm>

namespace vramscope::report {

namespace {

constexpr std::size_t kMaxOpenRanges = 64;
constexpr std::size_t kMaxNameBytes = 256;
constexpr std::size_t kMostKinds = 4096;
constexpr std::uint32_t kMaxThreads = 1 << 20; // more than a process can have: a damaged number

} // namespace

std::string without_numbers(std::string_view name)
{
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string kept;
    kept.reserve(name.size());
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (!is_digit(name[at]))
            kept += name[at];
        else if (at == 0 || !is_digit(name[at - 1]))
            kept += '#';
    }
    return kept;
}

Phases::Phases() : nodes_(1), kinds_(1) {}

Phases::Open* Phases::open_of(std::uint32_t thread)
{
    if (thread >= kMaxThreads)
        return nullptr;
    if (thread >= threads_.size())
        threads_.resize(thread + 1);
    return &threads_[thread];
}

void Phases::push(std::uint32_t thread, std::string_view name)
{
    Open* const open = open_of(thread);
    if (!open)
        return;
    if (open->ranges.size() == kMaxOpenRanges) {
        ++open->too_deep;
        return;
    }
    const PhaseId parent = current(thread);
    PhaseId phase = static_cast<PhaseId>(nodes_.size());
    if (unused_.empty()) {
        nodes_.emplace_back();
    } else {
        phase = unused_.back();
        unused_.pop_back();
    }
    nodes_[phase].name = name.substr(0, kMaxNameBytes);
    nodes_[phase].parent = parent;
    nodes_[phase].holders = 1;
    nodes_[phase].kind = kind_of(nodes_[parent].kind, nodes_[phase].name);
    hold(parent);
    open->ranges.push_back(phase);
}

void Phases::pop(std::uint32_t thread)
{
    Open* const open = open_of(thread);
    if (!open)
        return;
    if (open->too_deep > 0) {
        --open->too_deep;
    } else if (!open->ranges.empty()) {
        release(open->ranges.back());
        open->ranges.pop_back();
    }
}

PhaseId Phases::current(std::uint32_t thread) const noexcept
{
    return thread < threads_.size() && !threads_[thread].ranges.empty()
               ? threads_[thread].ranges.back()
               : 0;
}

PhaseKind Phases::innermost_kind(std::uint32_t thread) const noexcept
{
    if (current(thread) == 0 || threads_[thread].too_deep > 0)
        return 0;
    const Node& innermost = nodes_[current(thread)];
    return innermost.kind == nodes_[innermost.parent].kind ? 0 : innermost.kind;
}

void Phases::hold(PhaseId phase) noexcept
{
    if (phase != 0)
        ++nodes_[phase].holders;
}

void Phases::release(PhaseId phase) noexcept
{
    while (phase != 0 && --nodes_[phase].holders == 0) {
        unused_.push_back(phase);
        phase = nodes_[phase].parent;
    }
}

std::vector<std::string> Phases::path(PhaseId phase) const
{
    std::vector<std::string> names;
    for (; phase != 0; phase = nodes_[phase].parent)
        names.push_back(nodes_[phase].name);
    std::reverse(names.begin(), names.end());
    return names;
}

PhaseKind Phases::kind_of(PhaseKind parent, const std::string& name)
{
    std::pair<PhaseKind, std::string> key{parent, without_numbers(name)};
    if (const auto known = kind_of_name_.find(key); known != kind_of_name_.end())
        return known->second;
    if (kinds_.size() == kMostKinds)
        return parent;
    const auto kind = static_cast<PhaseKind>(kinds_.size());
    kinds_.push_back({key.second, parent});
    kind_of_name_.emplace(std::move(key), kind);
    return kind;
}

std::vector<std::string> Phases::kind_path(PhaseKind kind) const
{
    std::vector<std::string> names;
    for (; kind != 0; kind = kinds_[kind].parent)
        names.push_back(kinds_[kind].name);
    std::reverse(names.begin(), names.end());
    return names;
}

std::string Phases::kind_name(PhaseKind kind) const
{
    std::string joined;
    for (const std::string& name : kind_path(kind))
        joined += (joined.empty() ? "" : "/") + name;
    return joined;
}

// Paths end: what is around a range is no deeper than ranges may be, and kinds come in their order.
bool Phases::rebuild()
{
    std::vector<PhaseId> unused;
    for (PhaseId phase = 0; phase < nodes_.size(); ++phase) {
        if (nodes_[phase].kind >= kinds_.size())
            return false;
        std::size_t depth = 0;
        for (PhaseId around = phase; around != 0 && depth <= kMaxOpenRanges; ++depth)
            around = around < nodes_.size() ? nodes_[around].parent : 0;
        if (depth > kMaxOpenRanges || nodes_[phase].parent >= nodes_.size())
            return false;
        if (phase != 0 && nodes_[phase].holders == 0)
            unused.push_back(phase);
    }
    std::vector<PhaseId> told = unused_;
    std::sort(told.begin(), told.end());
    if (told != unused)
        return false;
    for (PhaseKind kind = 0; kind < kinds_.size(); ++kind) {
        if (kind != 0 && kinds_[kind].parent >= kind)
            return false;
        if (kind != 0)
            kind_of_name_.try_emplace({kinds_[kind].parent, kinds_[kind].name}, kind);
    }
    const auto is_open = [this](const Open& open) {
        return open.ranges.size() <= kMaxOpenRanges &&
               std::all_of(open.ranges.begin(), open.ranges.end(),
                           [this](PhaseId phase) { return phase != 0 && phase < nodes_.size(); });
    };
    return !nodes_.empty() && !kinds_.empty() && nodes_[0].parent == 0 && kinds_[0].parent == 0 &&
           threads_.size() <= kMaxThreads && std::all_of(threads_.begin(), threads_.end(), is_open);
}

bool Phases::is_held(std::vector<std::uint32_t> holders) const
{
    for (const Open& open : threads_)
        for (const PhaseId phase : open.ranges)
            ++holders[phase];
    for (const Node& node : nodes_)
        if (node.holders > 0)
            ++holders[node.parent];
    for (PhaseId phase = 1; phase < nodes_.size(); ++phase)
        if (nodes_[phase].holders < holders[phase])
            return false;
    return true;
}

} // namespace vramscope::report
