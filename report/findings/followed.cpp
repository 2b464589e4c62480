// report/findings/followed.cpp — the second reading, and its rows.
#include "report/findings/followed.hpp"

#include <unordered_set>

#include "report/findings/findings.hpp"
#include "report/model/append.hpp"

namespace vramscope::report {

Followed follow(const Reading& reading, const FailedCalls& failed, const Damages& damages,
                std::span<const PendingFree> pending, bool complete)
{
    std::unordered_set<std::uint64_t> addresses = failed.freed_addresses();
    addresses.insert(damages.addresses().begin(), damages.addresses().end());
    for (const PendingFree& free : pending)
        addresses.insert(free.address);
    Followed followed{{reading.tables(), addresses, complete}, failed, damages};
    if (addresses.empty())
        return followed;
    reading.read_again([&](const Record& record) {
        if (followed.misuse.apply(record))
            followed.failed.add_refused(record, *record.as<format::Failed>());
        followed.damages.apply(record, followed.misuse);
    });
    return followed;
}

Followed follow(const WrongFrees& known, const FailedCalls& failed, bool complete)
{
    Followed followed{known.misuse, failed, known.damages, complete};
    followed.failed.add(known.failed);
    return followed;
}

void add_rows(Report& report, const Followed& followed, const CallSource& source)
{
    std::vector<LoggedMisuse> misuse = followed.misuse.groups();
    if (!followed.complete) // that was not known when each was judged
        for (LoggedMisuse& one : misuse)
            if (one.kind == MisuseKind::never_allocated)
                one.kind = MisuseKind::unknown;
    append(report.misuse, find_misuse(misuse, source));
    append(report.damage, find_damage(followed.damages.groups(), source));
    append(report.failed_calls, find_failed_calls(followed.failed.groups(), source));
}

} // namespace vramscope::report
