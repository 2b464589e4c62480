// report/checkpoint/collected.cpp — the checkpoint's chunks put together, and what it needs.
#include "report/checkpoint/collected.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <zstd.h>

#include <fmt/format.h>

#include "report/checkpoint/checkpoint.hpp"
#include "report/error.hpp"

namespace vramscope::report {
namespace {

using format::CheckpointChunk;

// Of each site its peak too: what is not in a checkpoint can never be asked for.
constexpr Replays::Wanted kWanted{.span_peaks = false, .site_peaks = true};

constexpr int kPacking = 1; // more takes twice the time for a tenth less
// What packs better stays as it is: so few bytes of a log need no memory.
constexpr std::size_t kMostTimes = 64;

// A frame of zstd.
std::string packed(std::string checkpoint)
{
    std::string frame(ZSTD_compressBound(checkpoint.size()), '\0');
    const std::size_t bytes =
        ZSTD_compress(frame.data(), frame.size(), checkpoint.data(), checkpoint.size(), kPacking);
    if (ZSTD_isError(bytes) || bytes > checkpoint.size() || checkpoint.size() / kMostTimes > bytes)
        return checkpoint;
    frame.resize(bytes);
    return frame;
}

// None: it is damaged.
std::optional<std::string> unpacked(std::string bytes)
{
    std::uint32_t magic = 0;
    std::memcpy(&magic, bytes.data(), std::min(bytes.size(), sizeof magic));
    if (magic != ZSTD_MAGICNUMBER)
        return bytes;
    const unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
    if (size / kMostTimes > bytes.size()) // also where it does not say
        return std::nullopt;
    std::string checkpoint(size, '\0');
    const std::size_t done =
        ZSTD_decompress(checkpoint.data(), checkpoint.size(), bytes.data(), bytes.size());
    if (ZSTD_isError(done) || done != size)
        return std::nullopt;
    return checkpoint;
}

[[noreturn]] void refuse(const LogFile& log, Exit exit, std::string_view why)
{
    throw Error(exit, fmt::format("'{}' was collected, and {}", log.path().string(), why));
}

// Adds its bytes, or nothing where it is not this one.
void add_chunk(const LogFile& log, const CheckpointChunk& expected, std::string& bytes)
{
    CheckpointChunk head{};
    const std::uint64_t offset = log.chunk_offset(expected.index);
    if (log.read_at(offset, &head, sizeof head) != sizeof head || head.magic != expected.magic ||
        head.index != expected.index || head.ordinal != expected.ordinal ||
        head.number != expected.number || head.bytes != expected.bytes)
        return;
    const std::size_t before = bytes.size();
    const std::size_t payload = log.header().chunk_bytes - sizeof head;
    bytes.resize(std::min<std::uint64_t>(expected.bytes, before + payload));
    bytes.resize(before + log.read_at(offset + sizeof head, &bytes[before], bytes.size() - before));
}

std::unique_ptr<LogReplay> replay_of(const LogFile& file, const ReadingExtent& extent,
                                     const Replays::Wanted& wanted = kWanted)
{
    auto log = std::make_unique<LogReplay>(file, extent, wanted);
    log->wrong_frees.emplace(log->reading.tables());
    return log;
}

void restore(std::string_view checkpoint, LogReplay& log)
{
    restore_checkpoint(checkpoint, log.reading, log.replays, &*log.wrong_frees);
}

std::uint64_t moment_in_ns(const LogReplay& log, std::string_view checkpoint)
{
    return log.reading.clock().ns(moment_of(checkpoint));
}

void check_extent(const LogReplay& log, std::string_view checkpoint)
{
    if (log.reading.until_ticks() < moment_of(checkpoint))
        refuse(log.reading.file(), Exit::usage,
               fmt::format("what it was at an earlier time is known from {:.3f}s on",
                           seconds_from(moment_in_ns(log, checkpoint))));
}

// What turns out to be memory that an allocator of the program's cuts, and was counted as the
// program's own in the checkpoint, is found late.
void expect_segments_behind(LogReplay& log, std::string_view checkpoint)
{
    const LogFile& file = log.reading.file();
    if (file.header().suballocated == 0 || log.reading.follows()) {
        if (!log.reading.follows())
            log.reading.expect_segments({});
        return;
    }
    const std::unique_ptr<LogReplay> ahead = replay_of(file, {.runs_on = true});
    restore(checkpoint, *ahead);
    EachWatch<> nobody;
    ahead->replays.heap.watch(nobody);
    SegmentBirths births = ahead->reading.find_births(ahead->replays.heap, UINT64_MAX);
    const std::uint64_t moment = moment_of(checkpoint);
    if (std::erase_if(births, [&](const auto& birth) { return birth.first.first <= moment; }) > 0)
        log.reading.finds_segments_late();
    log.reading.expect_segments(std::move(births));
}

std::unique_ptr<LogReplay> begin_at(std::string_view checkpoint, const LogFile& file,
                                    const ReadingExtent& extent, const Replays::Wanted& wanted)
{
    std::unique_ptr<LogReplay> log = replay_of(
        file, extent, {.span_peaks = wanted.span_peaks, .site_peaks = kWanted.site_peaks});
    check_extent(*log, checkpoint);
    restore(checkpoint, *log);
    log->checkpoint_bytes = checkpoint.size();
    log->collected_ticks = moment_of(checkpoint);
    if (wanted.span_peaks)
        log->replays.span_peaks.begin(log->collected_ticks);
    expect_segments_behind(*log, checkpoint);
    return log;
}

} // namespace

std::string read_collected_checkpoint(const LogFile& log)
{
    const std::uint64_t published = log.header().checkpoint;
    CheckpointChunk expected{};
    expected.magic = format::kCheckpointMagic;
    expected.index = static_cast<std::uint32_t>(published) - 1;
    expected.number = published >> 32;
    CheckpointChunk first{};
    log.read_at(log.chunk_offset(expected.index), &first, sizeof first);
    expected.bytes = first.bytes;
    std::string bytes;
    while (expected.bytes <= log.bytes() && bytes.size() < expected.bytes) {
        const std::size_t before = bytes.size();
        add_chunk(log, expected, bytes);
        if (bytes.size() == before)
            break;
        ++expected.index;
        ++expected.ordinal;
    }
    std::optional<std::string> checkpoint;
    if (!bytes.empty() && bytes.size() == expected.bytes)
        checkpoint = unpacked(std::move(bytes));
    if (!checkpoint)
        refuse(log, Exit::bad_input, "its checkpoint is damaged: nothing of it can be told");
    return *std::move(checkpoint);
}

std::unique_ptr<LogReplay> begin_collected(const LogFile& file, const ReadingExtent& extent,
                                           const Replays::Wanted& wanted)
{
    return begin_at(read_collected_checkpoint(file), file, extent, wanted);
}

std::string checkpoint_of(LogReplay& log)
{
    return packed(checkpoint_of(log.reading, log.replays, &*log.wrong_frees));
}

void check_collected_checkpoint(std::string_view checkpoint, const LogFile& log)
{
    restore(unpacked(std::string(checkpoint)).value_or(""), *replay_of(log, {.runs_on = true}));
}

std::unique_ptr<LogReplay> begin_collection(const LogFile& file, std::uint64_t until_ticks)
{
    const ReadingExtent extent{.until_ticks = until_ticks, .runs_on = true};
    if (!file.collected())
        return replay_of(file, extent);
    const std::string checkpoint = read_collected_checkpoint(file);
    return moment_of(checkpoint) < until_ticks ? begin_at(checkpoint, file, extent, kWanted)
                                               : nullptr;
}

} // namespace vramscope::report
