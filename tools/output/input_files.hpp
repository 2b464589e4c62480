// tools/output/input_files.hpp — the files that a command was given, each of them once.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace vramscope {

// Files as they are; a folder stands for logs_in() it, by name. Error if a folder holds none. What
// is given again, as the same file or as another file of the same process, is left out, and said.
std::vector<std::filesystem::path> find_logs(const std::vector<std::string>& arguments);
// The same with what is given again.
std::vector<std::filesystem::path> find_logs_as_given(const std::vector<std::string>& arguments);

// The *.vsl and *.vsl.N of a folder, and those that are there only packed, with .zst after the
// name. Error if it cannot be read.
std::vector<std::filesystem::path> logs_in(const std::filesystem::path& folder);

// Files as they are, and for each folder what `inside` has of it.
std::vector<std::filesystem::path>
with_folders(const std::vector<std::string>& arguments,
             const std::function<std::vector<std::filesystem::path>(const std::string&)>& inside);

// Of a file that is there under several names the first one, which nothing is said of where they
// are one path; of logs of one process the one that has the most of it.
std::vector<std::filesystem::path> each_once(const std::vector<std::filesystem::path>& files);

// Error (bad_input) for a FIFO, which would have us wait for ever, a folder or a device.
void refuse_irregular(const std::filesystem::path& file);

} // namespace vramscope
