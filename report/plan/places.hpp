// report/plan/places.hpp — where in the program the blocks of a trace are asked for.
#pragma once

#include <string>

#include "report/findings/places/stack_reader.hpp"
#include "report/plan/trace/read_trace.hpp"

namespace vramscope::report::plan {

class Places {
public:
    // Both outlive this. `log` was read.
    Places(const TracedLog& log, Symbolizer& symbolizer)
        : log_(log), stacks_(log.tables(), symbolizer, ShownFrames::own)
    {
        stacks_.find_wrappers(log.heap().sites().all());
    }

    CallPlace of_site(SiteId site);
    CallPlace of_block(const TraceWatch::DeviceTrace& device, BlockId block);
    std::string phase_of(SiteId site) const; // "epoch #/step #"; empty: outside of any
    std::uint64_t ns(std::uint64_t ticks) const noexcept { return log_.clock().ns(ticks); }

private:
    const TracedLog& log_;
    StackReader stacks_;
};

} // namespace vramscope::report::plan
