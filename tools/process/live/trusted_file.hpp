// tools/process/live/trusted_file.hpp — a file that others could have put there, if it is as it
// must be.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/stat.h>

namespace vramscope {

// At most so many bytes of its beginning. Empty: it cannot be read, is a link or no regular file,
// or `is_trusted` says no.
std::string read_trusted(const std::filesystem::path& path, std::size_t most_bytes,
                         const std::function<bool(const struct stat&)>& is_trusted);

} // namespace vramscope
