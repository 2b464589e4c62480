// report/plan/places.cpp — by the site of a block, or by the failed call that asked for it.
#include "report/plan/places.hpp"

namespace vramscope::report::plan {

CallPlace Places::of_site(SiteId site)
{
    const Site& found = log_.heap().sites()[site];
    return stacks_.read(found.api, found.stack, found.first_ticks);
}

CallPlace Places::of_block(const TraceWatch::DeviceTrace& device, BlockId block)
{
    if (block >= device.trace.sites.size())
        return {};
    if (device.trace.sites[block] != TraceWatch::kNoSite)
        return of_site(device.trace.sites[block]);
    for (const FailedRequest& failed : device.facts.failed) {
        if (failed.block == block)
            return stacks_.read(failed.api, failed.stack, failed.ticks);
    }
    return {};
}

std::string Places::phase_of(SiteId site) const
{
    return log_.heap().phases().kind_name(log_.heap().sites()[site].phase);
}

} // namespace vramscope::report::plan
