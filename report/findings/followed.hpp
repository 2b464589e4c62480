// report/findings/followed.hpp — what wrong frees and damaged memory were about.
//
// The first reading of a log finds their addresses; a second one follows these alone. Most logs
// have none, and are not read again. Of a collected log all were followed before: see WrongFrees.
#pragma once

#include <span>

#include "report/findings/places/log_source.hpp"
#include "report/model/report.hpp"
#include "report/replay/damage.hpp"
#include "report/replay/heap/failed_calls.hpp"
#include "report/replay/misuse.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/wrong_frees.hpp"

namespace vramscope::report {

struct Followed {
    MisuseReplay misuse;
    FailedCalls failed; // with those frees that turned out to be no misuse
    Damages damages;
    bool complete = true;
};

// `failed`, `damages`: as the first reading left them. `pending`: frees that never came back, to be
// judged too. `complete`: no event is missing.
Followed follow(const Reading& reading, const FailedCalls& failed, const Damages& damages,
                std::span<const PendingFree> pending, bool complete);

// Of a collected log. `failed` as there.
Followed follow(const WrongFrees& known, const FailedCalls& failed, bool complete);

// Adds the rows of wrong frees, of damage and of refused calls.
void add_rows(Report& report, const Followed& followed, const CallSource& source);

} // namespace vramscope::report
