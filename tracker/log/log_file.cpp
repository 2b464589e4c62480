// tracker/log/log_file.cpp — open, reserve, map.
#include "tracker/log/log_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracker/capture/arena.hpp"

namespace vramscope::log {
bool LogFile::create(const char* path) noexcept
{
    constexpr int kMostNames = 1000;
    const std::size_t length = std::strlen(path);
    if (length + 8 >= kPathBytes) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int attempt = 0; attempt < kMostNames; ++attempt) {
        if (attempt == 0)
            std::strcpy(path_, path);
        else
            std::snprintf(path_ + length, 8, ".%d", attempt);
        descriptor_ = ::open(path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (descriptor_ >= 0 || errno != EEXIST)
            break;
    }
    if (descriptor_ < 0)
        return false;
    at_limit_ = false;
    struct stat status;
    ::fstat(descriptor_, &status);
    device_ = status.st_dev;
    inode_ = status.st_ino;
    if (!reserve(0, format::kHeaderBytes) ||
        !(header_ = static_cast<format::FileHeader*>(map(0, format::kHeaderBytes)))) {
        const int reason = errno;
        ::unlink(path_);
        ::close(descriptor_);
        inode_ = 0;
        errno = reason;
        return false;
    }
    return true;
}

bool LogFile::adopt(int descriptor) noexcept
{
    struct stat status;
    if (::fstat(descriptor, &status) != 0)
        return false;
    // Touching a mapping of a shorter file would raise SIGBUS.
    if (status.st_size < static_cast<off_t>(format::kHeaderBytes)) {
        errno = EINVAL;
        return false;
    }
    descriptor_ = descriptor;
    device_ = status.st_dev;
    inode_ = status.st_ino;
    header_ = static_cast<format::FileHeader*>(map(0, format::kHeaderBytes));
    return header_ != nullptr;
}

// Space on the disk, or errno.
bool LogFile::allocate(off_t offset, std::size_t bytes) const noexcept
{
    rlimit limit{}; // growing past it would be a SIGXFSZ for the program
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
        static_cast<rlim_t>(offset) + bytes > limit.rlim_cur) {
        errno = EFBIG;
        return false;
    }
    constexpr int kMostTries = 100; // a profiler's timer may interrupt it, again and again
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
        if (::fallocate(descriptor_, 0, offset, static_cast<off_t>(bytes)) == 0)
            return true;
        if (errno != EINTR)
            break;
    }
    return false;
}

// Space, and zeros in it. A first store to a page of space that was never written costs the file
// system a transaction; to one that was just written, a fault. Zeros serve file systems without
// fallocate, too.
bool LogFile::reserve(off_t offset, std::size_t bytes) const noexcept
{
    if (!allocate(offset, bytes) && errno != EOPNOTSUPP)
        return false;
    static constexpr char kZeros[4096] = {};
    iovec pages[kMostAtOnce * format::kChunkBytes / sizeof kZeros];
    std::fill(std::begin(pages), std::end(pages), iovec{const_cast<char*>(kZeros), sizeof kZeros});
    for (std::size_t done = 0; done < bytes;) {
        const int left = static_cast<int>((bytes - done) / sizeof kZeros);
        const ssize_t written =
            ::pwritev(descriptor_, pages, left, offset + static_cast<off_t>(done));
        if (written <= 0)
            return false;
        done += static_cast<std::size_t>(written);
    }
    return true;
}

void* LogFile::map(off_t offset, std::size_t bytes) const noexcept
{
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, offset);
    if (memory == MAP_FAILED)
        return nullptr;
    ::madvise(memory, bytes, MADV_DONTFORK);
    ::madvise(memory, bytes, MADV_RANDOM); // a fault reads nothing ahead: the next pages are zeros
    // MADV_POPULATE_WRITE, Linux 5.14: no page fault comes later, inside an event.
    constexpr int kPopulateWrite = 23;
    ::madvise(memory, bytes, kPopulateWrite);
    return memory;
}

