// report/ci_formats/source_paths.hpp — files of the repository, as its hosts name them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace vramscope::report {

struct CallPlace;
struct Frame;

// Where in the sources something is to be shown.
struct SourcePlace {
    std::string path;     // below the root with '/' between folders, or absolute
    int line = 0;         // 0: not known
    bool in_root = false; // else `path` is absolute, or empty: nothing is known
};

class SourcePaths {
public:
    // The folder of the repository, absolute, as the compiler saw it.
    explicit SourcePaths(const std::filesystem::path& root);

    // "src/train.cu": of a path below the root, or one that was relative already. Nothing: it is
    // elsewhere.
    std::optional<std::string> below_root(std::string_view file) const;

    // Of a call: its innermost frame of the program's own, or of the callers, whose file is in the
    // repository. Where there is none, the innermost frame with a file; then the module.
    SourcePlace of(const CallPlace& call) const;

    // Of its file; where that is not known, of its module, without a line.
    SourcePlace of_frame(const Frame& frame) const;
    SourcePlace of_file(const std::string& file, int line) const;

private:
    std::string root_; // ends with '/'
};

// As a URI has it: a relative reference, or file:///…
std::string uri_of(const SourcePlace& place);

} // namespace vramscope::report
