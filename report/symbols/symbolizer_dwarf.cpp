// report/symbols/symbolizer_dwarf.cpp — DwarfIndex on elfutils' libdw.
#include "report/symbols/symbolizer_dwarf.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include <elfutils/libdwelf.h>

#include "report/symbols/dwarf_attributes.hpp"
#include "report/symbols/dwarf_entries.hpp"
#include "report/symbols/split_dwarf.hpp"

namespace vramscope::report {

namespace {

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

int as_line(std::uint64_t line)
{
    return line <= static_cast<std::uint64_t>(std::numeric_limits<int>::max())
               ? static_cast<int>(line)
               : 0;
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

bool is_cplusplus(Dwarf_Die& unit)
{
    switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2a: // DW_LANG_C_plus_plus_17 and _20, which older headers do not name
    case 0x2b:
        return true;
    default:
        return false;
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

std::unique_ptr<DwarfIndex> DwarfIndex::open(const ElfFile& file, const FilePlaces& places)
{
    Dwarf* const dwarf = dwarf_begin_elf(file.elf(), DWARF_C_READ, nullptr);
    if (dwarf == nullptr)
        return nullptr;
    std::unique_ptr<DwarfIndex> index(new DwarfIndex(file, places, dwarf));
    if (!file.debug_strings_end() || !index->use_alternate_file(file))
        return nullptr;
    index->find_units();
    return index->units_.empty() ? nullptr : std::move(index);
}

DwarfIndex::DwarfIndex(const ElfFile& file, const FilePlaces& places, Dwarf* dwarf)
    : file_(file), places_(places), dwarf_(dwarf), ranges_left_(file.bytes())
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
    if (!places_.may_refer(file.path(), path))
        return false;
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
            units_.push_back({.die = at + header_bytes, .body = {}, .scopes = {}, .ranges = {}});
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

Dwarf_Die DwarfIndex::body_of(Dwarf_Die& unit_die)
{
    const SplitUnit split = find_split_unit(unit_die, file_.path(), places_);
    split_file_missing_ = split_file_missing_ || (split.wanted && !split.found);
    ranges_left_ += split.file_bytes;
    return split.found ? split.die : unit_die;
}

void DwarfIndex::index_scopes(Unit& unit, Dwarf_Die& unit_die)
{
    unit.indexed = true;
    unit.body = body_of(unit_die);
    walk_entries(unit.body, kNone,
                 [&](Dwarf_Die& entry, std::uint32_t outer) -> std::optional<std::uint32_t> {
                     const int tag = dwarf_tag(&entry);
                     if (is_function_scope(tag))
                         outer = add_scope(unit, entry, outer);
                     return may_hold_functions(tag) ? std::optional(outer) : std::nullopt;
                 });
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
        index_scopes(unit, unit_die);

    DwarfCall call;
    find_line(unit_die, vaddr, call);
    const bool cplusplus = is_cplusplus(unit.body);
    for (auto at = unit.ranges.find(vaddr).value_or(kNone); at != kNone;
         at = unit.scopes[at].outer) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf_cu_getdwarf(unit.body.cu), unit.scopes[at].die, &die) == nullptr)
            break;
        find_names(die, call);
        if (cplusplus && unit.scopes[at].inlined && call.mangled_name == nullptr)
            call.full_name = names_.function_name(die).c_str();
        call.function_line = function_line(die);
        call.inlined = unit.scopes[at].inlined;
        calls.push_back(call);
        call = {};
        if (unit.scopes[at].inlined) {
            call.file = call_file(unit.body, die);
            call.line = as_line(number_attribute(die, DW_AT_call_line));
        }
    }
    if (calls.empty() || calls.back().inlined)
        calls.push_back(call);
    return calls;
}

} // namespace vramscope::report
