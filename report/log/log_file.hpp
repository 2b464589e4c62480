// report/log/log_file.hpp — an opened log: its checked header, and bounded reads of its bytes.
//
// open() throws Error (bad_input) with one clear line for everything that is not a readable log.
// Reads go through pread, never through a mapping: the file may belong to another user, grow or
// shrink at any moment. Chunks of any size from kMinChunkBytes to kMaxChunkBytes are read. A log
// that was packed (packed_file.hpp) is read as if it were not. No chunk is given back by a
// collector while it is open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "tracker/format/layout.hpp"

namespace vramscope::report {

inline constexpr std::uint32_t kMinChunkBytes = 256;
inline constexpr std::uint32_t kMaxChunkBytes = 64 * 1024 * 1024;
inline constexpr std::uint32_t kMaxHeaderBytes = 1024 * 1024;

class PackedFile;

class LogFile {
public:
    // Of a collected log (report/checkpoint/collected.hpp) events are gone. So it is refused,
    // unless the caller begins with its checkpoint, or asks for no events.
    enum class Collected { refused, taken };
    static LogFile open(const std::filesystem::path& path,
                        Collected collected = Collected::refused);

    LogFile(LogFile&& other) noexcept;
    LogFile(const LogFile&) = delete;
    LogFile& operator=(const LogFile&) = delete;
    LogFile& operator=(LogFile&&) = delete;
    ~LogFile();

    const std::filesystem::path& path() const noexcept { return path_; }
    const format::FileHeader& header() const noexcept
    {
        return header_;
    } // as it was when opened, or refreshed

    std::uint64_t lost_events() const noexcept; // by the tracer's own word

    // It has a checkpoint, in the place of events.
    bool collected() const noexcept
    {
        return header_.major == format::kCollectedMajorVersion && header_.checkpoint != 0;
    }

    // Looks again for what a program that runs on has added to header and chunks. A header that is
    // not this log's any more is not taken.
    void refresh();

    // Between release() and hold() its chunks may be given back: whoever has read some of them
    // looks at header().checkpoint then. Error: a collector keeps it for itself all the time.
    void hold();
    void release() noexcept;

    // Chunks that lie in the file, the last one perhaps in part.
    std::uint32_t chunks() const noexcept { return chunks_; }
    std::uint64_t chunk_offset(std::uint32_t chunk) const noexcept;
    // The first chunk from this one on that is no hole of the file, as far as is easily known.
    std::uint32_t next_chunk_with_data(std::uint32_t chunk) const;

    // The file ends before the last chunk that was handed out does, or lacks the end that packing
    // gave it.
    bool cut() const noexcept { return cut_; }

    bool packed() const noexcept { return packed_ != nullptr; }
    std::uint64_t bytes() const noexcept { return bytes_; } // the log's, when unpacked

    // Bytes read: less than asked for at the end of the file, or on a read error.
    std::size_t read_at(std::uint64_t offset, void* out, std::size_t bytes) const;

private:
    LogFile(std::filesystem::path path, int fd);
    void look_for_packing();
    void read_header(Collected collected);
    void count_chunks();

    std::filesystem::path path_;
    int fd_;
    std::unique_ptr<PackedFile> packed_;
    std::uint64_t bytes_ = 0;
    format::FileHeader header_{};
    std::uint32_t chunks_ = 0;
    bool cut_ = false;
};

} // namespace vramscope::report
