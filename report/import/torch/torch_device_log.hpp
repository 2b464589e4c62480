// report/import/torch/torch_device_log.hpp — what happened on one device, as the tracer records it.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "report/import/output/imported.hpp"
#include "report/import/output/log_writer.hpp"
#include "report/import/torch/torch_clock.hpp"
#include "report/import/torch/torch_ranges.hpp"
#include "report/import/torch/torch_snapshot.hpp"
#include "report/import/torch/torch_stacks.hpp"
#include "report/import/torch/torch_state.hpp"

namespace vramscope::report {

// Entry points of such a log.
enum TorchApi : std::uint64_t {
    kSegmentAlloc = 1,
    kSegmentFree,
    kBlockAlloc,
    kBlockFree,
    kPieceCreate,
    kPieceRelease,
    kPieceMap,
    kPieceUnmap
};

class TorchDeviceLog {
public:
    // All outlive this.
    TorchDeviceLog(LogWriter& log, const TorchSnapshot& snapshot, const TorchStacks& stacks,
                   const TorchClock& clock, std::int64_t device, Imported& imported);

    void write(const TorchTrace& trace);

    std::uint64_t now() const noexcept { return now_; }
    std::uint64_t unknown_sizes() const noexcept { return unknown_sizes_; }
    std::uint64_t unknown_stacks() const noexcept { return unknown_stacks_; }
    std::uint64_t older_bytes() const noexcept { return older_bytes_; }
    std::uint64_t inconsistent() const noexcept { return inconsistent_; }

private:
    void write_older(const TorchState& state);
    void take_older(std::uint64_t address, const HeldBlock& block);
    void write_event(const TorchEvent& event, const TorchEvent* next);
    HeldMemory memory_of(const TorchEvent& event) const;
    std::uint16_t pool_at(const TorchEvent& event) const;
    format::Place place(std::uint32_t stream, std::uint16_t pool) const;
    void take(TorchApi api, format::Memory memory, std::uint64_t address, const HeldMemory& held);
    void mark_as_cut(std::uint64_t address, const HeldMemory& held);
    void hold(std::map<std::uint64_t, HeldMemory>& all, std::uint64_t address,
              const HeldMemory& held);
    void let_go(std::map<std::uint64_t, HeldMemory>& all, std::uint64_t address);
    void take_segment(std::uint64_t address, const HeldMemory& held);
    void take_piece(std::uint64_t address, const HeldMemory& held);
    void take_block(std::uint64_t address, const HeldBlock& block);
    void give_block(std::uint64_t address, std::uint32_t stack, bool at_once);
    void complete(const TorchEvent& event);
    void give(TorchApi api, std::uint64_t address, std::uint32_t stack);
    void run_out(const TorchEvent& event);
    void label(std::uint32_t metadata);

    LogWriter& log_;
    const TorchSnapshot& snapshot_;
    const TorchStacks& stacks_;
    const TorchClock& clock_;
    Imported& imported_;
    std::int64_t device_;
    std::uint32_t lane_;
    TorchState end_;   // the snapshot's own
    TorchState state_; // now
    std::uint64_t now_ = kTorchStart;
    std::uint64_t allocated_ = 0;
    std::uint64_t reserved_ = 0; // of segments and mapped pieces
    std::uint64_t handles_ = 0;
    std::set<std::uint64_t> awaited_; // addresses
    std::uint32_t label_ = 0;
    TorchRanges ranges_;
    std::uint64_t unknown_sizes_ = 0;
    std::uint64_t unknown_stacks_ = 0;
    std::uint64_t older_bytes_ = 0;
    std::uint64_t inconsistent_ = 0;
};

} // namespace vramscope::report
