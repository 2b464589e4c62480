// report/words/check_words.cpp — budgets, amounts, and the processes that exceed them.
#include "report/words/check_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "report/model/report.hpp"
#include "report/words/rank_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

std::string per(CheckUnit unit, const std::string& step)
{
    switch (unit) {
    case CheckUnit::bytes_per_step:
        return "/" + (step.empty() ? "step" : terminal_safe(step));
    case CheckUnit::bytes_per_call:
        return "/call";
    case CheckUnit::bytes_per_second:
        return "/s";
    default:
        return "";
    }
}

std::string in_short(double amount, CheckUnit unit, const std::string& step)
{
    const auto whole = static_cast<std::uint64_t>(std::min(amount + 0.5, 0x1p63));
    if (unit == CheckUnit::percent)
        return fmt::format("{:.1f} %", amount);
    return unit == CheckUnit::count ? grouped(whole) : human_bytes(whole) + per(unit, step);
}

std::string in_full(double amount, CheckUnit unit, const std::string& step)
{
    if (unit == CheckUnit::percent)
        return fmt::format("{:.10g} %", amount);
    return (std::floor(amount) == amount ? grouped(static_cast<std::uint64_t>(amount))
                                         : fmt::format("{:.10g}", amount)) +
           " B" + per(unit, step);
}

// "64 KiB, at most 64 KiB" says nothing.
std::string amount_of_row(const CheckRow& row, double amount, const std::string& step)
{
    const bool tells_apart =
        row.measured == row.limit || row.unit == CheckUnit::count ||
        in_short(row.measured, row.unit, {}) != in_short(row.limit, row.unit, {});
    return tells_apart ? in_short(amount, row.unit, step) : in_full(amount, row.unit, step);
}

} // namespace

std::string measured_words(const CheckRow& row)
{
    return amount_of_row(row, row.measured, row.step);
}

std::string limit_words(const CheckRow& row)
{
    if (row.limit == 0 && row.unit == CheckUnit::count)
        return "none allowed";
    return "at most " + amount_of_row(row, row.limit, {});
}

std::string row_words(const CheckRow& row)
{
    return fmt::format("{}{} {}, {}", terminal_safe(row.called), row.rule.empty() ? "" : ":",
                       measured_words(row), limit_words(row));
}

std::string test_words(const TestCheck& row, const TestRow& test)
{
    std::string text = test.ended() ? "" : "did not end";
    for (const TestBreach& breach : row.breaches)
        text += fmt::format("{}{} {}, at most {}", text.empty() ? "" : "; ",
                            breach.budget == "max-peak" ? "peak allocated" : "leaked",
                            human_bytes(breach.measured), human_bytes(breach.limit));
    return text;
}

namespace {

std::optional<std::uint32_t> rank_of(const Report& report, std::size_t process)
{
    for (const RankRow& row : report.ranks.rows)
        if (row.process == process)
            return row.rank;
    return std::nullopt;
}

} // namespace

std::string process_name(const Report& report, std::size_t index)
{
    const std::optional<std::uint32_t> rank = rank_of(report, index);
    return rank ? fmt::format("rank {}", *rank)
                : fmt::format("process {}", report.processes[index].pid);
}

std::string process_name(const Report& report, const Process& process)
{
    return process_name(report, static_cast<std::size_t>(&process - report.processes.data()));
}

std::string failed_where(const CheckRow& row, const Report& report)
{
    if (report.processes.size() < 2)
        return {};
    constexpr std::size_t kMostNamed = 4;       // in one line
    std::map<std::uint32_t, std::string> ranks; // one may have several processes
    std::vector<std::string> names;             // of those without
    for (const std::size_t process : row.failed)
        if (const std::optional<std::uint32_t> rank = rank_of(report, process))
            ranks.try_emplace(*rank, process_name(report, process));
        else
            names.push_back(process_name(report, process));
    if (ranks.size() + names.size() > kMostNamed)
        return " in " + part_of_job(report, row.failed);
    std::string text;
    for (const auto& [rank, name] : ranks)
        text += (text.empty() ? " in " : ", ") + name;
    for (const std::string& name : names)
        text += (text.empty() ? " in " : ", ") + name;
    return text;
}

} // namespace vramscope::report
