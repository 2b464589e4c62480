// report/findings/damage.cpp — stacks become places, equal rows are joined.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "report/findings/findings.hpp"
#include "report/findings/timed_calls.hpp"

namespace vramscope::report {

std::vector<Damage> find_damage(const std::vector<LoggedDamage>& logged, const CallSource& source)
{
    std::map<std::string, Damage> rows;
    std::vector<LoggedDamage> in_order = logged;
    std::stable_sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) {
        return a.noticed.ticks < b.noticed.ticks;
    });
    for (const LoggedDamage& one : in_order) {
        Damage damage;
        static_cast<DamageNumbers&>(damage) = one;
        damage.times = 0;
        damage.noticed = read_call(one.noticed, source);
        damage.allocation = read_call_if_any(one.allocation, source);
        damage.ended = read_call_if_any(one.ended, source);
        damage.process = source.process;
        const std::string key = fmt::format("{} ", static_cast<int>(one.kind)) +
                                damage.noticed.key() + '\0' + key_of(damage.allocation) + '\0' +
                                key_of(damage.ended);
        Damage& row = rows.try_emplace(key, damage).first->second;
        row.times += one.times;
        row.last_ns = std::max(row.last_ns, source.clock.ns(one.last_ticks));
    }
    return rows_by_time(rows, [](const Damage& damage) { return damage.noticed.at_ns; });
}

} // namespace vramscope::report
