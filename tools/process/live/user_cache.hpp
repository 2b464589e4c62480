// tools/process/live/user_cache.hpp — files in the user's cache: whole or not there.
//
// Files are the user's own, for nobody else to read, as logs are; what another could have written
// is not taken. The oldest are removed: after a while, or where there are too many. Where there is
// no folder for a cache, or it cannot be written, there is none, and nothing is said.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace vramscope {

class UserCache {
public:
    struct Limits {
        std::size_t files;
        std::uint64_t bytes; // of all, and so of one
        std::chrono::hours age;
    };

    // In $XDG_CACHE_HOME/vramscope/FOLDER, or ~/.cache; `ending`: of its files' names, ".names".
    UserCache(std::string_view folder, std::string_view ending, const Limits& limits);

    // `name` is without its ending. Empty: it is not there, or not to be trusted.
    std::string find(const std::string& name) const;
    void keep(const std::string& name, std::string_view bytes) const;

    // Another build of this version may know something else by the same bytes.
    static std::uint64_t stamp_of_this_build();

private:
    bool is_usable() const; // both folders are there, and the user's own
    std::filesystem::path path_of(const std::string& name) const;
    void remove_old() const;

    std::filesystem::path folder_; // empty: there is none
    std::string ending_;
    Limits limits_;
};

} // namespace vramscope
