// report/replay/wrong_frees.hpp — wrong frees and damaged memory, found in the one reading that
// there is.
//
// Of a collected log (report/checkpoint/collected.hpp) the events are gone by the time that a
// second reading would follow the addresses that the first one found. So all addresses are followed
// from the first event on, and this is in the log's checkpoint. Memory grows with blocks that are
// alive, and with at most twice AddressPast::kMostEnded that ended.
#pragma once

#include <tuple>

#include "report/replay/damage.hpp"
#include "report/replay/heap/failed_calls.hpp"
#include "report/replay/misuse.hpp"

namespace vramscope::report {

struct WrongFrees {
    explicit WrongFrees(const LogTables& tables) : misuse(tables) {}

    // Every record, in order, behind HeapReplay: by then its entry point is known.
    void apply(const Record& record)
    {
        if (misuse.apply(record))
            failed.add_refused(record, *record.as<format::Failed>());
        damages.apply(record, misuse);
    }

    auto state() noexcept { return std::tie(misuse, failed, damages); } // see report/checkpoint

    MisuseReplay misuse;
    FailedCalls failed; // frees that were refused and are no misuse
    Damages damages;
};

} // namespace vramscope::report
