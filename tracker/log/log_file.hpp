// tracker/log/log_file.hpp — the log file: created safely, grown by chunks, mapped shared.
//
// It is created with O_EXCL|O_NOFOLLOW and mode 0600. An existing file is never touched: the next
// free name with .1, .2 … is taken. Space is reserved before it is mapped, so that a full disk is
// an error code here and not a SIGBUS in the program. Mappings are not inherited by fork. Functions
// return false or null and never throw.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "tracker/format/layout.hpp"

namespace vramscope::log {

inline constexpr std::size_t kPathBytes = 4096;

constexpr off_t offset_of_chunk(std::uint32_t index) noexcept
{
    return static_cast<off_t>(format::kHeaderBytes + std::uint64_t{index} * format::kChunkBytes);
}

// Chunks that follow each other, in one mapping.
struct ChunkRow {
    format::ChunkHeader* first = nullptr;
    std::uint32_t count = 0;

    // How many there are from this one on; and the one after it, or null.
    std::uint32_t from(const format::ChunkHeader* chunk) const noexcept
    {
        return count - static_cast<std::uint32_t>(bytes_before(chunk) / format::kChunkBytes);
    }
    format::ChunkHeader* after(const format::ChunkHeader* chunk) const noexcept
    {
        if (!first || from(chunk) == 1)
            return nullptr;
        return reinterpret_cast<format::ChunkHeader*>(reinterpret_cast<std::uint8_t*>(first) +
                                                      bytes_before(chunk) + format::kChunkBytes);
    }

private:
    std::size_t bytes_before(const format::ChunkHeader* chunk) const noexcept
    {
        return reinterpret_cast<std::uintptr_t>(chunk) - reinterpret_cast<std::uintptr_t>(first);
    }
};

class LogFile {
public:
    static constexpr std::uint32_t kMostAtOnce = 4; // chunks of a row

    // Creates the file and maps its header, zeroed but for the fixed fields. On failure
    // errno says why.
    bool create(const char* path) noexcept;

    // It grows no further than to so many bytes.
    void limit(std::uint64_t bytes) noexcept { most_bytes_ = bytes; }
    bool at_limit() const noexcept { return std::atomic_ref(at_limit_).load(); }

    format::FileHeader* header() const noexcept { return header_; }
    const char* path() const noexcept { return path_; }

    // Maps the header of a log that another process made and may be writing. The caller has opened
    // it for reading and writing, and keeps the descriptor. On failure errno says why.
    bool adopt(int descriptor) noexcept;

    // Maps the next free chunks, or only one where there is no space for so many. Nothing: there is
    // no space, the log has reached its limit, or the file is not ours any more.
    ChunkRow map_next_chunks(std::uint32_t count = 1) noexcept;
    // Maps a chunk that was begun and unmapped, and those after it that are its writer's.
    ChunkRow map_chunks(std::uint32_t index, std::uint32_t count) const noexcept;
    static void unmap_chunks(const ChunkRow& row) noexcept;

    // Map only the first `bytes` of a chunk, for a writer that has little to write: the rest of the
    // chunk stays a hole in the file. A disk that is full costs no chunk number here.
    format::ChunkHeader* map_next_chunk_head(std::size_t bytes) noexcept;
    format::ChunkHeader* map_chunk_head(std::uint32_t index, std::size_t bytes) const noexcept;

    // The program may have closed our descriptor, and the number may be another file by now.
    bool still_ours() const noexcept;

private:
    std::optional<std::uint32_t> take_numbers(std::uint32_t count) noexcept;
    bool may_grow_to(std::uint32_t chunks) noexcept;
    bool allocate(off_t offset, std::size_t bytes) const noexcept;
    bool reserve(off_t offset, std::size_t bytes) const noexcept;
    void* map(off_t offset, std::size_t bytes) const noexcept;
    ChunkRow map_row(std::uint32_t index, std::uint32_t count) const noexcept;

    std::uint64_t most_bytes_ = UINT64_MAX;
    mutable bool at_limit_ = false; // of any thread's
    int descriptor_ = 0;            // not a file's before inode_ is set
    dev_t device_ = 0;
    ino_t inode_ = 0;
    format::FileHeader* header_ = nullptr;
    char path_[kPathBytes] = {};
};

} // namespace vramscope::log
