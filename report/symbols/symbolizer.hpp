// report/symbols/symbolizer.hpp — module, build-id, address -> function, file, line, inlines.
//
// Works offline on the ELF files of this machine, never over the network. What is not known stays
// empty: print module+0xoffset then. Files are hostile: a bad one gives fewer names, no crash.
// `vaddr` is the address inside the file (the runtime address minus the module's load bias), looked
// up as given: for a return address pass one less, to get the line of the call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

struct ModuleId {
    std::string path;     // as the traced program saw it
    std::string build_id; // raw bytes; if empty, the file at `path` is believed, with a notice
};

struct SymbolizerOptions {
    // Searched for .build-id/xx/yyyy.debug, in this order; empty means /usr/lib/debug.
    std::vector<std::filesystem::path> debug_dirs;
    // Put in front of every module path and, as a first try, of debug_dirs: a container's root.
    std::filesystem::path sysroot;
};

// For one thread at a time.
class Symbolizer {
public:
    explicit Symbolizer(SymbolizerOptions options = {});
    ~Symbolizer();

    // Innermost first; always at least one frame, with module and offset set.
    std::vector<Frame> frames(const ModuleId& module, std::uint64_t vaddr);

    // Whether the code there has an unwind table: the recorder gets no further where it has none.
    // Nothing: the file of the module is not here to tell.
    std::optional<bool> has_unwind_table(const ModuleId& module, std::uint64_t vaddr);

    // One line for each module whose file could not be used, or not be checked: which and why.
    std::vector<std::string> notices() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace vramscope::report
