// report/rules/rule.hpp — what a team forbids and limits, as its file of rules says it.
//
//   owner "KV cache" stack /KVCache::/ or file "*/cache_engine.py"
//   steady:  forbid driver-alloc in range "step*" after first 3 of "step*"
//   kv:      limit peak 6GiB owner "KV cache"
//
// report/README.md has the grammar. What is read from a file is bounded, so that holding it costs
// what the log does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/format/enumerations.hpp"
#include "tracker/format/memory.hpp"

namespace vramscope::report {

inline constexpr std::size_t kMostRules = 64;      // of a file, and as many owners
inline constexpr std::size_t kMostConditions = 16; // of a rule or an owner

enum class RuleEvent : std::uint8_t {
    alloc,        // memory of the program's: blocks that a pool or PyTorch serves too
    driver_alloc, // memory that the driver gave
    free,
    context, // one was made
    graph,   // one was instantiated
    stream,  // these were made, or loaded
    event,
    module,
    library,
    misuse, // a free was wrong
};

enum class RuleQuantity : std::uint8_t { peak, live, count_live };

enum class ConditionKind : std::uint8_t {
    range,      // a range of the thread's is open whose name matches
    first,      // that many steps of a name have ended: ranges, or marks
    after_mark, // one has come
    until_mark, // none has come yet
    capture,    // the stream is captured
    thread,     // the thread's name
    memory,     // the kind of memory
    device,
    owner,
    module, // the file that called the driver or the runtime, without its folders
    stack,  // any frame's function
    file,   // any frame's file
};

// Whether it needs the names of a call stack.
constexpr bool is_of_stack(ConditionKind kind) noexcept
{
    return kind >= ConditionKind::owner;
}

// Whether it needs what happened before: ranges, steps and marks of a name.
constexpr bool has_pattern(ConditionKind kind) noexcept
{
    return kind == ConditionKind::range || kind == ConditionKind::first ||
           kind == ConditionKind::after_mark || kind == ConditionKind::until_mark;
}

struct Condition {
    ConditionKind kind;
    bool negated = false;
    std::string text{};       // a glob, an expression, or an owner's name
    std::uint64_t number = 0; // of the first steps; of the device
    format::Memory memory = format::Memory::none;
    std::shared_ptr<const std::regex> expression{};
};

struct Owner {
    std::string name;
    std::vector<Condition> any_of; // of a call stack, a kind of memory or a device
};

struct Rule {
    std::string name;
    std::optional<RuleEvent> forbidden; // else a limit
    RuleQuantity quantity = RuleQuantity::peak;
    std::uint64_t limit = 0; // bytes, or how many
    // Whose number is limited; none: of blocks of memory.
    std::optional<format::Memory> counted;
    std::vector<Condition> all_of;
};

struct Rules {
    std::vector<Owner> owners; // the first that matches has the memory; "other" has the rest
    std::vector<Rule> rules;
};

inline constexpr std::string_view kOtherOwner = "other";

// `*` is any text, `?` one character; of a path without a slash in the pattern, the last part.
bool glob_matches(std::string_view pattern, std::string_view text) noexcept;
bool path_matches(std::string_view pattern, std::string_view path) noexcept;

// Whether sums, as a collected log has them, tell if a rule was kept: what was allocated, made,
// freed wrongly, and what is left.
bool is_told_by_sums(const Rule& rule) noexcept;

} // namespace vramscope::report
