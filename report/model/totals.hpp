// report/model/totals.hpp — the sums of a process or of a report, and what of its log was seen.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/model/counts.hpp"
#include "report/model/fields.hpp"
#include "tracker/format/layout.hpp"

namespace vramscope::report {

struct MemoryTotal {
    format::Memory memory = format::Memory::none;
    std::uint64_t bytes = 0;
    std::uint64_t blocks = 0;
};
template <>
struct Fields<MemoryTotal> { // without its memory, which is its key
    static constexpr const char* kName = "sum";
    static constexpr FieldList kAll{
        Field{"bytes", &MemoryTotal::bytes},
        Field{"blocks", &MemoryTotal::blocks},
    };
};

struct Totals : MemoryCounts {
    std::uint64_t leaked_bytes = 0;
    std::uint64_t leaked_blocks = 0;
    std::vector<MemoryTotal> leaked_by_memory; // only kinds that leaked
    std::uint64_t suppressed_bytes = 0;  // known to leak, and in none of the leaked and unclosed
    std::uint64_t suppressed_blocks = 0; // those of imports included, their bytes not
    std::uint64_t unclosed_imports = 0;  // memory of others that is still open here
    std::uint64_t unclosed_import_bytes = 0;  // as far as it is known
    std::uint64_t graph_bytes = 0;            // bytes of graph_allocations; the graphs free them
    std::uint64_t reserved_address_bytes = 0; // reservations never given back: addresses, no memory
    std::uint64_t address_reservations = 0;

    void add_leaked(const MemoryTotal& more);
    Totals& operator+=(const Totals& other);

    std::vector<std::pair<format::Memory, MemoryTotal>> leaked_of_memory() const;

    bool leaks() const noexcept { return leaked_blocks > 0 || unclosed_imports > 0; }
};
template <>
struct Fields<Totals> {
    static constexpr const char* kName = "totals";
    static constexpr const char* kSays =
        "Of memory; reservations of addresses are counted apart, a graph's own memory is not "
        "counted. Over several processes peaks are those of the one that had the most, all else "
        "are sums.";
    static constexpr FieldList kAll{
        Field{"allocations", &Totals::allocations},
        Field{"frees", &Totals::frees},
        Field{"allocated_bytes", &Totals::allocated_bytes},
        Field{
            "peak_device_bytes", &Totals::peak_device_bytes,
            "Requested by the program, of all devices together; at_peak of device_memory has what "
            "was allocated for it."},
        Field{"peak_host_bytes", &Totals::peak_host_bytes},
        Field{"leaked_bytes", &Totals::leaked_bytes},
        Field{"leaked_blocks", &Totals::leaked_blocks},
        Field{"leaked_by_memory", Keyed{&Totals::leaked_of_memory}},
        Field{"suppressed_bytes", &Totals::suppressed_bytes,
              "Known leaks: in none of leaked and unclosed."}
            .since(5),
        Field{"suppressed_blocks", &Totals::suppressed_blocks,
              "Those of imports too, whose bytes are in no sum."}
            .since(5),
        Field{"address_reservations", &Totals::address_reservations},
        Field{"reserved_address_bytes", &Totals::reserved_address_bytes},
        Field{"unclosed_imports", &Totals::unclosed_imports}.since(3),
        Field{"unclosed_import_bytes", &Totals::unclosed_import_bytes, "As far as they are known."}
            .since(3),
        Field{"graph_bytes", &Totals::graph_bytes, "Of coverage.graph_allocations."}.since(3),
    };
};

// What was seen and what was not.
struct Coverage : EventCounts {
    std::array<std::uint64_t, format::kLostReasons> lost{};
    std::optional<std::uint64_t> log_full_ns; // since the log was opened; of several, the first
    std::uint64_t damaged_chunks = 0;
    bool truncated = false;                     // the file ends before its last chunk does
    std::vector<std::string> entry_points_seen; // those of the events, sorted
    // Looked up by the program and not hooked: newer functions of memory, some as name@version.
    std::vector<std::string> unknown_entry_points;

    std::uint64_t lost_events() const noexcept;
    bool is_whole() const noexcept; // no event is missing, as far as the log can tell
    Coverage& operator+=(const Coverage& other);

    std::vector<std::pair<std::string, std::uint64_t>> lost_by_reason() const;
};
template <>
struct Fields<Coverage> {
    static constexpr const char* kName = "coverage";
    static constexpr FieldList kAll{
        Field{"events", &Coverage::events},
        Field{"allocations", &Coverage::allocations},
        Field{"frees", &Coverage::frees},
        Field{"unmatched_frees", &Coverage::unmatched_frees,
              "Of pointers that were not seen allocated."},
        Field{"missed_frees", &Coverage::missed_frees,
              "An address was handed out again and its free was not seen."},
        Field{"undefined_events", &Coverage::undefined_events},
        Field{"graph_allocations", &Coverage::graph_allocations},
        Field{"failed_calls", &Coverage::failed_calls, "Recorded ones, misuse among them."},
        Field{"names_given", &Coverage::names_given,
              "To memory, handles or pools, so that others can open them."}
            .since(3),
        Field{"pool_trims", &Coverage::pool_trims}.since(3),
        Field{"lost", Keyed{&Coverage::lost_by_reason},
              "Events that were not recorded, by reason."},
        Field{"lost_events", &Coverage::lost_events},
        Field{"log_full_ns", &Coverage::log_full_ns,
              "When the log could not grow for the first time, since the disk was full or for "
              "VRAMSCOPE_MAX_LOG; null: it could."}
            .since(6),
        Field{"damaged_chunks", &Coverage::damaged_chunks},
        Field{"truncated", &Coverage::truncated},
        Field{"entry_points_seen", &Coverage::entry_points_seen}.unique(),
        Field{"unknown_entry_points", &Coverage::unknown_entry_points,
              "Memory functions of the driver that the program looked up and that this version "
              "does not know, as name or name@version: memory from them is not counted."}
            .since(1)
            .unique(),
    };
};

} // namespace vramscope::report
