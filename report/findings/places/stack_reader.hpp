// report/findings/places/stack_reader.hpp — the stacks of one log in words: which API the user
// called, and from where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/findings/places/frames.hpp"
#include "report/findings/places/suppressions.hpp"
#include "report/log/log_tables.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

// Adds to a key what makes two frames the same to a reader: the place in the source, as far as it
// is known; else the place in the module.
void append_place(std::string& key, const Frame& frame);

// Why the outermost frame of a stack is not the program's own beginning, nor a thread's.
enum class StackCut {
    none,            // as far as is known
    no_unwind_table, // the code there has none, so that nobody knows its caller
    no_module,       // likewise: it is in no file
};

// A call of an entry point, as a reader wants to see it.
struct CallPlace {
    std::string api;              // what the user called: cudaMalloc
    std::string entry_point;      // what was hooked: cuMemAlloc_v2; empty: the log does not say
    std::vector<Frame> stack;     // innermost first; those that were asked for
    std::size_t own = 0;          // in the stack: the innermost frame of the program's own code
    bool stack_truncated = false; // the outermost frames were not recorded
    StackCut cut = StackCut::none;
    std::string fingerprint; // see fingerprint.hpp; of visible frames, those of libraries too
    std::optional<Suppressions::Rule> suppression; // the rule that it matches

    std::string key() const; // equal: the same call to a reader
    // Calls with one key may differ in frames that are not shown: the least fingerprint is theirs.
    void merge(const CallPlace& same);
    const Frame* own_frame() const; // nullptr: there is no stack
};

const char* name(StackCut cut) noexcept; // "no-unwind-table", …; nullptr: none

// Symbolizes each address once.
class StackReader {
public:
    StackReader(const LogTables& tables, Symbolizer& symbolizer, ShownFrames shown,
                const Suppressions* suppressions = nullptr)
        : tables_(tables), symbolizer_(symbolizer), shown_(shown), suppressions_(suppressions)
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
    StackCut cut_of(const LoggedStack& stack, const std::vector<Frame>& frames,
                    std::uint64_t ticks) const;
    std::optional<Suppressions::Rule> suppression_of(const CallPlace& place, const Stack& known,
                                                     std::size_t first_visible) const;

    const LogTables& tables_;
    Symbolizer& symbolizer_;
    ShownFrames shown_;
    const Suppressions* suppressions_;
    std::map<std::pair<const Module*, std::uint64_t>, Known> known_;
};

} // namespace vramscope::report
