// report/judge/process_numbers.cpp — the numbers of a whole process, a row for each.
#include "report/judge/process_numbers.hpp"

#include <algorithm>
#include <cstdint>

#include "report/model/report.hpp"

namespace vramscope::report {
namespace {

template <typename Number>
double number(Number value)
{
    return static_cast<double>(value);
}

template <typename Number>
std::optional<double> limit(const std::optional<Number>& given)
{
    return given ? std::optional(number(*given)) : std::nullopt;
}

// A program cannot end a context's limit.
bool is_counted(format::Memory object)
{
    return object != format::Memory::context_limit;
}

double objects_left(const Process& process)
{
    std::uint64_t left = 0;
    for (const ObjectTotal& total : process.objects)
        if (is_counted(total.object))
            left += total.alive;
    return number(left - std::min(left, process.known_objects));
}

const char* objects_unknown(const Process& process)
{
    return process.records("objects")
               ? ""
               : "streams, events, graphs and modules were not recorded: the log is of an older "
                 "vramscope, or was imported";
}

// What the log does not tell of may have opened one more.
const char* contexts_unknown(const Process& process)
{
    if (process.has_context_of_no_device)
        return "of a context it is not known on which device it is";
    return process.records("contexts")
               ? ""
               : "contexts were not recorded: the log is of an older vramscope, or was imported";
}

std::vector<Culprit> culprits_at_peak(const Report& report, std::size_t process)
{
    std::vector<Culprit> culprits;
    if (const MemoryReport* const device = device_of_peak(report.processes[process]))
        for (const PeakStack& stack : device->peak.stacks)
            culprits.push_back({stack.bytes, stack.blocks, &stack});
    return culprits;
}

std::vector<Culprit> culprits_of_objects(const Report& report, std::size_t process)
{
    std::vector<Culprit> culprits;
    for (const ObjectRow& row : report.objects)
        if (row.process == process && row.is_left() && !row.known && is_counted(row.memory))
            culprits.push_back({0, row.blocks, &row});
    std::stable_sort(culprits.begin(), culprits.end(),
                     [](const Culprit& a, const Culprit& b) { return b.count < a.count; });
    return culprits;
}

// Those on devices that the process does not work on are told first.
std::vector<Culprit> culprits_of_contexts(const Report& report, std::size_t process)
{
    std::vector<Culprit> culprits;
    for (const bool stray : {true, false})
        for (const ContextRow& row : report.contexts)
            if (row.process == process && row.stray == stray && row.is_opened())
                culprits.push_back({0, 1, &row});
    return culprits;
}

} // namespace

// clang-format off
const std::array<ProcessNumber, 6> kProcessNumbers{
    ProcessNumber{"max-peak", "peak allocated", CheckUnit::bytes,
                  [](const Budget& budget) { return limit(budget.max_peak); },
                  [](const Process& process) { return number(peak_bytes(process)); }, culprits_at_peak},
    ProcessNumber{"max-reserved", "peak reserved", CheckUnit::bytes,
                  [](const Budget& budget) { return limit(budget.max_reserved); },
                  [](const Process& process) { return number(peak_reserved_bytes(process)); }},
    ProcessNumber{"max-fragmentation", "fragmentation", CheckUnit::percent,
                  [](const Budget& budget) { return limit(budget.max_fragmentation); },
                  [](const Process& process) { return 100 * fragmentation(process); }},
    ProcessNumber{"max-driver-calls", "driver calls", CheckUnit::count,
                  [](const Budget& budget) { return limit(budget.max_driver_calls); },
                  [](const Process& process) { return number(driver_calls(process)); }},
    ProcessNumber{"max-leaked-objects", "objects left", CheckUnit::count,
                  [](const Budget& budget) { return limit(budget.max_leaked_objects); },
                  objects_left, culprits_of_objects, false, objects_unknown},
    ProcessNumber{"one-device", "devices", CheckUnit::count,
                  [](const Budget& budget) { return budget.one_device ? std::optional(1.0) : std::nullopt; },
                  [](const Process& process) { return number(process.context_devices); }, culprits_of_contexts, true, contexts_unknown},
};
// clang-format on

} // namespace vramscope::report
