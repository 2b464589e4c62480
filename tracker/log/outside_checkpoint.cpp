// tracker/log/outside_checkpoint.cpp — a row of chunks, written, made safe, and then published.
#include "tracker/log/outside_checkpoint.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracker/log/log_file.hpp"

namespace vramscope::log {
namespace {

using format::CheckpointChunk;
using format::CheckpointRow;

constexpr std::size_t kBytesOfChunk = format::kChunkBytes - sizeof(CheckpointChunk);

std::uint32_t chunks_for(std::size_t bytes) noexcept
{
    return static_cast<std::uint32_t>((bytes + kBytesOfChunk - 1) / kBytesOfChunk);
}

std::uint32_t number_of(std::uint64_t checkpoint) noexcept
{
    return static_cast<std::uint32_t>(checkpoint >> 32);
}

// The one that the published checkpoint is not in.
CheckpointRow& spare_row(format::FileHeader& header) noexcept
{
    const auto first = static_cast<std::uint32_t>(header.checkpoint);
    CheckpointRow* const rows = header.checkpoint_rows;
    return first != 0 && rows[0].chunks != 0 && first == rows[0].first + 1 ? rows[1] : rows[0];
}

bool allocate(int descriptor, const CheckpointRow& row) noexcept
{
    const off_t begin = offset_of_chunk(row.first);
    return ::fallocate(descriptor, 0, begin, offset_of_chunk(row.first + row.chunks) - begin) == 0;
}

// With room for a checkpoint that has grown, so that there need not be others soon. Those that were
// there before are given back with all others. Space first, the numbers then: see LogFile.
bool take_row(int descriptor, format::FileHeader& header, CheckpointRow& row,
              std::uint32_t chunks) noexcept
{
    CheckpointRow taken{0, chunks + chunks / 4 + 1};
    const std::atomic_ref numbers(header.chunks);
    taken.first = numbers.load(std::memory_order_relaxed);
    do {
        if (taken.first > UINT32_MAX - taken.chunks) {
            errno = EFBIG;
            return false;
        }
        if (!allocate(descriptor, taken))
            return false;
    } while (!numbers.compare_exchange_weak(taken.first, taken.first + taken.chunks,
                                            std::memory_order_relaxed));
    const std::atomic_ref count(row.chunks); // whoever is killed in between leaves none
    count.store(0);
    std::atomic_ref(row.first).store(taken.first);
    count.store(taken.chunks);
    return true;
}

bool write_chunk(int descriptor, const CheckpointChunk& head, std::string_view bytes) noexcept
{
    iovec parts[] = {{const_cast<CheckpointChunk*>(&head), sizeof head},
                     {const_cast<char*>(bytes.data()), bytes.size()}};
    const auto all = static_cast<ssize_t>(sizeof head + bytes.size());
    const ssize_t written = ::pwritev(descriptor, parts, 2, offset_of_chunk(head.index));
    if (written >= 0 && written < all)
        errno = ENOSPC;
    return written == all;
}

bool write_row(int descriptor, const CheckpointRow& row, std::uint64_t number,
               std::string_view checkpoint) noexcept
{
    CheckpointChunk head{};
    head.magic = format::kCheckpointMagic;
    head.number = number;
    head.bytes = checkpoint.size();
    for (head.index = row.first; !checkpoint.empty(); ++head.index, ++head.ordinal) {
        if (!write_chunk(descriptor, head, checkpoint.substr(0, kBytesOfChunk)))
            return false;
        checkpoint.remove_prefix(std::min(checkpoint.size(), kBytesOfChunk));
    }
    return true;
}

bool publish(int descriptor, format::FileHeader& header, std::string_view checkpoint) noexcept
{
    std::atomic_ref(header.major).store(format::kCollectedMajorVersion);
    CheckpointRow& row = spare_row(header);
    const std::uint32_t chunks = chunks_for(checkpoint.size());
    if (row.chunks < chunks && !take_row(descriptor, header, row, chunks))
        return false;
    const std::uint32_t number = number_of(header.checkpoint) + 1;
    if (!allocate(descriptor, row) || !write_row(descriptor, row, number, checkpoint) ||
        ::fdatasync(descriptor) != 0)
        return false;
    std::atomic_ref(header.checkpoint).store(std::uint64_t{number} << 32 | (row.first + 1));
    return ::fdatasync(descriptor) == 0;
}

int punch(int descriptor, off_t begin, off_t end) noexcept
{
    return ::fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin, end - begin);
}

} // namespace

bool publish_checkpoint(int descriptor, std::string_view checkpoint) noexcept
{
    LogFile file;
    if (!file.adopt(descriptor))
        return false;
    const bool published = publish(descriptor, *file.header(), checkpoint);
    const int reason = errno;
    ::munmap(file.header(), format::kHeaderBytes);
    errno = reason;
    return published;
}

bool give_back(int descriptor, std::uint32_t first, std::uint32_t end) noexcept
{
    return punch(descriptor, offset_of_chunk(first), offset_of_chunk(end)) == 0;
}

// Far behind the end of a file there is nothing to give back, and a file system that cannot do it
// says so there too.
bool can_give_back(int descriptor) noexcept
{
    struct stat status;
    constexpr off_t kPage = 4096;
    if (::fstat(descriptor, &status) != 0)
        return false;
    const off_t behind = (status.st_size / kPage + 1) * kPage + (off_t{1} << 30);
    return punch(descriptor, behind, behind + kPage) == 0;
}

} // namespace vramscope::log
