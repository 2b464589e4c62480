// report/findings/places/stack_reader.hpp — the stacks of one log in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "report/findings/places/frames.hpp"
#include "report/findings/places/suppressions.hpp"
#include "report/findings/places/wrappers.hpp"
#include "report/log/log_tables.hpp"
#include "report/model/call_place.hpp"
#include "report/replay/heap/sites.hpp"
#include "report/symbols/symbolizer.hpp"

namespace vramscope::report {

// Symbolizes each address once, and none that the log itself names. Places that were read are kept,
// some MB of them.
class StackReader {
public:
    StackReader(const LogTables& tables, Symbolizer& symbolizer, ShownFrames shown,
                const Suppressions* suppressions = nullptr)
        : tables_(tables), symbolizer_(symbolizer), shown_(shown), suppressions_(suppressions),
          wrappers_(symbolizer.fold()), of_leaf_{.frames = {leaf_frame()}}
    {
    }

    // `ticks`: any time at which the stack was in use.
    CallPlace read(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks);

    // Where there are too many stacks for a row each: all but these are told as one, by `others`.
    void list_only(std::unordered_set<std::uint64_t> stacks, std::string others)
    {
        listed_ = std::move(stacks);
        others_ = std::move(others);
    }
    bool is_listed(std::uint64_t stack) const
    {
        return stack != kOtherStacks && (!listed_ || listed_->contains(stack));
    }
    // For the row of a stack: as read(), unless the stack is not listed. Of such a place its API
    // and the rule that knows it are left.
    CallPlace read_row(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks);

    // Looks for wrappers in the stacks of these sites; from then on their callers are what a reader
    // is told first. Only so many are read: the ones that allocated the most bytes.
    static constexpr std::size_t kMostLookedAt = 256;
    void find_wrappers(const std::vector<Site>& sites);

private:
    static constexpr std::string_view kOthers = "(other call stacks)"; // of kOtherStacks
    struct Known {
        std::vector<Frame> frames;
        // Rules that match any of them: a user's, and one that is built in; and the library of
        // NVIDIA's that one of them takes memory for. They are looked for once.
        std::optional<Suppressions::Rule> rule{};
        std::optional<Suppressions::Rule> built_in{};
        std::string_view taken_for{};
    };
    using Stack = std::vector<const Known*>; // one for each address or function of Python

    // Without what is known of wrappers. Valid until the next one.
    const CallPlace& kept(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks);
    CallPlace make_place(std::uint64_t api, std::uint64_t stack, std::uint64_t ticks);
    Stack known(const LoggedStack& stack, std::uint64_t ticks);
    Stack with_python(const LoggedStack& stack, const Stack& native);
    void add_origins(const LoggedStack& stack, Stack& known);
    enum class Role { caller, origin };
    const Known& in_python(const format::PythonFrame& frame, Role role);
    std::vector<Frame> in_module(const Module& module, std::uint64_t offset);
    const Known& at(std::uint64_t address, std::uint64_t ticks);
    void judge(Known& known) const;
    StackCut cut_of(const LoggedStack& stack, const Stack& known, std::uint64_t ticks) const;
    std::optional<Suppressions::Rule> suppression_of(const std::string& api,
                                                     const std::vector<Frame>& stack,
                                                     const Stack& known,
                                                     std::size_t first_visible) const;

    const LogTables& tables_;
    Symbolizer& symbolizer_;
    ShownFrames shown_;
    const Suppressions* suppressions_;
    Wrappers wrappers_;
    std::optional<std::unordered_set<std::uint64_t>> listed_; // none: all are
    std::string others_{kOthers};
    const Known of_leaf_;
    std::map<std::pair<const Module*, std::uint64_t>, Known> known_;
    std::map<std::tuple<std::uint64_t, std::uint64_t, Role>, Known> known_python_; // code, offset
    std::map<std::pair<std::uint64_t, std::uint64_t>, CallPlace> places_;          // api, stack
    std::size_t kept_frames_ = 0;                                                  // of places_
};

} // namespace vramscope::report
