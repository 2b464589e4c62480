// report/log/packed_file.hpp — a file that was packed with zstd, read as if it were not.
//
// The format is zstd's own, so that `zstd -d` unpacks it: frames that are decompressed each by
// itself, and after them, as a skippable frame, the table of their sizes (the "seekable format" of
// zstd's contrib folder). Where the table is not there or disagrees with the file, the frames are
// followed from the first on, and the file is not complete().
//
// The file is hostile. A frame is at most kMostFrameBytes when unpacked and a file at most
// kMostFrames of them; kFramesKept are in memory at a time. Safe to be used by several threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

struct ZSTD_DCtx_s;

namespace vramscope::report {

inline constexpr std::size_t kMostFrameBytes = 4 * 1024 * 1024;
inline constexpr std::size_t kMostFrames = 1024 * 1024;
inline constexpr std::size_t kFramesKept = 16;

// The table of the frames, little-endian: a head, for each frame packed bytes and bytes, a foot.
inline constexpr std::uint32_t kSkippableMagic = 0x184d2a5e;
inline constexpr std::uint32_t kSeekableMagic = 0x8f92eab1;
inline constexpr std::size_t kTableHeadBytes = 8;  // kSkippableMagic, bytes that follow
inline constexpr std::size_t kTableEntryBytes = 8; // and a checksum of 4, if the footer says so
inline constexpr std::size_t kTableFootBytes = 9;  // frames, flags (one byte), kSeekableMagic

class PackedFile {
public:
    // Whether a file with this beginning is packed.
    static bool is_packed(const void* begin, std::size_t bytes) noexcept;

    explicit PackedFile(int descriptor); // it stays the caller's, and open
    ~PackedFile();

    std::uint64_t bytes() const noexcept { return bytes_; } // when unpacked
    bool complete() const noexcept { return complete_; }

    // Bytes read: less than asked for at the end, or at a frame that cannot be unpacked.
    std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes);

    // The offset, or where the zeros end that its frame and those after it are all of.
    std::uint64_t next_data(std::uint64_t offset);

private:
    struct Frame {
        std::uint64_t offset; // in the file
        std::uint64_t begin;  // where its content begins, when unpacked
        std::uint32_t packed_bytes;
        std::uint32_t bytes;
    };
    struct Kept {
        const Frame* frame = nullptr;
        std::uint64_t used = 0;    // the larger, the later
        std::vector<char> content; // empty: it cannot be unpacked
    };

    bool read_table();
    void follow_frames();
    bool add(std::uint64_t packed_bytes, std::uint64_t bytes);
    std::vector<Frame>::const_iterator frame_of(std::uint64_t offset) const;
    bool read_packed(const Frame& frame); // into packed_
    const Kept& unpacked(const Frame& frame);
    bool is_zeros(const Frame& frame);

    int descriptor_;
    std::uint64_t file_bytes_;
    std::vector<Frame> frames_;
    std::uint64_t packed_bytes_ = 0; // sum over all frames
    std::uint64_t bytes_ = 0;
    bool complete_ = false;

    std::mutex lock_; // over what follows
    std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> context_;
    std::vector<char> packed_;
    std::array<Kept, kFramesKept> kept_;
    std::vector<char> zeros_packed_; // of the frame that was last seen to be zeros alone
    std::uint32_t zeros_bytes_ = 0;
    std::uint64_t uses_ = 0;
};

} // namespace vramscope::report
