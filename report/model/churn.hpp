// report/model/churn.hpp — what allocating costs a process: how often, and how long in the driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/model/call_place.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

inline constexpr std::uint64_t kShortLifeNs = 1'000'000;

// Calls of one entry point that reached the driver, the pool's own among them.
struct DriverCalls {
    std::string entry_point;
    std::uint64_t calls = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0; // the longest call that was timed
};
template <>
struct Fields<DriverCalls> {
    static constexpr const char* kName = "driver_calls";
    static constexpr FieldList kAll{
        Field{"entry_point", OrNull{&DriverCalls::entry_point}},
        Field{"calls", &DriverCalls::calls},
        Field{"total_ns", &DriverCalls::total_ns},
        Field{"longest_ns", &DriverCalls::longest_ns, "Of those that were timed."},
    };
};

struct ChurnNumbers {
    std::uint64_t temporary = 0;
    std::uint64_t short_lived = 0;      // for less than kShortLifeNs
    std::uint64_t redundant = 0;        // allocations of a size that its site had freed before
    std::uint64_t redundant_driver = 0; // those redundant ones that asked the driver

    void add(const ChurnNumbers& more)
    {
        temporary += more.temporary;
        short_lived += more.short_lived;
        redundant += more.redundant;
        redundant_driver += more.redundant_driver;
    }
};

// One place of the program.
struct ChurnSite : CallPlace, ChurnNumbers {
    std::int32_t device = -1; // -1: not known, or several
    format::Memory memory = format::Memory::none;
    std::uint64_t allocations = 0;
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
};
template <>
struct Fields<ChurnSite> {
    static constexpr const char* kName = "churn_site";
    static constexpr auto kAll = joined(
        FieldList{
            Field{"api", &CallPlace::api},
            Field{"entry_point", OrNull{&CallPlace::entry_point}},
            Field{"memory", &ChurnSite::memory},
            Field{"device", Ordinal{&ChurnSite::device}, "null: not known, or several."},
            Field{"allocations", &ChurnSite::allocations},
            Field{"frees", &ChurnSite::frees},
            Field{"allocated_bytes", &ChurnSite::allocated_bytes},
            Field{"temporary", &ChurnNumbers::temporary},
            Field{"short_lived", &ChurnNumbers::short_lived},
            Field{"redundant", &ChurnNumbers::redundant},
            Field{"redundant_driver", &ChurnNumbers::redundant_driver},
            Field{"fingerprint", &CallPlace::fingerprint}.pattern("^[0-9a-f]{16}$"),
        },
        kStack);
};

struct SizeBin {
    std::uint64_t from_bytes = 0; // the bin ends below twice this size
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
};
template <>
struct Fields<SizeBin> {
    static constexpr const char* kName = "size_bin";
    static constexpr FieldList kAll{
        Field{"from_bytes", &SizeBin::from_bytes},
        Field{"blocks", &SizeBin::blocks},
        Field{"bytes", &SizeBin::bytes},
    };
};

struct LifetimeBin {
    std::uint64_t below_ns = 0; // 0: no bound
    std::uint64_t blocks = 0;   // blocks that were freed
};
template <>
struct Fields<LifetimeBin> {
    static constexpr const char* kName = "lifetime_bin";
    static constexpr FieldList kAll{
        Field{"below_ns", OrNull{&LifetimeBin::below_ns}},
        Field{"blocks", &LifetimeBin::blocks},
    };
};

struct ChurnReport : ChurnNumbers {
    std::uint64_t allocations = 0; // of device and host memory, as are all numbers here
    std::uint64_t frees = 0;
    std::uint64_t allocated_bytes = 0;
    std::uint64_t redundant_ns = 0; // about the time these and their frees took in the driver
    std::uint64_t driver_calls = 0; // 0: the log does not tell (before version 3.1)
    std::uint64_t driver_ns = 0;
    std::vector<DriverCalls> driver; // the longest first
    std::vector<SizeBin> sizes;      // without the empty ones at both ends
    std::vector<LifetimeBin> lifetimes;
    std::vector<ChurnSite> sites; // the kMostChurnSites with the most redundant pairs, then calls
    std::uint64_t more_sites = 0;

    bool timed() const noexcept { return driver_calls > 0; }
};
template <>
struct Fields<ChurnReport> {
    static constexpr const char* kName = "churn";
    static constexpr const char* kSays =
        "How blocks of device and host memory came and went, and what that cost.";
    static constexpr auto timed = &ChurnReport::timed;
    static constexpr FieldList kAll{
        Field{"allocations", &ChurnReport::allocations},
        Field{"frees", &ChurnReport::frees},
        Field{"allocated_bytes", &ChurnReport::allocated_bytes},
        Field{"temporary", &ChurnNumbers::temporary,
              "Freed before anything else of the device's memory was allocated or freed, as "
              "heaptrack counts it."},
        Field{"short_lived", &ChurnNumbers::short_lived, "Freed within a millisecond."},
        Field{"redundant", &ChurnNumbers::redundant,
              "Allocations of a size that the same place had freed before: it could have kept it."},
        Field{"redundant_driver", &ChurnNumbers::redundant_driver,
              "Of them, those that the driver was asked for."},
        Field{"redundant_ns", When{timed, &ChurnReport::redundant_ns},
              "What these took in the driver with their frees, by the mean of their entry points."},
        Field{"driver_calls", When{timed, &ChurnReport::driver_calls},
              "Calls of hooked entry points that reached the driver, the pool's own among them; "
              "null: not recorded."},
        Field{"driver_ns", When{timed, &ChurnReport::driver_ns},
              "Where calls are short, a part of them was timed and stands for the rest."},
        Field{"driver", &ChurnReport::driver, "By entry point, the longest first."},
        Field{"sizes", &ChurnReport::sizes,
              "Allocations from from_bytes up to twice that, less one."},
        Field{"lifetimes", &ChurnReport::lifetimes,
              "Blocks that were freed, by how long they lived: each below its bound and not below "
              "the one before; null: no bound."},
        Field{"sites", &ChurnReport::sites,
              "The 50 call stacks with the most redundant pairs, then the most allocations."},
        Field{"more_sites", &ChurnReport::more_sites, "That are not listed."},
    };
};

inline constexpr std::size_t kMostChurnSites = 50;

} // namespace vramscope::report
