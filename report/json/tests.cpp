// report/json/tests.cpp — one test, with its peaks and the largest of its leaks.
#include "report/json/tests.hpp"

namespace vramscope::report {
namespace {

Json test_peak_json(const TestPeak& peak)
{
    return {{"device", ordinal_json(peak.device)},
            {"allocated_at_begin", peak.at_begin},
            {"peak_allocated", peak.bytes}};
}

Json test_leak_json(const TestLeak& leak)
{
    return with_stack({{"bytes", leak.bytes},
                       {"blocks", leak.blocks},
                       {"memory", name(leak.memory)},
                       {"device", ordinal_json(leak.device)},
                       {"api", leak.api},
                       {"fingerprint", or_null(leak.fingerprint)}},
                      leak);
}

} // namespace

Json test_json(const TestRow& test)
{
    return {{"name", test.name},
            {"result", test.ended() ? Json(name(test.state)) : Json(nullptr)},
            {"begin_ns", test.begin_ns},
            {"end_ns", test.end_ns},
            {"allocations", test.allocations},
            {"peaks", list_json(test.peaks, test_peak_json)},
            {"held_bytes", test.held_bytes},
            {"held_blocks", test.held_blocks},
            {"freed_later_bytes", freed_later(test)},
            {"leaked_bytes", test.leaked_bytes},
            {"leaked_blocks", test.leaked_blocks},
            {"suppressed_bytes", test.suppressed_bytes},
            {"suppressed_blocks", test.suppressed_blocks},
            {"leaks", list_json(test.leaks, test_leak_json)}};
}

} // namespace vramscope::report
