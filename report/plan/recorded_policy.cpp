// report/plan/recorded_policy.cpp — by what the log says of the allocator and its settings.
#include "report/plan/recorded_policy.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "report/error.hpp"

namespace vramscope::report::plan {
namespace {

// The newer name goes first, as in PyTorch.
constexpr std::array kTorchSettings{"env.PYTORCH_ALLOC_CONF", "env.PYTORCH_CUDA_ALLOC_CONF"};

std::optional<PolicyRow> torch_as_set(const LogTables& tables, std::vector<std::string>& unknown)
{
    for (const char* const setting : kTorchSettings) {
        const std::string knobs(tables.info_value(setting));
        if (knobs.empty())
            continue;
        try {
            return policy_of("torch:" + knobs);
        } catch (const Error& error) {
            unknown.push_back(fmt::format("PyTorch was set by {}={}, which is not replayed: {}.",
                                          std::string_view(setting).substr(4), knobs,
                                          error.what()));
        }
    }
    return policy_of("torch");
}

// What a pool has that is set by nothing.
std::string_view default_of(std::string_view key)
{
    return key == "pool.sync"         ? "lazy"
           : key == "pool.max_cached" ? "peak"
           : key == "pool.wait_from"  ? "64MiB"
                                      : "off";
}

// What is not set is as the policy has it. A limit is a smaller card, which is asked for otherwise.
PolicyRow pool_as_set(const LogTables& tables, const std::string& mode,
                      std::vector<std::string>& unknown)
{
    constexpr std::string_view kPool = "pool.";
    std::string name = mode;
    for (const auto& [key, value] : tables.info()) {
        if (!key.starts_with(kPool) || key == "pool.mode" || key == "pool.limit" ||
            key == "pool.poison" || value == default_of(key))
            continue;
        const std::string knob = key.substr(kPool.size()) + ":" + value;
        const std::string more = name + (name == mode ? ":" : ",") + knob;
        try {
            policy_of(more);
            name = more;
        } catch (const Error&) {
            unknown.push_back(
                fmt::format("vramscope's pool was set by {}, which is not replayed.", knob));
        }
    }
    return policy_of(name);
}

} // namespace

std::optional<PolicyRow> recorded_policy(const TracedLog& log, std::vector<std::string>& unknown)
{
    const std::string allocator = log.allocator();
    const std::string mode = log.pool_mode();
    if (allocator == "PyTorch")
        return torch_as_set(log.tables(), unknown);
    if (!allocator.empty()) {
        unknown.push_back(fmt::format("The rules of {} are not known here: what is said of fitting "
                                      "is of other allocators in its place.",
                                      allocator));
        return std::nullopt;
    }
    if (mode != "cache" && mode != "split")
        return policy_of("no-allocator");
    return pool_as_set(log.tables(), mode, unknown);
}

} // namespace vramscope::report::plan
