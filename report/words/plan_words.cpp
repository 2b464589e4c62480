// report/words/plan_words.cpp — see plan_words.hpp.
#include "report/words/plan_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/file_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

std::string policy_words(const PlanPolicy& policy)
{
    return policy.name + (policy.recorded ? ", as recorded" : "");
}

std::string card_words(std::uint64_t bytes)
{
    constexpr std::uint64_t kMib = 1 << 20;
    constexpr std::uint64_t kGib = 1 << 30;
    const std::uint64_t parts = bytes % kGib * 10; // human_bytes() rounds to tenths
    const bool rounded_up = parts % kGib == 0 || parts % kGib >= kGib / 2;
    if (bytes < kGib || rounded_up)
        return human_bytes(bytes);
    return grouped(bytes / kMib + (bytes % kMib != 0)) + " MiB";
}

std::string smallest_card_words(const PlanPolicy& policy, const std::vector<std::uint64_t>& cards)
{
    const std::uint64_t smallest = policy.smallest_card.value();
    const std::string words = human_bytes(smallest);
    for (const std::uint64_t card : cards) {
        if (card != smallest && human_bytes(card) == words)
            return fmt::format("{} {} {}", words, card < smallest ? "and" : "less",
                               human_bytes(std::max(card, smallest) - std::min(card, smallest)));
    }
    return card_words(smallest);
}

std::string why_short(const PlanShortage& shortage, std::uint64_t card, std::uint64_t base)
{
    const std::uint64_t taken = base + shortage.reserved + shortage.beside;
    const std::uint64_t left = card - std::min(card, taken);
    const std::uint64_t unused = shortage.reserved - shortage.allocated;
    if (shortage.is_beside)
        return fmt::format("it is asked of the driver, and {} are left", human_bytes(left));
    if (left + unused < shortage.requested)
        return fmt::format("all that is free together are {}", human_bytes(left + unused));
    return fmt::format("{} are free, but the largest piece has {}", human_bytes(left + unused),
                       human_bytes(std::max(left, shortage.largest_free)));
}

std::string change_of(const PlanSaving& saving)
{
    switch (saving.kind) {
    case AdviceKind::released_late:
        return fmt::format("released when range {} is over", terminal_safe(saving.phase));
    case AdviceKind::allocated_early:
        return fmt::format("allocated when range {} begins", terminal_safe(saving.phase));
    case AdviceKind::never_freed:
    case AdviceKind::grow_by_copy:
    case AdviceKind::redundant_pairs:
        break;
    }
    return "released before the peak (they never are)";
}

std::string signed_bytes(double bytes)
{
    const auto whole = static_cast<std::uint64_t>(std::min(std::abs(bytes), 0x1p62));
    return (bytes < 0 && whole > 0 ? "-" : "") + human_bytes(whole);
}

std::string line_words(const PlanLine& line, const std::string& dimension)
{
    std::string words = fmt::format("{} and {} for each of {}", signed_bytes(line.fixed),
                                    signed_bytes(line.each), dimension);
    return line.error > 0 ? words + ", give or take " + signed_bytes(line.error) : words;
}

std::vector<PlanSentence> sentences_about(const Plan& plan)
{
    std::vector<PlanSentence> all;
    const auto say = [&](const char* about, const std::string& text) {
        if (PlanSentence one{about, text}; std::find(all.begin(), all.end(), one) == all.end())
            all.push_back(std::move(one));
    };
    if (plan.interrupted)
        say("Not the whole run", "the reading was interrupted");
    for (const PlanProcess& process : plan.processes) {
        for (const std::string& doubt : process.doubts)
            say("Not the whole run", doubt);
        for (const PlanDevice& device : process.devices) {
            for (const std::string& sentence : device.unknown)
                say("Not known", sentence);
        }
    }
    for (const auto& [sentence, names] : plan.guesses())
        say("Not sure", names + ": " + sentence);
    for (const std::string& notice : plan.notices)
        say("Note", notice);
    for (const std::string& sentence : sentences_about(plan.unread_files))
        say("Note", sentence);
    return all;
}

} // namespace vramscope::report
