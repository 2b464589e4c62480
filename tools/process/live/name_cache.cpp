// tools/process/live/name_cache.cpp — a file for each build-id, and each build of vramscope.
#include "tools/process/live/name_cache.hpp"

#include <fmt/format.h>

namespace vramscope {
namespace {

constexpr UserCache::Limits kLimitsOfNames{
    .files = 512, .bytes = 64 << 20, .age = std::chrono::hours(30 * 24)};

std::string file_of(const std::string& build_id)
{
    constexpr std::size_t kMost = 64; // a build-id has 20 bytes, and a log may say anything
    std::string name;
    for (const char byte : build_id.substr(0, kMost))
        name += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return fmt::format("{}-{:x}", name, UserCache::stamp_of_this_build());
}

} // namespace

NameCache::NameCache() : files_("names", ".names", kLimitsOfNames) {}

std::string NameCache::find(const std::string& build_id)
{
    return files_.find(file_of(build_id));
}

void NameCache::keep(const std::string& build_id, std::string_view names)
{
    files_.keep(file_of(build_id), names);
}

} // namespace vramscope
