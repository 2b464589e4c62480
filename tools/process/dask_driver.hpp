// tools/process/dask_driver.hpp — the files of a job, reduced and joined by a Dask cluster.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

namespace vramscope {

// `files` are named as workers see them. Gives why some could not be read, then one reduced table
// of the others; no table if there are none. Error (usage) where no cluster answers, or none can be
// asked.
void join_by_dask(const std::string& address, const std::vector<std::string>& files,
                  const std::function<void(std::string why)>& unread,
                  const std::function<void(std::istream& table)>& table);

} // namespace vramscope
