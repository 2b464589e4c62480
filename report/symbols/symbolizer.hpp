// report/symbols/symbolizer.hpp — module, build-id, address -> function, file, line, inlines.
//
// Works on the ELF files of this machine, and over the network only where debuginfod is asked for.
// What is not known stays empty: print module+0xoffset then. Files are hostile: a bad one gives
// fewer names, no crash. `vaddr` is the address inside the file (the runtime address minus the
// module's load bias), looked up as given: for a return address pass one less, to get the line of
// the call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "report/model/unread_file.hpp"
#include "report/symbols/file_places.hpp"
#include "report/symbols/name_store.hpp"

namespace vramscope::report {

struct ModuleId {
    std::string path;     // as the traced program saw it
    std::string build_id; // raw bytes; if empty, the file at `path` is believed, with a notice
};

struct SymbolizerOptions {
    // Searched for .build-id/xx/yyyy.debug, in this order; empty means /usr/lib/debug.
    std::vector<std::filesystem::path> debug_dirs;
    // A container's root, and what of it lies elsewhere. Modules are looked for there, and
    // debug_dirs at first.
    std::filesystem::path sysroot;
    std::vector<PathMap> path_maps = {};
    bool debuginfod = false; // then servers are asked for debug information that is not here
    // Regular expressions (ECMAScript) of functions that allocate for others: see Wrappers.
    std::vector<std::string> fold = {};
    // Names that were found are kept there, by build-id; null: nowhere.
    std::shared_ptr<NameStore> names = {};
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

    const std::vector<std::string>& fold() const; // of its options

    // Modules whose file could not be used, each once.
    const std::vector<UnreadFile>& unread_files() const;
    // One line for each module whose file was used, but could not be checked or is incomplete.
    std::vector<std::string> notices() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace vramscope::report
