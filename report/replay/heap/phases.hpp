// report/replay/heap/phases.hpp — the NVTX ranges that were open when a block was allocated.
//
// Each thread has a stack of open ranges; a block holds the innermost. A node lives as long as its
// range is open or something holds it, so memory grows with live blocks and depth, not with the
// number of ranges.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace vramscope::report {

using PhaseId = std::uint32_t; // 0: no range is open
// Ranges whose paths differ in their numbers alone ("step 1", "step 2") are of one kind. 0: none.
using PhaseKind = std::uint32_t;

// Each run of digits becomes '#'.
std::string without_numbers(std::string_view name);

class Phases {
public:
    Phases();

    void push(std::uint32_t thread, std::string_view name);
    void pop(std::uint32_t thread); // without an open range: nothing
    PhaseId current(std::uint32_t thread) const noexcept;
    // The kind of the thread's innermost range. 0: no range is open, or there were too many ranges
    // or kinds to tell this one apart from those around it.
    PhaseKind innermost_kind(std::uint32_t thread) const noexcept;

    void hold(PhaseId phase) noexcept;
    void release(PhaseId phase) noexcept;

    // Outermost first.
    std::vector<std::string> path(PhaseId phase) const;

    // Kinds stay. When there are too many, a new one is that of the range around it.
    PhaseKind kind(PhaseId phase) const noexcept { return nodes_[phase].kind; }
    std::vector<std::string> kind_path(PhaseKind kind) const; // outermost first
    std::string kind_name(PhaseKind kind) const; // "epoch #/step #"; empty: outside of any

    auto state() noexcept
    {
        return std::tie(nodes_, unused_, threads_, kinds_);
    } // see report/checkpoint
    bool rebuild();
    // After that: whether each phase is held at least as often as it is here, by what is not in it.
    bool is_held(std::vector<std::uint32_t> holders) const;
    std::size_t size() const noexcept { return nodes_.size(); }
    std::size_t kinds() const noexcept { return kinds_.size(); }

private:
    struct Node {
        std::string name;
        PhaseId parent = 0;
        std::uint32_t holders = 0;
        PhaseKind kind = 0;
    };
    struct Kind {
        std::string name;
        PhaseKind parent = 0;
    };
    struct Open {
        std::vector<PhaseId> ranges;
        std::uint64_t too_deep = 0; // ranges open beyond kMaxDepth
    };

    Open* open_of(std::uint32_t thread);
    PhaseKind kind_of(PhaseKind parent, const std::string& name);

    std::vector<Node> nodes_;
    std::vector<PhaseId> unused_;
    std::vector<Open> threads_;
    std::vector<Kind> kinds_;
    std::map<std::pair<PhaseKind, std::string>, PhaseKind> kind_of_name_;
};

} // namespace vramscope::report
