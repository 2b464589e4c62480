// report/read/symbolizer_dwarf.cpp — DwarfIndex on elfutils' libdw.
#include "report/read/symbolizer_dwarf.hpp"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <limits>

namespace vramscope::report {

namespace {

constexpr std::size_t kMaxEntryDepth = 1024; // of nested entries; real code stays below 100
constexpr int kMaxOriginHops = 16; // inlined call -> abstract function -> declaration is 2

bool is_function_scope(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
           tag == DW_TAG_entry_point;
}

// Entries that may have functions or inlined calls somewhere below them. Types are among them: the
// members of a local class, a lambda for one, are described inside it.
bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        return true;
    default:
        return false;
    }
}

const char* string_attribute(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(&die, name, &attribute) != nullptr ? dwarf_formstring(&attribute) : nullptr;
}

std::uint64_t number_attribute(Dwarf_Die& die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    return dwarf_attr(&die, name, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0
               ? value
               : 0;
}

int as_line(std::uint64_t line)
{
    return line <= static_cast<std::uint64_t>(std::numeric_limits<int>::max())
               ? static_cast<int>(line)
               : 0;
}

// An inlined call names its function by reference, and that one its declaration.
bool go_to_origin(Dwarf_Die& die)
{
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if ((dwarf_attr(&die, DW_AT_abstract_origin, &attribute) == nullptr &&
         dwarf_attr(&die, DW_AT_specification, &attribute) == nullptr) ||
        dwarf_formref_die(&attribute, &origin) == nullptr)
        return false;
    die = origin;
    return true;
}

// A linkage name that is not mangled is an alias of the C library kind (__GI_open): the source's
// name is better.
void find_names(Dwarf_Die die, DwarfCall& call)
{
    for (int hop = 0; hop < kMaxOriginHops; ++hop) {
        const char* linkage_name = string_attribute(die, DW_AT_linkage_name);
        if (linkage_name == nullptr)
            linkage_name = string_attribute(die, DW_AT_MIPS_linkage_name);
        if (linkage_name != nullptr && std::strncmp(linkage_name, "_Z", 2) == 0) {
            call.mangled_name = linkage_name;
            return;
        }
        if (call.name == nullptr)
            call.name = string_attribute(die, DW_AT_name);
        if (call.name == nullptr)
            call.name = linkage_name;
        if (!go_to_origin(die))
            return;
    }
}

// The definition comes before its declaration on the way, so the first line is the definition's.
int function_line(Dwarf_Die die)
{
    for (int hop = 0; hop < kMaxOriginHops; ++hop) {
        if (const int line = as_line(number_attribute(die, DW_AT_decl_line)); line > 0)
            return line;
        if (!go_to_origin(die))
            break;
    }
    return 0;
}

void find_line(Dwarf_Die& unit, std::uint64_t vaddr, DwarfCall& call)
{
    Dwarf_Line* const line = dwarf_getsrc_die(&unit, vaddr);
    int number = 0;
    if (line == nullptr || dwarf_lineno(line, &number) != 0)
        return;
    call.file = dwarf_linesrc(line, nullptr, nullptr);
    call.line = std::max(number, 0);
}

const char* call_file(Dwarf_Die& unit, Dwarf_Die& inlined_call)
{
    Dwarf_Files* files = nullptr;
    std::size_t count = 0;
    Dwarf_Attribute attribute;
    Dwarf_Word index = 0;
    if (dwarf_attr(&inlined_call, DW_AT_call_file, &attribute) == nullptr ||
        dwarf_formudata(&attribute, &index) != 0 || dwarf_getsrcfiles(&unit, &files, &count) != 0 ||
        index >= count)
        return nullptr;
    const char* const file = dwarf_filesrc(files, index, nullptr, nullptr);
    // Before DWARF 5, file 0 means "none", which libdw spells so.
    return file != nullptr && std::strcmp(file, "???") != 0 ? file : nullptr;
}

} // namespace

std::unique_ptr<DwarfIndex> DwarfIndex::open(const ElfFile& file)
{
    Dwarf* const dwarf = dwarf_begin_elf(file.elf(), DWARF_C_READ, nullptr);
    if (dwarf == nullptr)
        return nullptr;
    std::unique_ptr<DwarfIndex> index(new DwarfIndex(file, dwarf));
    if (!file.debug_strings_end() || !index->use_alternate_file(file))
        return nullptr;
    index->find_units();
    return index->units_.empty() ? nullptr : std::move(index);
}

DwarfIndex::DwarfIndex(const ElfFile& file, Dwarf* dwarf)
    : dwarf_(dwarf), ranges_left_(file.bytes())
{
    for (const auto& section : file.code_sections())
        code_.add(section.low, section.high, 0);
    code_.build();
}

DwarfIndex::~DwarfIndex()
{
    dwarf_end(dwarf_);
    dwarf_end(alternate_);
}

// libdw would open this file by itself at the first reference into it: any file of that name, a
// pipe too. So it is opened here, and DWARF that refers to a wrong file is not used. A missing one
// costs some names.
bool DwarfIndex::use_alternate_file(const ElfFile& file)
{
    const char* name = nullptr;
    const void* id = nullptr;
    const auto id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf_, &name, &id);
    if (id_bytes <= 0)
        return true;
    const auto path = file.path().parent_path() / name;
    std::error_code error;
    if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found)
        return true;
    std::string why_not;
    alternate_file_ = ElfFile::open(path, ElfKind::any, why_not);
    const std::string wanted(static_cast<const char*>(id), static_cast<std::size_t>(id_bytes));
    if (!alternate_file_ || alternate_file_->build_id() != wanted)
        return false;
    alternate_ = dwarf_begin_elf(alternate_file_->elf(), DWARF_C_READ, nullptr);
    if (alternate_ == nullptr || !alternate_file_->debug_strings_end())
        return false;
    dwarf_setalt(dwarf_, alternate_);
    return true;
}

