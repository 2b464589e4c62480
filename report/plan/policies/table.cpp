// report/plan/policies/table.cpp — every policy by its name.
#include <array>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"
#include "report/plan/policies/async.hpp"
#include "report/plan/policies/interposed.hpp"
#include "report/plan/policies/knobs.hpp"
#include "report/plan/policies/none.hpp"
#include "report/plan/policies/rmm.hpp"
#include "report/plan/policies/rmm_arena.hpp"
#include "report/plan/policies/torch.hpp"

namespace vramscope::report::plan {
namespace {

using Make = std::function<std::unique_ptr<Policy>(CountedDevice&)>;

constexpr const char* kDriverIsGuessed =
    "How the driver rounds what it gives out is a guess: pages of 2 MiB, shared by small blocks.";
constexpr const char* kOneThread =
    "How the driver rounds what it gives out is a guess, and the program is taken to have one "
    "thread.";

constexpr const char* kArenasOfThreads =
    "Threads that use the per-thread default stream would have an arena each, and have one here.";

constexpr const char* kAsyncIsGuessed =
    "The driver's pool is closed: async-best and async-worst are an estimate on both sides.";

struct Family {
    std::string_view name;
    std::string_view words;
    const char* unsure;
    Make (*make)(std::string_view knobs); // throws Error
};

void refuse_knobs(std::string_view knobs)
{
    for (const Knob& knob : parse_knobs(knobs))
        knob.unknown();
}

template <typename AnyPolicy>
Make without_knobs(std::string_view knobs)
{
    refuse_knobs(knobs);
    return [](CountedDevice& device) { return std::make_unique<AnyPolicy>(device); };
}

Make torch(std::string_view knobs)
{
    return [options = parse_torch_options(knobs)](CountedDevice& device) {
        return std::make_unique<TorchPolicy>(device, options);
    };
}

template <typename AnyPolicy>
Make rmm(std::string_view knobs)
{
    return [options = parse_rmm_options(knobs)](CountedDevice& device) {
        return std::make_unique<AnyPolicy>(device, options);
    };
}

Make rmm_arena(std::string_view knobs)
{
    return [bytes = parse_arena_bytes(knobs)](CountedDevice& device) {
        return std::make_unique<RmmArenaPolicy>(device, bytes);
    };
}

template <typename AnyPolicy>
Make async(std::string_view knobs)
{
    return [threshold = parse_release_threshold(knobs)](CountedDevice& device) {
        return std::make_unique<AnyPolicy>(device, threshold);
    };
}

template <auto make_policy>
Make interposed(std::string_view knobs)
{
    return [options = parse_interposed_options(knobs)](CountedDevice& device) {
        return make_policy(device, options);
    };
}

constexpr std::array kFamilies = {
    Family{"torch", "PyTorch's native allocator", "", torch},
    Family{"cache", "our cache of whole allocations by their exact size", kOneThread,
           interposed<make_cache_policy>},
    Family{"split", "our pool, which cuts and joins blocks", kOneThread,
           interposed<make_split_policy>},
    Family{"rmm-pool", "RMM's pool, from nothing", kDriverIsGuessed, rmm<RmmPoolPolicy>},
    Family{"rmm-binning", "RMM's bins of 256 KiB to 4 MiB before its pool", kDriverIsGuessed,
           rmm<RmmBinningPolicy>},
    Family{"rmm-arena",
           "RMM's arena: half of the device at once; without a limit, as much as it needs",
           kArenasOfThreads, rmm_arena},
    Family{"async-best", "cudaMallocAsync if its pages can be mapped anywhere: an estimate",
           kAsyncIsGuessed, async<AsyncBestPolicy>},
    Family{"async-worst", "cudaMallocAsync if its pages stay where they are: an estimate",
           kAsyncIsGuessed, async<AsyncWorstPolicy>},
    Family{"no-allocator", "no allocator: cudaMalloc and cudaFree for each block", kDriverIsGuessed,
           without_knobs<NonePolicy>},
    Family{"ideal", "all live memory close together, as if it could be moved: a lower bound", "",
           without_knobs<IdealPolicy>},
};

} // namespace

std::vector<std::string> policy_names()
{
    std::vector<std::string> names;
    for (const Family& family : kFamilies)
        names.emplace_back(family.name);
    return names;
}

PolicyRow policy_of(const std::string& name)
{
    if (name == "none" || name.starts_with("none:")) // its old name, which was read as "no knob"
        return policy_of("no-allocator" + name.substr(4));
    const std::size_t colon = name.find(':');
    const std::string_view knobs =
        colon == name.npos ? std::string_view{} : std::string_view(name).substr(colon + 1);
    for (const Family& family : kFamilies) {
        if (family.name != std::string_view(name).substr(0, colon))
            continue;
        std::string words(family.words);
        if (!knobs.empty())
            words.append(" with ").append(knobs);
        return {name, std::move(words), family.make(knobs), family.unsure};
    }
    throw Error(Exit::usage, fmt::format("no policy is called '{}': there are {}", name,
                                         fmt::join(policy_names(), ", ")));
}

std::vector<PolicyRow> usual_policies()
{
    std::vector<PolicyRow> rows;
    for (const char* const name :
         {"torch", "torch:expandable_segments:True", "torch:max_split_size_mb:128",
          "torch:max_split_size_mb:512", "torch:roundup_power2_divisions:4",
          "torch:garbage_collection_threshold:0.8,per_process_memory_fraction:1", "cache", "split",
          "rmm-pool", "rmm-binning", "rmm-arena", "async-best", "async-worst", "no-allocator",
          "ideal"})
        rows.push_back(policy_of(name));
    return rows;
}

} // namespace vramscope::report::plan
