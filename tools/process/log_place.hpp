// tools/process/log_place.hpp — where the log will go, and whether it can, before anything runs.
#pragma once

#include <string>
#include <string_view>
#include <sys/types.h>

namespace vramscope {

inline constexpr const char* kDefaultLog = "vramscope.%e.%p.vsl";

// The pattern with the current folder in front, so that a program that changes its folder does not
// move its log.
std::string absolute_pattern(const std::string& pattern);

// As the traced process expands it (tracker/environment/log_name.hpp). Error (125) where it is no
// name.
std::string expand_pattern(const std::string& pattern, std::string_view program, pid_t pid);

// Error (125) if no log of a few chunks could be written to that folder.
void check_folder(const std::string& log);

// Error (125) if the file exists; with `force` it is removed instead, if it is a regular file.
void make_way(const std::string& log, bool force);

} // namespace vramscope
