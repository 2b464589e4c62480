// report/import/torch/torch_stacks.hpp — a snapshot's stacks as a log's: frames have names only.
//
// Native frames are numbered, and a number is an offset in a module of that name. Functions of
// Python take the place of the interpreter's loop, as in a log of a traced program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/import/output/log_writer.hpp"
#include "report/import/torch/torch_snapshot.hpp"

namespace vramscope::report {

class TorchStacks {
public:
    // Writes all to this lane, as definitions. Both outlive this.
    TorchStacks(LogWriter& log, std::uint32_t lane, const TorchSnapshot& snapshot);

    std::uint64_t id(std::uint32_t stack) const { return ids_[stack]; } // 0: not recorded

private:
    void name_frames();
    void write(std::uint32_t stack);
    std::uint64_t code_of(const TorchFrame& frame);

    LogWriter& log_;
    std::uint32_t lane_;
    const TorchSnapshot& snapshot_;
    std::uint32_t interpreter_ = 0;    // number of a frame of Python's loop
    std::vector<std::uint64_t> codes_; // one for each frame; 0: it is native
    std::map<std::pair<std::string, std::string>, std::uint64_t> code_numbers_;
    std::vector<std::uint64_t> ids_;
};

} // namespace vramscope::report
