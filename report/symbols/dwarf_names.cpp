// report/symbols/dwarf_names.cpp — scopes and types in the demangler's spelling.
#include "report/symbols/dwarf_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <dwarf.h>

#include "report/symbols/dwarf_attributes.hpp"
#include "report/symbols/dwarf_entries.hpp"

namespace vramscope::report {

namespace {

constexpr int kMostNested = 12; // scopes and types in each other
constexpr int kMostTypes = 256; // in one name: each may have many parameters, and those again
constexpr std::size_t kMostParameters = 64;
constexpr std::size_t kMostLetters = 4096;

bool is_type_with_members(int tag)
{
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_interface_type;
}

bool is_named_scope(int tag)
{
    return is_type_with_members(tag) || tag == DW_TAG_namespace || tag == DW_TAG_subprogram ||
           tag == DW_TAG_enumeration_type;
}

// GCC says "long unsigned int".
std::string_view demanglers_word(std::string_view base_type)
{
    using Words = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Words, 7> kWords = {{{"long int", "long"},
                                              {"long unsigned int", "unsigned long"},
                                              {"short int", "short"},
                                              {"short unsigned int", "unsigned short"},
                                              {"long long int", "long long"},
                                              {"long long unsigned int", "unsigned long long"},
                                              {"__int128 unsigned", "unsigned __int128"}}};
    for (const auto& [gcc, demangler] : kWords)
        if (base_type == gcc)
            return demangler;
    return base_type;
}

std::string_view name_of(Dwarf_Die& die)
{
    const char* const name = string_attribute(die, DW_AT_name);
    return name != nullptr ? name : "";
}

// The entry that declares the function: its place is where the function belongs to.
Dwarf_Die declaration_of(Dwarf_Die function)
{
    for (int hop = 0; hop < kMaxOriginHops && go_to_origin(function); ++hop)
        ;
    return function;
}

// The type that an entry has, if it has one.
bool go_to_type(Dwarf_Die& die)
{
    return follow(die, DW_AT_type);
}

// Whether what a member function's `this` points to is const.
bool is_const_member(Dwarf_Die function)
{
    Dwarf_Die type = function;
    if (!follow(type, DW_AT_object_pointer) || !go_to_type(type))
        return false;
    if (dwarf_tag(&type) == DW_TAG_const_type && !go_to_type(type)) // the pointer itself
        return false;
    return dwarf_tag(&type) == DW_TAG_pointer_type && go_to_type(type) &&
           dwarf_tag(&type) == DW_TAG_const_type;
}

std::string shortened(std::string text)
{
    if (text.size() > kMostLetters)
        text.replace(kMostLetters, std::string::npos, "...");
    return text;
}

} // namespace

const std::string& DwarfNames::function_name(Dwarf_Die function)
{
    const Dwarf_Die declaration = declaration_of(function);
    const auto [at, is_new] = names_.try_emplace(declaration.addr);
    types_left_ = kMostTypes;
    if (is_new)
        at->second = full_function_name(declaration, 0);
    return at->second;
}

std::string DwarfNames::full_function_name(Dwarf_Die function, int depth)
{
    function = declaration_of(function);
    Dwarf_Die outer;
    const bool is_in_a_scope = outer_of(function, outer);
    if (name_of(function).empty() || (!is_in_a_scope && has_attribute(function, DW_AT_external)))
        return {};
    std::string name(name_of(function));
    name += parameters(function, depth);
    if (is_const_member(function))
        name += " const";
    return qualified(function, std::move(name), depth);
}

const DwarfNames::Scopes& DwarfNames::scopes_of_unit(Dwarf_Die& die)
{
    Dwarf_Die unit;
    if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr)
        unit = die;
    const auto [at, is_new] = units_.try_emplace(unit.addr);
    Scopes& scopes = at->second;
    if (is_new)
        walk_entries(unit, kNone,
                     [&](Dwarf_Die& entry, std::uint32_t outer) -> std::optional<std::uint32_t> {
                         const int tag = dwarf_tag(&entry);
                         if (!is_named_scope(tag) && tag != DW_TAG_lexical_block)
                             return std::nullopt;
                         if (tag == DW_TAG_lexical_block)
                             return outer;
                         scopes.push_back({dwarf_dieoffset(&entry), outer});
                         return static_cast<std::uint32_t>(scopes.size() - 1);
                     });
    return scopes;
}

