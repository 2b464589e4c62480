// report/exporters/torch/device_reading.hpp — what happened on one device, in PyTorch's words.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "report/exporters/exported_memory.hpp"

namespace vramscope::report {

struct ReservedMemory {
    std::uint64_t bytes = 0;
    std::uint64_t stack = 0;
    std::uint64_t ticks = 0; // since when
    std::uint64_t stream = 0;
    std::uint64_t pool = 0; // two numbers of 32 bits
    bool small = false;
    bool of_torch = false;     // PyTorch cuts it
    bool mapped = false;       // side by side, such memory is one segment
    bool of_one_block = false; // no allocator is between the program and the driver
};

struct CutBlock {
    std::uint64_t bytes = 0; // as the program asked
    std::uint64_t place = 0; // as it was given
    std::uint64_t stack = 0;
    std::uint64_t ticks = 0; // since when
    std::uint64_t stream = 0;
    SiteId site = 0;
    bool size_unknown = false;
    bool pending = false; // freed, and queued work uses it
};

struct DeviceState { // by address
    std::map<std::uint64_t, ReservedMemory> segments;
    std::map<std::uint64_t, CutBlock> blocks;
};

struct TorchTraceEvent {
    std::string_view action;
    std::uint64_t address = 0; // or the device's free bytes
    std::uint64_t bytes = 0;
    std::uint64_t stream = 0;
    std::uint64_t stack = 0;
    std::uint64_t ticks = 0;
    std::string_view metadata = {}; // that the program wrote to it; empty: none
    bool is_shortage = false;
};

// Reads the log once. Memory goes with what is alive.
class DeviceReading final : public BlockWatch {
public:
    using Tell = std::function<void(const TorchTraceEvent&)>;

    // `until_ticks`: see LogReader::hold_back().
    DeviceReading(const LogFile& file, std::uint64_t until_ticks, std::int64_t device, Tell tell);

    void read(const std::function<void(double)>& progress);
    std::int64_t last_device() const noexcept { return last_device_; } // that has any memory
    DeviceState take_state();                                          // at the end

    void born(const Block& block) override;
    void freed(const Block& block, std::uint64_t ticks) override;
    void gone(const Block& block, std::uint64_t ticks) override { freed(block, ticks); }
    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override;

private:
    struct Physical {
        bool cut = false;
        std::int64_t device = 0;
        ReservedMemory memory;
        SiteId site = 0;
    };

    void look_at(const Record& record);
    bool is_physical(const Record& record) const;
    bool is_torch(std::uint64_t api) const;
    void map(const format::Map& map);
    void unmap(std::uint64_t address, std::uint64_t bytes);
    void await(const format::Awaited& block);
    void note_mark(const Record& record, std::string_view mark);
    void run_out(const Record& record, const format::OutOfMemory& state);
    bool is_here(std::int64_t device);
    std::uint64_t place_of(const Block& block);
    void reserve(std::uint64_t address, ReservedMemory memory);
    void release(std::uint64_t address, std::uint64_t ticks);
    void cut(std::uint64_t address, const CutBlock& block);
    void end(std::uint64_t address, std::uint64_t ticks);
    void tell(std::string_view action, std::uint64_t address, std::uint64_t bytes,
              std::uint64_t stream, std::uint64_t stack, std::uint64_t ticks);
    void tell(const TorchTraceEvent& event);
    void tell_mapping();
    void tell_now(TorchTraceEvent event);
    std::uint64_t stack_of_free() const; // 0: what is read now is not a free

    Tell tell_;
    std::int64_t device_;
    std::int64_t last_device_ = 0;
    std::uint64_t older_than_ = 0; // what is not later was there before an imported recording
    std::string metadata_;         // that the program of an imported recording writes to its events
    std::optional<TorchTraceEvent> mapping_; // pieces side by side, which were one event
    MemoryReading reading_;
    const Record* record_ = nullptr; // now
    DeviceState state_;
    std::map<std::uint64_t, Physical> physical_;    // by handle
    std::map<std::uint64_t, std::uint64_t> placed_; // arrays and mipmaps, by handle
    std::uint64_t next_place_ = 1ull << 50;         // behind all addresses of a process
    std::set<std::uint64_t> awaited_;               // blocks whose free is about to be told
    std::map<std::uint32_t, std::uint64_t>
        refused_; // by thread: the stack of its last refused call
};

} // namespace vramscope::report