bool LogFile::still_ours() const noexcept
{
    struct stat status;
    return ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ &&
           status.st_ino == inode_;
}

bool LogFile::may_grow_to(std::uint32_t chunks) noexcept
{
    if (static_cast<std::uint64_t>(offset_of_chunk(chunks)) <= most_bytes_)
        return true;
    std::atomic_ref(at_limit_).store(true);
    return false;
}

// The first of so many that follow each other.
std::optional<std::uint32_t> LogFile::take_numbers(std::uint32_t count) noexcept
{
    const std::atomic_ref chunks(header_->chunks);
    std::uint32_t index = chunks.load(std::memory_order_relaxed);
    do {
        if (!may_grow_to(index + count))
            return std::nullopt;
    } while (!chunks.compare_exchange_weak(index, index + count, std::memory_order_relaxed));
    return index;
}

ChunkRow LogFile::map_next_chunks(std::uint32_t count) noexcept
{
    if (!still_ours())
        return {};
    std::optional<std::uint32_t> taken = take_numbers(count);
    if (!taken && count > 1)
        taken = take_numbers(count = 1);
    if (!taken)
        return {};
    const std::uint32_t index = *taken;
    const std::atomic_ref chunks(header_->chunks);
    if (count > 1 && !reserve(offset_of_chunk(index), count * format::kChunkBytes)) {
        std::uint32_t after = index + count; // unless others took numbers since
        chunks.compare_exchange_strong(after, index + 1, std::memory_order_relaxed);
        count = 1;
    }
    if (count == 1 && !reserve(offset_of_chunk(index), format::kChunkBytes))
        return {};
    const ChunkRow row = map_row(index, count);
    if (row.first)
        row.first->index = index;
    return row;
}

ChunkRow LogFile::map_row(std::uint32_t index, std::uint32_t count) const noexcept
{
    auto* const first =
        static_cast<format::ChunkHeader*>(map(offset_of_chunk(index), count * format::kChunkBytes));
    return {first, first ? count : 0};
}

// Space first, the number then: until it is taken, that space may become another writer's chunk,
// which finds it allocated. Where only zeros can make space, they must not be written before.
format::ChunkHeader* LogFile::map_next_chunk_head(std::size_t bytes) noexcept
{
    constexpr std::size_t kTailBytes = 4096; // so that the file holds the whole chunk
    const std::atomic_ref chunks(header_->chunks);
    std::uint32_t index = chunks.load(std::memory_order_relaxed);
    const auto made_of_both = [&](auto make_space) {
        return (this->*make_space)(offset_of_chunk(index), bytes) &&
               (this->*make_space)(offset_of_chunk(index + 1) - static_cast<off_t>(kTailBytes),
                                   kTailBytes);
    };
    do {
        if (!may_grow_to(index + 1))
            return nullptr;
        if (!made_of_both(&LogFile::allocate) && errno != EOPNOTSUPP)
            return nullptr;
    } while (!chunks.compare_exchange_weak(index, index + 1, std::memory_order_relaxed));
    if (!made_of_both(&LogFile::reserve))
        return nullptr;
    format::ChunkHeader* chunk = map_chunk_head(index, bytes);
    if (chunk)
        chunk->index = index;
    return chunk;
}

format::ChunkHeader* LogFile::map_chunk_head(std::uint32_t index, std::size_t bytes) const noexcept
{
    return static_cast<format::ChunkHeader*>(map(offset_of_chunk(index), bytes));
}

ChunkRow LogFile::map_chunks(std::uint32_t index, std::uint32_t count) const noexcept
{
    return still_ours() ? map_row(index, count) : ChunkRow{};
}

void LogFile::unmap_chunks(const ChunkRow& row) noexcept
{
    ::munmap(row.first, row.count * format::kChunkBytes);
}

} // namespace vramscope::log
