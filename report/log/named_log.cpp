// report/log/named_log.cpp — which addresses a log has, and the chunks of their names.
#include "report/log/named_log.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "tracker/format/fields.hpp"

namespace vramscope::report {
namespace {

using format::FrameName;

// Chunks of a lane that the log does not have, at the time of its beginning: definitions come
// before all that they are for.
class DefinitionChunks {
public:
    DefinitionChunks(const format::FileHeader& header, std::uint32_t lane)
        : chunk_bytes_(header.chunk_bytes), position_(header.chunks)
    {
        head_.magic = format::kChunkMagic;
        head_.lane = lane;
        head_.base_ticks = header.start_ticks;
        head_.base_ns = header.start_ns;
    }

    template <typename R>
    void add(const R& record)
    {
        // Texts are cut only where a chunk of this log cannot hold them.
        const std::size_t numbers = kPrefixBytes + format::most_body_bytes(R{}, 0);
        const std::size_t most_text = (payload_bytes() - numbers) / 3;
        std::vector<std::uint8_t> bytes(kPrefixBytes + format::most_body_bytes(record, most_text));
        std::uint8_t* const body = bytes.data() + kPrefixBytes;
        format::DeltaState deltas;
        const auto* const end = format::put_body(body, {}, record, deltas, most_text);
        const auto count = static_cast<std::size_t>(end - body);
        bytes.front() = static_cast<std::uint8_t>(R::kLayout.tag);
        const auto prefix =
            static_cast<std::size_t>(format::put_varint(&bytes[1], count) - bytes.data());
        make_room(prefix + count);
        put(bytes.data(), prefix);
        put(body, count);
    }

    std::string take()
    {
        close();
        return std::move(chunks_);
    }

private:
    static constexpr std::size_t kPrefixBytes = 1 + format::kMaxVarintBytes; // tag and length

    std::size_t payload_bytes() const { return chunk_bytes_ - sizeof head_; }

    void make_room(std::size_t bytes)
    {
        if (open_ && head_.committed + bytes <= payload_bytes())
            return;
        close();
        begin_ = chunks_.size();
        chunks_.append(sizeof head_, '\0');
        open_ = true;
    }

    void put(const std::uint8_t* bytes, std::size_t count)
    {
        chunks_.append(reinterpret_cast<const char*>(bytes), count);
        head_.committed += static_cast<std::uint32_t>(count);
    }

    void close()
    {
        if (!std::exchange(open_, false))
            return;
        head_.index = position_++;
        std::memcpy(&chunks_[begin_], &head_, sizeof head_);
        chunks_.resize(begin_ + chunk_bytes_);
        head_.committed = 0;
        ++head_.ordinal;
    }

    std::size_t chunk_bytes_;
    std::uint32_t position_; // where the next chunk goes, in the file
    format::ChunkHeader head_{};
    std::string chunks_;
    std::size_t begin_ = 0; // where the open one begins
    bool open_ = false;
};

std::uint32_t unused_lane(const LogFile& log)
{
    std::uint32_t lane = log.header().threads;
    for (std::uint32_t chunk = 0; chunk < log.header().chunks; ++chunk) {
        format::ChunkHeader header;
        const std::size_t got = log.read_at(log.chunk_offset(chunk), &header, sizeof header);
        if (got == sizeof header && header.magic == format::kChunkMagic && header.lane >= lane)
            lane = header.lane + 1;
    }
    return lane;
}

LogTables tables_of(const LogFile& log)
{
    LogTables tables;
    LogReader reader(log);
    while (const Record* const record = reader.next())
        tables.define(*record);
    return tables;
}

// The addresses of the calls; a stack has those that the calls return to.
std::vector<std::uint64_t> addresses_of(const LogTables& tables)
{
    std::vector<std::uint64_t> addresses;
    for (const auto& [id, stack] : tables.stacks())
        for (const std::uint64_t address : stack.addresses())
            addresses.push_back(address - 1);
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    return addresses;
}

// False: nothing is known of it here, since its file is not.
bool write_frames(DefinitionChunks& chunks, const Module& module, std::uint64_t offset,
                  Symbolizer& symbolizer)
{
    const std::vector<Frame> frames = symbolizer.frames(module.id, offset);
    const std::optional<bool> table = symbolizer.has_unwind_table(module.id, offset);
    const bool no_names = std::all_of(frames.begin(), frames.end(), [](const Frame& frame) {
        return frame.function.empty() && frame.file.empty();
    });
    if (!table && no_names)
        return false;
    for (const Frame& frame : frames) {
        const std::uint64_t flags = (frame.inlined ? FrameName::kInlined : 0) |
                                    (table.value_or(true) ? 0 : FrameName::kNoUnwindTable);
        chunks.add(FrameName{module.number, offset, flags, frame.function, frame.short_name,
                             frame.file, static_cast<std::uint64_t>(std::max(frame.line, 0)),
                             static_cast<std::uint64_t>(std::max(frame.function_line, 0))});
    }
    return true;
}

} // namespace

NamedLog::NamedLog(const LogFile& log, Symbolizer& symbolizer)
    : log_(log), header_(log.header()), added_at_(log.chunk_offset(log.header().chunks))
{
    if (log.cut())
        throw Error(
            Exit::bad_input,
            fmt::format("'{}' is cut: names behind its end would hide that", log.path().string()));
    const LogTables tables = tables_of(log);
    const std::vector<std::uint64_t> addresses = addresses_of(tables);
    DefinitionChunks chunks(header_, unused_lane(log));
    for (const Module& module : tables.modules()) {
        const auto first = std::lower_bound(addresses.begin(), addresses.end(), module.first);
        for (auto at = first; at != addresses.end() && *at < module.end; ++at) {
            const std::uint64_t offset = *at - module.load_bias;
            if (!tables.frames(module, offset) && write_frames(chunks, module, offset, symbolizer))
                ++named_;
        }
    }
    for (const std::string& notice : symbolizer.notices())
        chunks.add(format::Info{kNamesNotice, notice});
    added_ = chunks.take();
    const auto added = static_cast<std::uint32_t>(added_.size() / header_.chunk_bytes);
    header_.chunks += added;
    header_.chunks_begun += added;
}

std::uint64_t NamedLog::bytes() const noexcept
{
    return added_at_ + added_.size();
}

std::size_t NamedLog::read_at(std::uint64_t offset, void* out, std::size_t bytes) const
{
    auto* to = static_cast<char*>(out);
    std::size_t got = 0;
    if (offset < added_at_) {
        got = log_.read_at(offset, to, std::min<std::uint64_t>(bytes, added_at_ - offset));
        if (offset < sizeof header_)
            std::memcpy(to, reinterpret_cast<const char*>(&header_) + offset,
                        std::min<std::size_t>(got, sizeof header_ - offset));
        if (offset + got < added_at_)
            return got;
    }
    const std::size_t from = offset + got - added_at_;
    const std::size_t more = std::min(bytes - got, added_.size() - std::min(from, added_.size()));
    if (more > 0)
        std::memcpy(to + got, added_.data() + from, more);
    return got + more;
}

} // namespace vramscope::report
