// report/symbols/dwarf_attributes.hpp — what an entry of DWARF says of itself.
#pragma once

#include <cstdint>

#include <dwarf.h>
#include <elfutils/libdw.h>

namespace vramscope::report {

inline constexpr int kMaxOriginHops = 16; // inlined call -> abstract function -> declaration is 2

// Null if it has none.
inline const char* string_attribute(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(&die, name, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
}

inline std::uint64_t number_attribute(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0
               ? value
               : 0;
}

inline bool has_attribute(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(&die, name, &attribute) != nullptr;
}

inline bool follow(Dwarf_Die& die, unsigned reference)
{
    Dwarf_Attribute attribute;
    Dwarf_Die other;
    if (dwarf_attr(&die, reference, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &other) == nullptr)
        return false;
    die = other;
    return true;
}

// An inlined call names its function by reference, and that one its declaration.
inline bool go_to_origin(Dwarf_Die& die)
{
    return follow(die, DW_AT_abstract_origin) || follow(die, DW_AT_specification);
}

} // namespace vramscope::report
