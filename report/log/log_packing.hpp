// report/log/log_packing.hpp — packs a log with zstd, so that all commands read it as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "report/log/log_file.hpp"

namespace vramscope::report {

struct Packing {
    static constexpr int kFastest = 1;
    static constexpr int kSmallest = 19;
    int level = 9; // one of zstd's
    // What is read of a log at once lies in few frames, and a frame of so much is packed well.
    std::size_t frame_bytes = 1024 * 1024; // at most kMostFrameBytes
};

// What is packed: the file whose name errors have, its size, and reads of it as LogFile::read_at's.
struct LogBytes {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::function<std::size_t(std::uint64_t offset, void* out, std::size_t bytes)> read_at;
};

// Gives `write` the packed file, piece by piece, from its begin to its end (packed_file.hpp). Error
// (bad_input): the log cannot be read to its end.
void pack_log(const LogBytes& log, const Packing& packing,
              const std::function<void(std::string_view)>& write);
void pack_log(const LogFile& log, const Packing& packing,
              const std::function<void(std::string_view)>& write);

} // namespace vramscope::report
