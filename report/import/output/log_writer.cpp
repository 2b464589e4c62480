// report/import/output/log_writer.cpp — records into chunks, and chunks into the file.
#include "report/import/output/log_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace vramscope::report {

LogWriter::LogWriter(int descriptor, std::uint64_t start_ticks) : descriptor_(descriptor)
{
    std::copy(std::begin(format::kMagic), std::end(format::kMagic), header_.magic);
    header_.major = format::kMajorVersion;
    header_.minor = format::kMinorVersion;
    header_.byte_order = format::kByteOrder;
    header_.header_bytes = format::kHeaderBytes;
    header_.chunk_bytes = format::kChunkBytes;
    header_.clock = format::Clock::monotonic;
    header_.start_ns = header_.start_ticks = start_ticks;
    header_.latest_ns = header_.latest_ticks = start_ticks;
}

void LogWriter::name_lane(std::uint32_t lane, std::string name)
{
    lanes_[lane].name = std::move(name);
}

void LogWriter::alloc(std::uint32_t lane, const format::Alloc& event, const format::Place& place)
{
    this->place(lane, event.ticks, place);
    Lane& to = room(lane, format::kMaxHotBytes, event.ticks);
    std::uint8_t bytes[format::kMaxHotBytes];
    to.payload.insert(to.payload.end(), +bytes, format::encode_alloc(bytes, event, to.deltas));
}

// Writes it together with the event that follows, so that no chunk begins between them.
void LogWriter::place(std::uint32_t lane, std::uint64_t ticks, const format::Place& place)
{
    Lane& to = room(lane, 2 * format::kMaxHotBytes, ticks);
    if (to.place == place)
        return;
    std::uint8_t bytes[format::kMaxHotBytes];
    to.payload.insert(to.payload.end(), +bytes, format::encode_place(bytes, to.place = place));
}

void LogWriter::free(std::uint32_t lane, const format::Free& event)
{
    Lane& to = room(lane, format::kMaxHotBytes, event.ticks);
    std::uint8_t bytes[format::kMaxHotBytes];
    to.payload.insert(to.payload.end(), +bytes, format::encode_free(bytes, event, to.deltas));
}

// The lane's chunk has room for so many bytes; a new one begins at this time.
LogWriter::Lane& LogWriter::room(std::uint32_t number, std::size_t bytes, std::uint64_t ticks)
{
    Lane& lane = lanes_[number];
    header_.latest_ns = header_.latest_ticks = std::max(header_.latest_ticks, ticks);
    if (lane.payload.size() + bytes > format::kChunkPayloadBytes)
        flush(number, lane);
    if (!lane.payload.empty())
        return lane;
    lane.base_ticks = std::max(ticks, header_.start_ticks);
    lane.deltas = {lane.base_ticks};
    lane.place = {};
    std::uint8_t body[format::kMostBodyBytes<format::Thread>];
    format::DeltaState deltas;
    const std::uint8_t* const end = format::put_body(
        body, {}, format::Thread{number, number, lane.name}, deltas, format::kMostTextBytes);
    prefixed(lane, static_cast<std::uint8_t>(format::Tag::thread),
             {reinterpret_cast<const char*>(body), static_cast<std::size_t>(end - body)});
    return lane;
}

void LogWriter::prefixed(Lane& lane, std::uint8_t tag, std::string_view body)
{
    std::uint8_t prefix[1 + format::kMaxVarintBytes] = {tag};
    lane.payload.insert(lane.payload.end(), +prefix, format::put_varint(prefix + 1, body.size()));
    lane.payload.insert(lane.payload.end(), body.begin(), body.end());
}

void LogWriter::flush(std::uint32_t number, Lane& lane)
{
    format::ChunkHeader header{};
    header.magic = format::kChunkMagic;
    header.index = header_.chunks;
    header.lane = number;
    header.ordinal = lane.ordinal++;
    header.base_ticks = header.base_ns = lane.base_ticks;
    header.committed = static_cast<std::uint32_t>(lane.payload.size());
    header.tid = number + 1; // 0 would be a mark of another process
    std::vector<std::uint8_t> chunk(format::kChunkBytes);
    std::memcpy(chunk.data(), &header, sizeof header);
    std::copy(lane.payload.begin(), lane.payload.end(), chunk.begin() + sizeof header);
    write_at(format::kHeaderBytes + std::uint64_t{header_.chunks} * format::kChunkBytes,
             chunk.data(), chunk.size());
    ++header_.chunks;
    ++header_.chunks_begun;
    lane.payload.clear();
}

void LogWriter::write_at(std::uint64_t offset, const void* bytes, std::size_t count)
{
    const auto* at = static_cast<const char*>(bytes);
    while (count > 0 && error_ == 0) {
        const ssize_t written = ::pwrite(descriptor_, at, count, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            error_ = written < 0 ? errno : EIO;
            return;
        }
        at += written;
        offset += static_cast<std::uint64_t>(written);
        count -= static_cast<std::size_t>(written);
    }
}

bool LogWriter::finish()
{
    for (auto& [number, lane] : lanes_)
        if (!lane.payload.empty())
            flush(number, lane);
    header_.threads = static_cast<std::uint32_t>(lanes_.size());
    write_at(0, &header_, sizeof header_);
    errno = error_;
    return error_ == 0;
}

} // namespace vramscope::report
