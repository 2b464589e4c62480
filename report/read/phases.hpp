// report/read/phases.hpp — the NVTX ranges that were open when a block was allocated.
//
// Each thread has a stack of open ranges; a block holds the innermost. A node lives as long as its
// range is open or something holds it, so memory grows with live blocks and depth, not with the
// number of ranges.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vramscope::report {

using PhaseId = std::uint32_t; // 0: no range is open

class Phases {
public:
    Phases();

    void push(std::uint32_t thread, std::string_view name);
    void pop(std::uint32_t thread); // without an open range: nothing
    PhaseId current(std::uint32_t thread) const noexcept;

    void hold(PhaseId phase) noexcept;
    void release(PhaseId phase) noexcept;

    // Outermost first.
    std::vector<std::string> path(PhaseId phase) const;

private:
    struct Node {
        std::string name;
        PhaseId parent = 0;
        std::uint32_t holders = 0;
    };
    struct Open {
        std::vector<PhaseId> ranges;
        std::uint64_t too_deep = 0; // ranges open beyond kMaxDepth
    };

    Open* open_of(std::uint32_t thread);

    std::vector<Node> nodes_;
    std::vector<PhaseId> unused_;
    std::vector<Open> threads_;
};

} // namespace vramscope::report
