// report/text/misuse.cpp — wrong frees with their stacks; other refusals in a line.
#include <fmt/format.h>

#include "report/text/sections.hpp"
#include "report/words/cuda_results.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string misused(const Report& report)
{
    std::uint64_t calls = 0;
    for (const Misuse& misuse : report.misuse)
        calls += misuse.calls;
    return counted(calls, "wrong free");
}

void timed_call(TextOutput& out, std::string_view what, const TimedCall& call)
{
    out.stream() << fmt::format("    {} at {}, {}\n", what, human_time(call.at_ns),
                                terminal_safe(call.api));
    out.stack(call);
}

void one_misuse(TextOutput& out, const Misuse& misuse)
{
    std::string what = fmt::format("{:#x}", misuse.address);
    if (misuse.memory != format::Memory::none)
        what += fmt::format(
            ", {}{} block of {}",
            misuse.offset == 0 ? "" : fmt::format("{} bytes into a ", grouped(misuse.offset)),
            name(misuse.memory), human_bytes(misuse.bytes));
    out.stream() << '\n';
    out.wrapped("", "",
                fmt::format("{}  {}{} of {}, {}", out.painted(name(misuse.kind), "1"),
                            terminal_safe(misuse.call.api),
                            misuse.calls == 1
                                ? ""
                                : fmt::format(", {} times, first", grouped(misuse.calls)),
                            what, result_name(misuse.result)));
    timed_call(out, "called", misuse.call);
    if (misuse.allocation)
        timed_call(out, "allocated", *misuse.allocation);
    if (misuse.ended)
        timed_call(out, misuse.kind == MisuseKind::after_context ? "context gone" : "first freed",
                   *misuse.ended);
}

std::string wrong_bytes(const Damage& damage)
{
    const std::string bytes = counted(damage.wrong_bytes, "byte");
    const auto size = static_cast<std::int64_t>(damage.block_bytes);
    if (damage.offset < 0)
        return fmt::format(
            "{}, the first {} before it", bytes,
            counted(std::uint64_t{0} - static_cast<std::uint64_t>(damage.offset), "byte"));
    if (damage.kind == format::Damage::overrun && size > 0 && damage.offset >= size)
        return fmt::format("{}, the first {} behind its end", bytes,
                           counted(static_cast<std::uint64_t>(damage.offset - size) + 1, "byte"));
    return fmt::format("{} at offset {}", bytes, damage.offset);
}

void one_damage(TextOutput& out, const Damage& damage)
{
    const std::string block = damage.block_bytes == 0
                                  ? "a block"
                                  : fmt::format("a block of {}", human_bytes(damage.block_bytes));
    out.stream() << '\n';
    out.wrapped(
        "", "",
        fmt::format("{}  of {} at {:#x}{}: {}", out.painted(name(damage.kind), "1"), block,
                    damage.address,
                    damage.times == 1 ? "" : fmt::format(", {} times", grouped(damage.times)),
                    wrong_bytes(damage)));
    if (damage.allocation)
        timed_call(out, "allocated", *damage.allocation);
    if (damage.ended)
        timed_call(out, "freed", *damage.ended);
    out.stream() << fmt::format("    noticed at {}, the write was before\n",
                                human_time(damage.noticed.at_ns));
    out.frames(damage.noticed.stack);
}

void line_of(TextOutput& out, std::string_view head, const std::string& what, const CallPlace& call)
{
    constexpr std::size_t kLeastPlace = 30;
    std::string text = fmt::format("{}{}, {}", head, what, terminal_safe(call.api));
    if (columns(text) + kLeastPlace > out.width()) {
        out.wrapped("", head, text.substr(head.size()));
        text = "  ";
    }
    out.line(text + "  ", call);
}

} // namespace

void write_misuse(TextOutput& out, const Report& report)
{
    if (report.misuse.empty())
        return;
    out.stream() << '\n' << out.painted("Misuse", "1") << ": " << misused(report) << '\n';
    for (const Misuse& misuse : report.misuse)
        one_misuse(out, misuse);
}

void write_damage(TextOutput& out, const Report& report)
{
    if (report.damage.empty())
        return;
    out.stream() << '\n'
                 << out.painted("Damaged memory", "1")
                 << ": it was written while it was free, or beyond a block\n";
    for (const Damage& damage : report.damage)
        one_damage(out, damage);
}

void write_owners_and_refusals(TextOutput& out, const Report& report)
{
    if (!report.owners.empty() || !report.failed_calls.empty())
        out.stream() << '\n';
    for (const Leak& owner : report.owners)
        line_of(out, "Never destroyed: ",
                owner.blocks == 1
                    ? fmt::format("a {}", name(owner.memory))
                    : fmt::format("{} of kind {}", grouped(owner.blocks), name(owner.memory)),
                owner);
    for (const FailedCall& failed : report.failed_calls) {
        const std::string tries = tries_of(failed.calls, failed.least_bytes, failed.most_bytes);
        const std::string how = failed.calls > 1   ? ", " + tries
                                : failed.bytes > 0 ? " of " + tries
                                                   : "";
        line_of(out, "Refused: ", result_name(failed.result) + how, failed);
    }
}

} // namespace vramscope::report
