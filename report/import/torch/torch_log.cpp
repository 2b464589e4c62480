// report/import/torch/torch_log.cpp — what is there once for all devices, and what is not known.
#include "report/import/torch/torch_log.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/import/torch/torch_device_log.hpp"
#include "report/import/torch/torch_stacks.hpp"

namespace vramscope::report {
namespace {

using format::Effect;
using format::Memory;

constexpr std::uint32_t kDefinitionLane = 0;

void write_definitions(LogWriter& log, const TorchSnapshot& snapshot, const std::string& program)
{
    const auto info = [&](std::string_view key, std::string_view value) {
        log.add(kDefinitionLane, {}, format::Info{key, value});
    };
    info("program", program);
    info("imported", "PyTorch memory snapshot");
    for (const auto& [key, value] : snapshot.settings)
        info((key == "PYTORCH_CUDA_ALLOC_CONF" ? "env." : "torch.") + key, value);
    const auto api = [&](TorchApi id, Effect effect, Memory memory, std::string_view name) {
        log.add(kDefinitionLane, {}, format::Api{id, effect, memory, name});
    };
    api(kSegmentAlloc, Effect::alloc, Memory::device, "cudaMalloc");
    api(kSegmentFree, Effect::free, Memory::device, "cudaFree");
    api(kBlockAlloc, Effect::alloc, Memory::suballocated, "PyTorch");
    api(kBlockFree, Effect::free, Memory::suballocated, "PyTorch");
    api(kPieceCreate, Effect::alloc, Memory::physical, "cuMemCreate");
    api(kPieceRelease, Effect::free, Memory::physical, "cuMemRelease");
    api(kPieceMap, Effect::none, Memory::none, "cuMemMap");
    api(kPieceUnmap, Effect::none, Memory::none, "cuMemUnmap");
}

struct Untold {
    std::uint64_t older_bytes = 0;
    std::uint64_t sizes = 0;
    std::uint64_t stacks = 0;
    std::uint64_t inconsistent = 0;
};

// What PyTorch made of the requests, as far as the state at the end has both sizes.
void tell_rounded(Imported& imported, const TorchSnapshot& snapshot)
{
    std::uint64_t allocated = 0, requested = 0;
    for (const TorchSegment& segment : snapshot.segments)
        for (std::uint64_t at = 0; at < segment.block_count; ++at) {
            const TorchBlock& block = snapshot.blocks[segment.first_block + at];
            if (block.state != TorchBlock::State::allocated)
                continue;
            allocated += block.bytes;
            requested += block.requested.value_or(block.bytes);
        }
    if (requested < allocated)
        imported.unknown.push_back(fmt::format(
            "blocks are counted as they were requested, {} bytes at the end; as PyTorch had "
            "rounded them up, which is what it calls allocated, they had {}",
            requested, allocated));
}

void tell_unknown(Imported& imported, const Untold& untold, bool times)
{
    std::vector<std::string>& unknown = imported.unknown;
    unknown.emplace_back("a memory snapshot of PyTorch has its allocator's memory alone: what "
                         "contexts, libraries and other processes had on the device is not known");
    if (imported.older_blocks > 0)
        unknown.push_back(fmt::format(
            "{} blocks ({} bytes) are older than the recording: when they were allocated is not "
            "known, nor by which stack {} of them were",
            imported.older_blocks, untold.older_bytes, untold.stacks));
    if (untold.sizes > 0)
        unknown.push_back(fmt::format("the sizes of {} blocks are not known: those of their places "
                                      "are counted, which are larger",
                                      untold.sizes));
    if (!times)
        unknown.emplace_back("the recording has no times: its events are shown 1 us apart");
    if (untold.inconsistent > 0)
        unknown.push_back(fmt::format("{} events do not fit to what the snapshot holds at its end",
                                      untold.inconsistent));
}

std::int64_t devices_of(const TorchSnapshot& snapshot)
{
    constexpr std::int64_t kMostDevices = 1024;
    std::int64_t devices =
        std::min<std::int64_t>(kMostDevices, static_cast<std::int64_t>(snapshot.traces.size()));
    for (const TorchSegment& segment : snapshot.segments)
        if (segment.device >= 0 && segment.device < kMostDevices)
            devices = std::max(devices, segment.device + 1);
    return devices;
}

} // namespace

bool write_torch_log(const TorchSnapshot& snapshot, const std::string& program, int descriptor,
                     Imported& imported)
{
    imported.what = "PyTorch memory snapshot";
    LogWriter log(descriptor, kTorchStart);
    const TorchClock clock(snapshot);
    log.name_lane(kDefinitionLane, "imported");
    write_definitions(log, snapshot, program);
    const TorchStacks stacks(log, kDefinitionLane, snapshot);
    Untold untold;
    std::uint64_t last = kTorchStart;
    for (std::int64_t device = 0; device < devices_of(snapshot); ++device) {
        TorchDeviceLog of_device(log, snapshot, stacks, clock, device, imported);
        const auto index = static_cast<std::size_t>(device);
        of_device.write(index < snapshot.traces.size() ? snapshot.traces[index] : TorchTrace{});
        last = std::max(last, of_device.now());
        untold.older_bytes += of_device.older_bytes();
        untold.sizes += of_device.unknown_sizes();
        untold.stacks += of_device.unknown_stacks();
        untold.inconsistent += of_device.inconsistent();
    }
    tell_unknown(imported, untold, clock.known());
    tell_rounded(imported, snapshot);
    if (!clock.known())
        log.add(kDefinitionLane, {}, format::Info{"imported.times", "none"});
    for (const std::string& sentence : imported.unknown)
        log.add(kDefinitionLane, {}, format::Info{"imported.unknown", sentence});
    log.header().start_real_ns = 1000 * clock.start_us() - (clock.known() ? kBeforeFirst : 0);
    log.header().snapshot_ticks = last + kBeforeFirst; // it was running when it was recorded
    log.header().suballocated = 1;
    return log.finish();
}

} // namespace vramscope::report
