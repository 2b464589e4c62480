// report/model/plan/plan.hpp — would it fit: what allocators would need for what logs asked.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "report/model/plan/device.hpp"
#include "report/model/plan/scale.hpp"
#include "report/model/unread_file.hpp"

namespace vramscope::report {

// Estimates on the good side, and what could move memory: no program can have them.
inline constexpr std::array<const char*, 2> kBoundPolicies{"ideal", "async-best"};

struct PlanProcess {
    std::uint32_t pid = 0;
    std::string program;
    std::filesystem::path log;
    std::string allocator;           // whose blocks the requests are: "PyTorch"; empty: CUDA's
    std::string pool_mode;           // "cache"; empty: the log does not say
    std::vector<std::string> doubts; // why the log may lack requests, one line each
    std::vector<PlanDevice> devices;
};
template <>
struct Fields<PlanProcess> {
    static constexpr const char* kName = "process";
    static constexpr FieldList kAll{
        Field{"pid", &PlanProcess::pid},
        Field{"program", OrNull{&PlanProcess::program}},
        Field{"log", &PlanProcess::log},
        Field{"allocator", OrNull{&PlanProcess::allocator},
              "Whose blocks the requests are, such as PyTorch; null: what CUDA was asked for."},
        Field{"pool_mode", OrNull{&PlanProcess::pool_mode},
              "Of vramscope's pool in the recorded run; null: the log does not say."},
        Field{"doubts", &PlanProcess::doubts, "Why the log may lack requests, one line each."}
            .lines(),
        Field{"devices", &PlanProcess::devices},
    };
};

enum class PlanVerdict {
    fits,         // on every --card; or none was asked
    does_not_fit, // on one of them
    unknown,      // it fits as far as the logs show, and they may lack requests
    nothing,      // no log asked for device memory
};
template <>
struct Words<PlanVerdict> {
    static constexpr format::Word<PlanVerdict> kAll[] = {
        {PlanVerdict::fits, "fits"},
        {PlanVerdict::does_not_fit, "does-not-fit"},
        {PlanVerdict::unknown, "unknown"},
        {PlanVerdict::nothing, "nothing-observed"},
    };
};

// The answer comes from the device that needs most, or for which nothing is enough.
struct PlanAnswer {
    const PlanProcess* process = nullptr; // nullptr: no log asked for device memory
    const PlanDevice* device = nullptr;
    // The policy that needs the smallest card for all devices of all processes, each its own,
    // bounds aside; nullptr: none fits on any.
    const PlanPolicy* best = nullptr;
    std::uint64_t best_card = 0;
    bool helps = false;      // `best` is worth a change of the allocator's setting
    std::uint64_t saved = 0; // of the card, by `best`
    // What the smallest --card lacks for `best`; 0: nothing, or no card was asked for.
    std::uint64_t missing = 0;
    // Where something has to be less: the device that needs most with `best`, if that lacks
    // something; else the same as above.
    const PlanProcess* lower_process = nullptr;
    const PlanDevice* lower = nullptr;

    const PlanPolicy& judged() const { return device->policies.front(); }
};

struct Plan {
    PlanVerdict verdict = PlanVerdict::nothing;
    bool interrupted = false;
    std::vector<std::uint64_t> cards; // of --card
    std::vector<PlanProcess> processes;
    std::optional<PlanScale> scale;
    std::vector<std::string> notices;
    std::vector<UnreadFile> unread_files;

    int exit_status() const noexcept; // see README.md of tools
    PlanAnswer answer() const noexcept;
    // What is not sure of the policies, and of which: a sentence, and their names.
    std::map<std::string, std::string> guesses() const;
    Notices all_notices() const { return {&notices, &unread_files}; }
};
template <>
struct Fields<Plan> {
    static constexpr const char* kName = "plan";
    static constexpr unsigned kMinorVersion = 1;
    static constexpr FieldList kAll{
        Field{"verdict", &Plan::verdict,
              "Of the first policy of each device. fits: on every card that was asked for, or none "
              "was. does-not-fit: on one of them. unknown: it fits as far as the logs show, and "
              "doubts says what they may lack. nothing-observed: no log asked for device memory."},
        Field{
            "exit_status", &Plan::exit_status,
            "0; 100 does-not-fit; 110 nothing-observed; 111 unknown, where a card was asked for."},
        Field{"interrupted", &Plan::interrupted,
              "The reading was ended early: all is of what was read."},
        Field{"cards", &Plan::cards, "The devices of --card, in bytes."},
        Field{"processes", &Plan::processes, "In the order of the logs."},
        Field{"scale", &Plan::scale, "What --scale asked for."},
        Field{"notices", &Plan::all_notices},
    };
};

} // namespace vramscope::report
