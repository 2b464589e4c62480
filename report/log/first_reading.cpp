// report/log/first_reading.cpp — see first_reading.hpp.
#include "report/log/first_reading.hpp"

#include <algorithm>

#include "report/log/log_reader.hpp"

namespace vramscope::report {

Definitions read_definitions(const LogFile& file, const std::function<void(double)>& progress)
{
    constexpr std::uint64_t kRecordsPerProgress = 1 << 16;
    LogReader reader(file);
    Definitions found{{}, reader.clock(), 0};
    std::uint64_t records = 0;
    while (const Record* const record = reader.next()) {
        found.tables.define(*record);
        if (record->timed)
            found.last_ticks = std::max(found.last_ticks, record->ticks);
        if (++records % kRecordsPerProgress == 0 && progress)
            progress(reader.fraction_read());
    }
    return found;
}

} // namespace vramscope::report