void DwarfIndex::find_units()
{
    Dwarf_Off next = 0;
    std::size_t header_bytes = 0;
    for (Dwarf_Off at = 0;
         dwarf_nextcu(dwarf_, at, &next, &header_bytes, nullptr, nullptr, nullptr) == 0 &&
         next > at;
         at = next) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf_, at + header_bytes, &die) != nullptr)
            units_.push_back({.die = at + header_bytes, .scopes = {}, .ranges = {}});
    }
    add_address_table(unit_ranges_);
    for (std::uint32_t i = 0; i < units_.size(); ++i) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf_, units_[i].die, &die) != nullptr)
            add_ranges(unit_ranges_, die, i);
    }
    unit_ranges_.build();
}

// .debug_aranges, for units that do not give their ranges themselves; where they do, theirs count.
void DwarfIndex::add_address_table(RangeIndex& target) const
{
    Dwarf_Aranges* table = nullptr;
    std::size_t count = 0;
    if (dwarf_getaranges(dwarf_, &table, &count) != 0)
        return;
    for (std::size_t i = 0; i < count; ++i) {
        Dwarf_Addr low = 0;
        Dwarf_Word bytes = 0;
        Dwarf_Off die = 0;
        if (dwarf_getarangeinfo(dwarf_onearange(table, i), &low, &bytes, &die) != 0 ||
            !code_.find(low) || bytes > std::numeric_limits<Dwarf_Addr>::max() - low)
            continue;
        const auto unit = std::lower_bound(
            units_.begin(), units_.end(), die,
            [](const Unit& candidate, Dwarf_Off wanted) { return candidate.die < wanted; });
        if (unit != units_.end() && unit->die == die)
            target.add(low, low + bytes, static_cast<std::uint32_t>(unit - units_.begin()));
    }
}

void DwarfIndex::add_ranges(RangeIndex& target, Dwarf_Die& die, std::uint32_t value)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr low = 0;
    Dwarf_Addr high = 0;
    for (std::ptrdiff_t at = 0;
         ranges_left_ > 0 && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0;
         --ranges_left_) {
        if (code_.find(low))
            target.add(low, high, value);
    }
}

std::uint32_t DwarfIndex::add_scope(Unit& unit, Dwarf_Die& die, std::uint32_t outer)
{
    const bool inlined = dwarf_tag(&die) == DW_TAG_inlined_subroutine;
    const auto scope = static_cast<std::uint32_t>(unit.scopes.size());
    unit.scopes.push_back({dwarf_dieoffset(&die), inlined ? outer : kNone, inlined});
    add_ranges(unit.ranges, die, scope);
    return scope;
}

void DwarfIndex::index_scopes(Unit& unit)
{
    struct Level {
        Dwarf_Die die; // the next one to visit here
        std::uint32_t outer;
    };
    std::vector<Level> levels(1, Level{{}, kNone});
    Dwarf_Die root;
    unit.indexed = true;
    if (dwarf_offdie(dwarf_, unit.die, &root) == nullptr ||
        dwarf_child(&root, &levels.back().die) != 0)
        levels.clear();
    // Entries lie in the file in the order of this walk; one that is not further on than the last
    // was reached by a false sibling reference, and following those could take for ever.
    Dwarf_Off last = unit.die;
    while (!levels.empty()) {
        Level& level = levels.back();
        if (dwarf_dieoffset(&level.die) <= last) {
            levels.pop_back();
            continue;
        }
        last = dwarf_dieoffset(&level.die);
        const int tag = dwarf_tag(&level.die);
        Level below{{}, level.outer};
        if (is_function_scope(tag))
            below.outer = add_scope(unit, level.die, level.outer);
        const bool descend = may_hold_functions(tag) && levels.size() < kMaxEntryDepth &&
                             dwarf_child(&level.die, &below.die) == 0;
        if (dwarf_siblingof(&level.die, &level.die) != 0)
            levels.pop_back();
        if (descend)
            levels.push_back(below);
    }
    unit.scopes.shrink_to_fit();
    unit.ranges.build();
}

std::vector<DwarfCall> DwarfIndex::calls(std::uint64_t vaddr)
{
    std::vector<DwarfCall> calls;
    const auto found = unit_ranges_.find(vaddr);
    Dwarf_Die unit_die;
    if (!found || dwarf_offdie(dwarf_, units_[*found].die, &unit_die) == nullptr)
        return calls;
    Unit& unit = units_[*found];
    if (!unit.indexed)
        index_scopes(unit);

    DwarfCall call;
    find_line(unit_die, vaddr, call);
    for (auto at = unit.ranges.find(vaddr).value_or(kNone); at != kNone;
         at = unit.scopes[at].outer) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf_, unit.scopes[at].die, &die) == nullptr)
            break;
        find_names(die, call);
        call.function_line = function_line(die);
        call.inlined = unit.scopes[at].inlined;
        calls.push_back(call);
        call = {};
        if (unit.scopes[at].inlined) {
            call.file = call_file(unit_die, die);
            call.line = as_line(number_attribute(die, DW_AT_call_line));
        }
    }
    if (calls.empty() || calls.back().inlined)
        calls.push_back(call);
    return calls;
}

} // namespace vramscope::report
