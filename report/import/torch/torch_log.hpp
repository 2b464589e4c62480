// report/import/torch/torch_log.hpp — a snapshot of PyTorch's allocator as the log of its program.
#pragma once

#include <string>

#include "report/import/output/imported.hpp"
#include "report/import/output/log_writer.hpp"
#include "report/import/torch/torch_snapshot.hpp"

namespace vramscope::report {

// `program` is what reports call it. False: the log could not be written, and errno says why.
bool write_torch_log(const TorchSnapshot& snapshot, const std::string& program, int log,
                     Imported& imported);

} // namespace vramscope::report
