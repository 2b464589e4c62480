// report/checkpoint/members.hpp — the members of a plain struct, without naming them.
//
// So that a member that is added is in a checkpoint too, and nobody can forget it. A struct that
// has a base, bit fields or more members than these does not compile here, and says itself what it
// consists of: see archive.hpp.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace vramscope::report {

struct AnyMember {
    template <typename Member>
    operator Member() const; // never called
};

template <typename Struct, std::size_t... At>
constexpr bool can_be_made_of(std::index_sequence<At...>)
{
    return requires
    {
        Struct{(static_cast<void>(At), AnyMember{})...};
    };
}

template <typename Struct, std::size_t kCount = 0>
constexpr std::size_t count_members()
{
    if constexpr (can_be_made_of<Struct>(std::make_index_sequence<kCount + 1>()))
        return count_members<Struct, kCount + 1>();
    else
        return kCount;
}

// Calls `visit` with all of them.
template <typename Struct, typename Visit>
void visit_members(Struct& s, Visit visit)
{
    static_assert(std::is_aggregate_v<Struct>, "it needs a function state()");
    constexpr std::size_t kMembers = count_members<Struct>();
    static_assert(kMembers >= 1 && kMembers <= 16, "it needs a function state()");
    // clang-format off
    if constexpr (kMembers == 1) { auto& [a] = s; visit(a); }
    else if constexpr (kMembers == 2) { auto& [a, b] = s; visit(a, b); }
    else if constexpr (kMembers == 3) { auto& [a, b, c] = s; visit(a, b, c); }
    else if constexpr (kMembers == 4) { auto& [a, b, c, d] = s; visit(a, b, c, d); }
    else if constexpr (kMembers == 5) { auto& [a, b, c, d, e] = s; visit(a, b, c, d, e); }
    else if constexpr (kMembers == 6) {
        auto& [a, b, c, d, e, f] = s; visit(a, b, c, d, e, f); }
    else if constexpr (kMembers == 7) {
        auto& [a, b, c, d, e, f, g] = s; visit(a, b, c, d, e, f, g); }
    else if constexpr (kMembers == 8) {
        auto& [a, b, c, d, e, f, g, h] = s; visit(a, b, c, d, e, f, g, h); }
    else if constexpr (kMembers == 9) {
        auto& [a, b, c, d, e, f, g, h, i] = s; visit(a, b, c, d, e, f, g, h, i); }
    else if constexpr (kMembers == 10) {
        auto& [a, b, c, d, e, f, g, h, i, j] = s;
        visit(a, b, c, d, e, f, g, h, i, j); }
    else if constexpr (kMembers == 11) {
        auto& [a, b, c, d, e, f, g, h, i, j, k] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k); }
    else if constexpr (kMembers == 12) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l); }
    else if constexpr (kMembers == 13) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m); }
    else if constexpr (kMembers == 14) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n); }
    else if constexpr (kMembers == 15) {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o); }
    else {
        auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = s;
        visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p); }
    // clang-format on
}

} // namespace vramscope::report
