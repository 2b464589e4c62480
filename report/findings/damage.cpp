// report/findings/damage.cpp — stacks become places, equal rows are joined.
#include "report/findings/damage.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace vramscope::report {

std::vector<Damage> find_damage(const std::vector<LoggedDamage>& logged, const CallSource& source)
{
    std::map<std::string, Damage> rows;
    const auto key_of = [](const std::optional<TimedCall>& call) {
        return call ? call->key() : std::string();
    };
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
    std::vector<Damage> sorted;
    for (auto& [key, row] : rows)
        sorted.push_back(std::move(row));
    std::stable_sort(sorted.begin(), sorted.end(), [](const Damage& a, const Damage& b) {
        return a.noticed.at_ns < b.noticed.at_ns;
    });
    return sorted;
}

} // namespace vramscope::report
