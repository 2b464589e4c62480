// report/log/packed_file.cpp — the table of the frames, and those that are kept unpacked.
#include "report/log/packed_file.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <zstd.h>

#include "report/log/file_bytes.hpp"

namespace vramscope::report {
namespace {

std::uint32_t number_at(const char* bytes) noexcept
{
    std::uint32_t number = 0;
    std::memcpy(&number, bytes, sizeof number);
    return number;
}

} // namespace

bool PackedFile::is_packed(const void* begin, std::size_t bytes) noexcept
{
    return bytes >= 4 && number_at(static_cast<const char*>(begin)) == ZSTD_MAGICNUMBER;
}

PackedFile::PackedFile(int descriptor)
    : descriptor_(descriptor), file_bytes_(bytes_of_file(descriptor)),
      context_(ZSTD_createDCtx(), &ZSTD_freeDCtx)
{
    complete_ = read_table();
    if (!complete_)
        follow_frames();
}

PackedFile::~PackedFile() = default;

// False: no frame of ours is like this.
bool PackedFile::add(std::uint64_t packed_bytes, std::uint64_t bytes)
{
    if (bytes == 0 || bytes > kMostFrameBytes || packed_bytes == 0 ||
        packed_bytes > ZSTD_compressBound(bytes) || frames_.size() == kMostFrames ||
        packed_bytes > file_bytes_ - packed_bytes_)
        return false;
    frames_.push_back({packed_bytes_, bytes_, static_cast<std::uint32_t>(packed_bytes),
                       static_cast<std::uint32_t>(bytes)});
    packed_bytes_ += packed_bytes;
    bytes_ += bytes;
    return true;
}

bool PackedFile::read_table()
{
    constexpr unsigned char kChecksums = 0x80;
    constexpr unsigned char kReserved = 0x7c;
    char foot[kTableFootBytes];
    if (file_bytes_ < kTableHeadBytes + sizeof foot ||
        read_file(descriptor_, file_bytes_ - sizeof foot, foot, sizeof foot) != sizeof foot ||
        number_at(foot + 5) != kSeekableMagic)
        return false;
    const std::size_t frames = number_at(foot);
    const auto flags = static_cast<unsigned char>(foot[4]);
    const std::size_t entry_bytes = kTableEntryBytes + (flags & kChecksums ? 4 : 0);
    const std::size_t body_bytes = frames * entry_bytes + sizeof foot;
    if ((flags & kReserved) || frames > kMostFrames || kTableHeadBytes + body_bytes > file_bytes_)
        return false;
    std::vector<char> table(kTableHeadBytes + body_bytes);
    if (read_file(descriptor_, file_bytes_ - table.size(), table.data(), table.size()) !=
            table.size() ||
        number_at(table.data()) != kSkippableMagic || number_at(table.data() + 4) != body_bytes)
        return false;
    for (std::size_t frame = 0; frame < frames; ++frame) {
        const char* const entry = table.data() + kTableHeadBytes + frame * entry_bytes;
        if (!add(number_at(entry), number_at(entry + 4)))
            return false;
    }
    return packed_bytes_ + table.size() == file_bytes_;
}

// A frame says how large it is when unpacked; where it ends, its blocks do.
void PackedFile::follow_frames()
{
    frames_.clear();
    packed_bytes_ = bytes_ = 0;
    std::vector<char> window(
        std::min<std::uint64_t>(ZSTD_compressBound(kMostFrameBytes), file_bytes_));
    std::size_t at = 0;
    std::size_t end = 0;
    for (;;) {
        const char* const frame = window.data() + at;
        const std::size_t packed_bytes = ZSTD_findFrameCompressedSize(frame, end - at);
        if (!ZSTD_isError(packed_bytes)) {
            if (!add(packed_bytes, ZSTD_getFrameContentSize(frame, end - at)))
                return;
            at += packed_bytes;
        } else if (at == 0 && end > 0) {
            return; // no whole frame begins here
        } else {
            at = 0;
            end = read_file(descriptor_, packed_bytes_, window.data(), window.size());
            if (end == 0)
                return;
        }
    }
}

bool PackedFile::read_packed(const Frame& frame)
{
    packed_.resize(frame.packed_bytes);
    return read_file(descriptor_, frame.offset, packed_.data(), packed_.size()) == packed_.size();
}

// Frames of zeros are alike when packed: one of them is unpacked to know the others by.
bool PackedFile::is_zeros(const Frame& frame)
{
    constexpr std::uint32_t kLeastRatio = 1024;
    if (frame.packed_bytes > 64 + frame.bytes / kLeastRatio || !read_packed(frame))
        return false;
    if (frame.bytes == zeros_bytes_ && packed_ == zeros_packed_)
        return true;
    const std::vector<char>& content = unpacked(frame).content;
    if (content.empty() ||
        std::any_of(content.begin(), content.end(), [](char byte) { return byte != 0; }))
        return false;
    zeros_packed_ = packed_;
    zeros_bytes_ = frame.bytes;
    return true;
}

std::uint64_t PackedFile::next_data(std::uint64_t offset)
{
    const std::lock_guard hold(lock_);
    for (auto frame = frame_of(offset); frame != frames_.end() && is_zeros(*frame); ++frame)
        offset = frame->begin + frame->bytes;
    return offset;
}

// The frame that holds it, or the first one or the last.
std::vector<PackedFile::Frame>::const_iterator PackedFile::frame_of(std::uint64_t offset) const
{
    const auto after = std::upper_bound(
        frames_.begin(), frames_.end(), offset,
        [](std::uint64_t wanted, const Frame& frame) { return wanted < frame.begin; });
    return after == frames_.begin() ? after : std::prev(after);
}

const PackedFile::Kept& PackedFile::unpacked(const Frame& frame)
{
    Kept* slot = kept_.data();
    for (Kept& kept : kept_) {
        if (kept.frame == &frame) {
            kept.used = ++uses_;
            return kept;
        }
        if (kept.used < slot->used)
            slot = &kept;
    }
    slot->content.resize(frame.bytes);
    if (!context_ || !read_packed(frame) ||
        ZSTD_decompressDCtx(context_.get(), slot->content.data(), slot->content.size(),
                            packed_.data(), packed_.size()) != frame.bytes)
        slot->content.clear();
    slot->frame = &frame;
    slot->used = ++uses_;
    return *slot;
}

std::size_t PackedFile::read_at(std::uint64_t offset, void* out, std::size_t bytes)
{
    const std::lock_guard hold(lock_);
    std::size_t done = 0;
    for (auto next = frame_of(offset); done < bytes && next != frames_.end(); ++next) {
        const std::uint64_t from = offset + done - next->begin;
        const std::vector<char>& content = unpacked(*next).content;
        if (from >= content.size())
            break;
        const std::size_t count = std::min<std::uint64_t>(content.size() - from, bytes - done);
        std::memcpy(static_cast<char*>(out) + done, content.data() + from, count);
        done += count;
    }
    return done;
}

} // namespace vramscope::report
