// report/symbols/dwarf_names.hpp — full names of C++ functions without a linkage name.
//
// GCC gives none to what no other file can call: static functions, those of unnamed namespaces,
// lambdas, members of local classes. Where the call was inlined, no symbol names it either, so the
// name is put together from the scopes around the entry and the types of its parameters, as a
// demangler would write it, but without the type of the result. Lengths and depths are bounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <elfutils/libdw.h>

namespace vramscope::report {

class DwarfNames {
public:
    // `function`: an entry of C++, not of a call, but of the function itself. Empty: it has no
    // name, or one that is its linkage name too, as main and what is extern "C".
    const std::string& function_name(Dwarf_Die function);

private:
    // What may be around a function or a type, of one unit.
    struct Scope {
        Dwarf_Off die;
        std::uint32_t outer; // kNone: the unit
    };
    using Scopes = std::vector<Scope>; // sorted by offset
    static constexpr std::uint32_t kNone = UINT32_MAX;

    const Scopes& scopes_of_unit(Dwarf_Die& die);
    bool outer_of(Dwarf_Die die, Dwarf_Die& outer);
    std::string full_function_name(Dwarf_Die function, int depth);
    std::string qualified(Dwarf_Die die, std::string name, int depth);
    std::string scope_name(Dwarf_Die scope, bool around_call_operator, int depth);
    std::string parameters(Dwarf_Die function, int depth);
    std::string type_of(Dwarf_Die die, int depth); // spells the type that the entry names
    std::string type_name(Dwarf_Die type, int depth);

    std::map<void*, Scopes> units_; // keyed by the unit's own entry in memory
    std::map<void*, std::string> names_;
    int types_left_ = 0; // types that this name may still spell out
};

} // namespace vramscope::report
