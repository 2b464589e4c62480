// tracker/log/log_file.hpp — the log file: created safely, grown by chunks, mapped shared.
//
// It is created with O_EXCL|O_NOFOLLOW and mode 0600. An existing file is never touched: the next
// free name with .1, .2 … is taken. Space is reserved before it is mapped, so that a full disk is
// an error code here and not a SIGBUS in the program. Mappings are not inherited by fork. Functions
// return false or null and never throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <sys/types.h>

#include "tracker/format/layout.hpp"

namespace vramscope::log {

inline constexpr std::size_t kPathBytes = 4096;

constexpr off_t offset_of_chunk(std::uint32_t index) noexcept
{
    return static_cast<off_t>(format::kHeaderBytes + std::uint64_t{index} * format::kChunkBytes);
}

// Fills `out` with the name that `pattern` (%e %p %h %t %%) stands for. False: too long, or
// an unknown %.
bool expand_path(const char* pattern, char* out, std::size_t capacity) noexcept;

class LogFile {
public:
    // Creates the file and maps its header, zeroed but for the fixed fields. On failure
    // errno says why.
    bool create(const char* path) noexcept;

    format::FileHeader* header() const noexcept { return header_; }
    const char* path() const noexcept { return path_; }

    // Maps the header of a log that another process made and may be writing. The caller has opened
    // it for reading and writing, and keeps the descriptor. On failure errno says why.
    bool adopt(int descriptor) noexcept;

    // Maps the next free chunk; null: there is no space, or the file is no longer ours.
    format::ChunkHeader* map_next_chunk() noexcept;
    // Maps a chunk that was begun and unmapped.
    format::ChunkHeader* map_chunk(std::uint32_t index) const noexcept;
    static void unmap_chunk(format::ChunkHeader* chunk) noexcept;

    // The same of its first `bytes` alone, for a writer of little: the rest of the chunk is a hole
    // in the file. A full disk costs no chunk number here.
    format::ChunkHeader* map_next_chunk_head(std::size_t bytes) noexcept;
    format::ChunkHeader* map_chunk_head(std::uint32_t index, std::size_t bytes) const noexcept;

    // The program may have closed our descriptor, and the number may be another file by now.
    bool still_ours() const noexcept;

private:
    bool allocate(off_t offset, std::size_t bytes) const noexcept;
    bool reserve(off_t offset, std::size_t bytes) const noexcept;
    void* map(off_t offset, std::size_t bytes) const noexcept;

    int descriptor_ = 0; // of no file before inode_ is set
    dev_t device_ = 0;
    ino_t inode_ = 0;
    format::FileHeader* header_ = nullptr;
    char path_[kPathBytes] = {};
};

} // namespace vramscope::log
