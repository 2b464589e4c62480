// tools/watch/watch_events.cpp — see watch_events.hpp.
#include "tools/watch/watch_events.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/growth_words.hpp"
#include "report/words/words.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {
namespace {

using report::Growth;
using report::LiveDevice;
using report::LiveState;

constexpr std::string_view kHeadroom = "headroom=";

[[noreturn]] void refuse(const std::string& text)
{
    throw report::Error(report::Exit::usage,
                        fmt::format("--on {}: write growth, oom, headroom=5% or headroom=2GiB",
                                    report::shell_quoted(text)));
}

WatchRule read_headroom(const std::string& text)
{
    const std::string_view value = std::string_view(text).substr(kHeadroom.size());
    WatchRule rule{WatchEvent::headroom};
    if (value.ends_with('%')) {
        const auto percent = report::whole_number<unsigned>(value.substr(0, value.size() - 1));
        if (!percent || *percent < 1 || *percent > 99)
            refuse(text);
        rule.least_part = *percent / 100.0;
        return rule;
    }
    const std::optional<std::uint64_t> bytes = format::read_size(value);
    if (!bytes || *bytes == 0)
        refuse(text);
    rule.least_bytes = *bytes;
    return rule;
}

// What can still be allocated; nothing: it is not known.
std::optional<std::uint64_t> left_of(const LiveDevice& device)
{
    if (device.limit_bytes == 0)
        return std::nullopt;
    const std::uint64_t used =
        device.memory.used_known ? device.memory.used : device.memory.reserved;
    return device.limit_bytes - std::min(used, device.limit_bytes);
}

std::string key_of(const Growth& row)
{
    return fmt::format("{} {} {}", row.key(), format::name(row.memory), row.device);
}

std::string and_more(std::size_t rows)
{
    return rows > 1 ? fmt::format("; and {} more", rows - 1) : "";
}

} // namespace

WatchRule read_watch_rule(const std::string& text)
{
    if (text == name(WatchEvent::growth))
        return {WatchEvent::growth};
    if (text == name(WatchEvent::out_of_memory) || text == "out-of-memory")
        return {WatchEvent::out_of_memory};
    if (text.starts_with(kHeadroom))
        return read_headroom(text);
    refuse(text);
}

const char* name(WatchEvent event)
{
    switch (event) {
    case WatchEvent::growth:
        return "growth";
    case WatchEvent::headroom:
        return "headroom";
    default:
        return "oom";
    }
}

std::string WatchedState::look(const LiveState& now)
{
    switch (rule_.event) {
    case WatchEvent::growth:
        return growth(now);
    case WatchEvent::headroom:
        return headroom(now);
    default:
        return shortages(now);
    }
}

std::string WatchedState::growth(const LiveState& now)
{
    std::set<std::string> growing;
    const Growth* fastest = nullptr;
    std::size_t began = 0;
    for (const Growth& row : now.growing) {
        const std::string key = key_of(row);
        if (!growing_.contains(key) && ++began == 1)
            fastest = &row;
        growing.insert(key);
    }
    growing_ = std::move(growing);
    if (!fastest)
        return "";
    return fmt::format("grows by {} at {}, {}{}", report::rate_words(fastest->rate),
                       report::innermost_in(*fastest, SIZE_MAX),
                       report::since_words(fastest->rate, now.opened_real_ns), and_more(began));
}

std::string WatchedState::headroom(const LiveState& now)
{
    std::set<std::int32_t> full;
    std::string said;
    std::size_t began = 0;
    for (const LiveDevice& device : now.devices) {
        const std::optional<std::uint64_t> left = left_of(device);
        const double wanted = rule_.least_bytes > 0
                                  ? static_cast<double>(rule_.least_bytes)
                                  : rule_.least_part * static_cast<double>(device.limit_bytes);
        // It is one event as long as there is not clearly more again.
        const double enough = full_.contains(device.ordinal) ? 2 * wanted : wanted;
        if (!left || static_cast<double>(*left) >= enough)
            continue;
        full.insert(device.ordinal);
        if (!full_.contains(device.ordinal) && ++began == 1)
            said = fmt::format("device {} has {} left of {}", device.ordinal,
                               report::human_bytes(*left), report::human_bytes(device.limit_bytes));
    }
    full_ = std::move(full);
    return said.empty() ? said : said + and_more(began);
}

std::string WatchedState::shortages(const LiveState& now)
{
    const std::uint64_t failed = now.shortages - std::min(shortages_, now.shortages);
    shortages_ = now.shortages;
    return failed == 0
               ? ""
               : fmt::format("{} failed for want of memory", report::counted(failed, "allocation"));
}

} // namespace vramscope
