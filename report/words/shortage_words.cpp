// report/words/shortage_words.cpp — what was free, and who had the rest.
#include "report/words/shortage_words.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "report/words/frame_words.hpp"
#include "report/words/mempool_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

std::string free_in_pieces(const Shortage& shortage)
{
    const std::uint64_t pieces = shortage.free_pieces + (shortage.free > 0 ? 1 : 0);
    return fmt::format("{} were free in {}, the largest {}", human_bytes(shortage.free_in_all()),
                       counted(pieces, "piece"),
                       human_bytes(std::max(shortage.largest_gap, shortage.free)));
}

// Where the driver alone knows its pieces.
std::string free_in_all(const Shortage& shortage)
{
    if (!shortage.free_known())
        return "how much was free is not known";
    const std::string words =
        human_bytes(shortage.free_in_all()) + " were free" +
        (shortage.setting.empty()
             ? ""
             : fmt::format(" of the {} that {} allows", human_bytes(shortage.allowed),
                           terminal_safe(shortage.setting)));
    return shortage.kind == ShortageKind::fragmented ? words + ", but not in one piece" : words;
}

// Then pieces are no matter: what is free together would not have lasted.
bool is_nearly_full(const Shortage& shortage)
{
    constexpr std::uint64_t kSmallPart = 20;
    return shortage.free_in_all() < shortage.total / kSmallPart;
}

std::string held_most(const Shortage& shortage)
{
    const std::uint64_t most = shortage.owners.empty() ? 0 : shortage.owners.front().bytes;
    const std::uint64_t others = shortage.parts.unattributed;
    const std::string place = shortage.owners.empty() ? "" : own_place(shortage.owners.front());
    std::string words;
    if (others > most)
        words = fmt::format("; contexts, streams, code and other processes had {}",
                            human_bytes(others));
    if (!place.empty())
        words += fmt::format("; {}{} held the most, {}", others > most ? "of the program's, " : "",
                             place, human_bytes(most));
    return words;
}

} // namespace

std::string cause_of(const Shortage& shortage)
{
    switch (shortage.kind) {
    case ShortageKind::cached:
        return fmt::format("a piece of {} was freed, and not safe to reuse yet",
                           human_bytes(shortage.largest_gap));
    case ShortageKind::fragmented:
        if (!shortage.pieces_known())
            return free_in_all(shortage);
        if (is_nearly_full(shortage))
            return free_in_pieces(shortage) + held_most(shortage);
        return free_in_pieces(shortage) +
               (shortage.apart ? fmt::format("; {} holds them apart", own_place(*shortage.apart))
                               : "");
    case ShortageKind::refused:
        return refused_though_free(shortage);
    case ShortageKind::limited:
        return above_its_maximum(shortage);
    case ShortageKind::impossible:
        return impossible_size(shortage.requested);
    default:
        if (!shortage.mempools.empty() && shortage.mempools.front().kept() > 0)
            return free_in_all(shortage) + "; " + kept_by(shortage.mempools.front());
        return free_in_all(shortage) + held_most(shortage);
    }
}

} // namespace vramscope::report