// False: it lies in the unit itself.
bool DwarfNames::outer_of(Dwarf_Die die, Dwarf_Die& outer)
{
    const Scopes& scopes = scopes_of_unit(die);
    const Dwarf_Off offset = dwarf_dieoffset(&die);
    const auto at =
        std::lower_bound(scopes.begin(), scopes.end(), offset,
                         [](const Scope& scope, Dwarf_Off wanted) { return scope.die < wanted; });
    return at != scopes.end() && at->die == offset && at->outer != kNone &&
           dwarf_offdie(dwarf_cu_getdwarf(die.cu), scopes[at->outer].die, &outer) != nullptr;
}

std::string DwarfNames::scope_name(Dwarf_Die scope, bool around_call_operator, int depth)
{
    const std::string_view name = name_of(scope);
    switch (dwarf_tag(&scope)) {
    case DW_TAG_subprogram:
        return std::string(name_of(scope)) + parameters(scope, depth);
    case DW_TAG_namespace:
        return name.empty() ? "(anonymous namespace)" : std::string(name);
    default:
        return !name.empty()          ? std::string(name)
               : around_call_operator ? "{lambda}"
                                      : "{unnamed type}";
    }
}

std::string DwarfNames::qualified(Dwarf_Die die, std::string name, int depth)
{
    bool call_operator = name_of(die) == "operator()";
    Dwarf_Die outer;
    for (; depth < kMostNested && outer_of(die, outer); ++depth) {
        // What lies in a function's body lies in the place of its declaration.
        if (dwarf_tag(&outer) == DW_TAG_subprogram)
            outer = declaration_of(outer);
        name = scope_name(outer, call_operator, depth + 1) + "::" + name;
        call_operator = false;
        die = outer;
    }
    return shortened(std::move(name));
}

std::string DwarfNames::parameters(Dwarf_Die function, int depth)
{
    std::string all;
    std::size_t count = 0;
    Dwarf_Die child;
    for (bool more = dwarf_child(&function, &child) == 0;
         more && count < kMostParameters && all.size() < kMostLetters;
         more = dwarf_siblingof(&child, &child) == 0) {
        const int tag = dwarf_tag(&child);
        if ((tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters) ||
            has_attribute(child, DW_AT_artificial))
            continue;
        all += count++ > 0 ? ", " : "";
        all += tag == DW_TAG_formal_parameter ? type_of(child, depth + 1) : "...";
    }
    return '(' + all + ')';
}

std::string DwarfNames::type_of(Dwarf_Die die, int depth)
{
    // Whether a parameter itself is const does not belong to a function's type.
    const bool is_parameter = dwarf_tag(&die) == DW_TAG_formal_parameter;
    if (!go_to_type(die))
        return "void";
    while (is_parameter && dwarf_tag(&die) == DW_TAG_const_type && go_to_type(die))
        ;
    return type_name(die, depth);
}

std::string DwarfNames::type_name(Dwarf_Die type, int depth)
{
    if (depth > kMostNested || --types_left_ < 0)
        return "...";
    const auto inner = [&] { return type_of(type, depth + 1); };
    // "void (*)(int)" of a function's type and the sign of a pointer to it.
    const auto pointing = [&](std::string_view sign) {
        Dwarf_Die target = type;
        if (go_to_type(target) && dwarf_tag(&target) == DW_TAG_subroutine_type)
            return type_of(target, depth + 1) + " (" + std::string(sign) + ')' +
                   parameters(target, depth + 1);
        return inner() + std::string(sign);
    };
    switch (dwarf_tag(&type)) {
    case DW_TAG_typedef:
        return inner();
    case DW_TAG_const_type:
        return inner() + " const";
    case DW_TAG_volatile_type:
        return inner() + " volatile";
    case DW_TAG_pointer_type:
        return pointing("*");
    case DW_TAG_reference_type:
        return pointing("&");
    case DW_TAG_rvalue_reference_type:
        return pointing("&&");
    case DW_TAG_array_type:
        return inner() + " []";
    case DW_TAG_subroutine_type:
        return inner() + " " + parameters(type, depth + 1);
    case DW_TAG_base_type:
        return std::string(demanglers_word(name_of(type)));
    default:
        const std::string_view name = name_of(type);
        return name.empty() ? "{unnamed type}" : qualified(type, std::string(name), depth + 1);
    }
}

} // namespace vramscope::report
