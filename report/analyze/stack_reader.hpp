// report/analyze/stack_reader.hpp — the stacks of one log in words: which API the user called, and
// from where.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/analyze/suppressions.hpp"
#include "report/read/log_tables.hpp"
#include "report/read/symbolizer.hpp"

namespace vramscope::report {

// Adds to a key what makes two frames the same to a reader: the place in the source, as far as it
// is known; else the place in the module.
void append_place(std::string& key, const Frame& frame);

// A call of an entry point, as a reader wants to see it.
struct CallPlace {
    std::string api;              // what the user called: cudaMalloc
    std::string entry_point;      // what was hooked: cuMemAlloc_v2; empty: the log does not say
    std::vector<Frame> stack;     // innermost first; the visible ones, unless all were asked for
    bool stack_truncated = false; // the outermost frames were not recorded
    std::string fingerprint;      // see fingerprint.hpp; of the visible frames in any case
    std::optional<Suppressions::Rule> suppression; // the rule that it matches

    std::string key() const; // equal: the same call to a reader
};

// Symbolizes each address once.
class StackReader {
public:
    StackReader(const LogTables& tables, Symbolizer& symbolizer, bool all_frames,
                const Suppressions* suppressions = nullptr)
        : tables_(tables), symbolizer_(symbolizer), all_frames_(all_frames),
          suppressions_(suppressions)
    {
    }

    // `ticks`: any time at which the stack was in use.
    CallPlace read(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks);

private:
    struct Known {
        std::vector<Frame> frames;
        std::optional<Suppressions::Rule> rule; // of the user's, in any of them
    };
    using Stack = std::vector<const Known*>; // an address each

    Stack known(const LoggedStack& stack, std::uint64_t ticks);
    const Known& at(std::uint64_t address, std::uint64_t ticks);
    std::optional<Suppressions::Rule> suppression_of(const CallPlace& place, const Stack& known,
                                                     std::size_t first_visible) const;

    const LogTables& tables_;
    Symbolizer& symbolizer_;
    bool all_frames_;
    const Suppressions* suppressions_;
    std::map<std::pair<const Module*, std::uint64_t>, Known> known_;
};

} // namespace vramscope::report
