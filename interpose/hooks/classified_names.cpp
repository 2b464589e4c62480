// interpose/hooks/classified_names.cpp — classified_names.def as a sorted list of hashes.
//
// 4 bytes are kept of each name that speaks of memory. That an unknown name has the hash of a known
// one would cost a line in a report, once in ten million names.
#include "interpose/hooks/classified_names.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "interpose/hooks/hook.hpp"

namespace vramscope::hooks {
namespace {

enum class Word { memory, owner, no };

struct NameWord {
    Word kind;
    char text[15]; // no pointer, which the loader would have to relocate
};

constexpr NameWord kWords[] = {
#define VRAMSCOPE_WORD(kind, word) {Word::kind, #word},
#include "interpose/hooks/classified_names.def"
};

constexpr std::string_view kLists[] = {
#define VRAMSCOPE_NAMES(kind, reason, ...) #__VA_ARGS__,
#include "interpose/hooks/classified_names.def"
};

// Letter by letter: the compiler does this for the whole table, and counts its steps.
constexpr bool begins_with(std::string_view rest, const char* word) noexcept
{
    for (; *word; ++word, rest.remove_prefix(1))
        if (rest.empty() || rest.front() != *word)
            return false;
    return true;
}

constexpr bool has_word_at(std::string_view rest, Word kind) noexcept
{
    for (const NameWord& word : kWords)
        if (word.kind == kind && begins_with(rest, word.text))
            return true;
    return false;
}

constexpr bool speaks_of_memory(std::string_view name) noexcept
{
    for (; !name.empty(); name.remove_prefix(1))
        if (name.front() >= 'A' && name.front() <= 'Z' && has_word_at(name, Word::memory) &&
            !has_word_at(name, Word::no))
            return true;
    return false;
}

constexpr std::uint32_t hash(std::string_view name) noexcept
{
    std::uint32_t value = 2166136261; // FNV-1a
    for (const char c : name)
        value = (value ^ static_cast<unsigned char>(c)) * 16777619;
    return value;
}

template <class Visit>
constexpr void each_name_of_memory(Visit visit)
{
    for (std::string_view list : kLists)
        while (!list.empty()) {
            const std::size_t comma = std::min(list.find(", "), list.size());
            if (speaks_of_memory(list.substr(0, comma)))
                visit(list.substr(0, comma));
            list.remove_prefix(std::min(comma + 2, list.size()));
        }
}

consteval std::size_t count_names()
{
    std::size_t count = 0;
    each_name_of_memory([&](std::string_view) { ++count; });
    return count;
}

consteval std::array<std::uint32_t, count_names()> hash_names()
{
    std::array<std::uint32_t, count_names()> hashes{};
    std::size_t at = 0;
    each_name_of_memory([&](std::string_view name) { hashes[at++] = hash(name); });
    std::sort(hashes.begin(), hashes.end());
    return hashes;
}

constexpr std::array kKnown = hash_names();
static_assert(std::adjacent_find(kKnown.begin(), kKnown.end()) == kKnown.end(),
              "a name stands in the table twice");

// "cuMemAlloc" of "cuMemAlloc_v2_ptsz".
std::string_view base_of(std::string_view symbol) noexcept
{
    if (symbol.ends_with("_ptsz") || symbol.ends_with("_ptds"))
        symbol.remove_suffix(5);
    const std::size_t at = symbol.find_last_not_of("0123456789");
    if (at != std::string_view::npos && at + 1 < symbol.size() &&
        symbol.substr(0, at + 1).ends_with("_v"))
        symbol = symbol.substr(0, at - 1);
    return symbol;
}

} // namespace

bool is_unknown_memory_name(const char* symbol) noexcept
{
    const std::string_view base = base_of(symbol);
    for (const HookInfo& hook : kHookTable)
        if (base == hook.base())
            return true;
    return speaks_of_memory(base) && !std::binary_search(kKnown.begin(), kKnown.end(), hash(base));
}

} // namespace vramscope::hooks
