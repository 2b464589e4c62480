// report/replay/taken_by_driver.hpp — what the driver took of devices for contexts and objects.
//
// By its own word on free memory before and after it made one. It takes and gives back in steps,
// so that of one object that word says little and of many in a row nearly all: per site sums are
// kept, with what may be wrong in them. Part of DeviceMemory, which tells it of objects alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "report/log/chunk_cursor.hpp"
#include "report/replay/heap/sites.hpp"

namespace vramscope::report {

// The steps in which the driver takes memory for its own and gives it back.
inline constexpr std::uint64_t kDriverStep = std::uint64_t{2} << 20;

// Of the objects of a site that were measured, all together.
struct MeasuredObjects {
    std::uint64_t objects = 0;
    std::uint64_t fell = 0;         // by how much less was free, of those where it was
    std::uint64_t rose = 0;         // by how much more, of the others: of somebody else's
    std::uint64_t largest_rise = 0; // of one of them
    // How often they did not come one right behind the other: what is left of a step then went to,
    // or came from, others.
    std::uint64_t runs = 0;
    std::uint64_t ticks = 0; // between the two answers

    void join(const MeasuredObjects& more)
    {
        objects += more.objects;
        fell += more.fell;
        rose += more.rose;
        largest_rise = std::max(largest_rise, more.largest_rise);
        runs += more.runs;
        ticks += more.ticks;
    }
};

// Changes of a device's free memory while this process did nothing there that is known.
struct MovedByOthers {
    std::uint64_t moves = 0;
    std::uint64_t largest = 0; // bytes
    std::uint64_t ticks = 0;   // in which they would have been seen
};

class TakenByDriver {
public:
    // The first objects that are alive are kept one by one: a log can name any number.
    static constexpr std::size_t kMostKept = 1'000'000;

    struct Device {
        std::uint64_t contexts = 0; // bytes, for those that are there
        std::uint64_t objects = 0;
        MovedByOthers others;

        // Of the latest object that the driver takes memory for.
        std::uint64_t address = 0;
        SiteId site = 0;
        std::uint16_t api = 0;
        std::uint64_t changes = 0; // of such objects, since the last measurement
        // That measurement's end: its time, and what was free then.
        std::uint64_t ticks = 0;
        std::uint64_t free = 0;
        SiteId last_site = 0;
    };

    // An object, as BlockWatch has it.
    void born(const Block& block);
    bool ended(const Block& block); // whether that changes what is taken
    bool died(SiteId site);         // the same, of all of this site's, with their context
    // Of contexts. The device on which that changes what is taken.
    std::optional<std::int32_t> apply(const Record& record);

    // The object that was born last on its device. `reserved_ticks`: when what the process has
    // reserved there changed last.
    void measured(const format::ObjectMemory& said, std::uint64_t ticks,
                  std::uint64_t reserved_ticks);

    // Empty where nothing is known.
    MeasuredObjects of(SiteId site) const;
    Device on(std::int32_t ordinal) const;
    std::size_t sites() const noexcept { return sites_.empty() ? 0 : sites_.rbegin()->first + 1; }

    auto state() noexcept { return std::tie(devices_, sites_, alive_, contexts_); }

private:
    using Key = std::pair<SiteId, std::uint64_t>; // and the handle
    struct Kept {
        std::int32_t device = -1;
        std::uint64_t bytes = 0;
    };
    static void note_others(Device& device, std::uint64_t free, std::uint64_t ticks);
    void add(Device& device, std::int32_t ordinal, const format::ObjectMemory& said, bool in_a_row);
    std::map<Key, Kept>::iterator forget(std::map<Key, Kept>::iterator kept);

    std::map<std::int32_t, Device> devices_; // by ordinal
    std::map<SiteId, MeasuredObjects> sites_;
    std::map<Key, Kept> alive_;              // for which the driver took a step
    std::map<std::uint64_t, Kept> contexts_; // by their ids; also those that took nothing
};

} // namespace vramscope::report
