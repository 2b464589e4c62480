// report/reach/memory/module_names.cpp — ModuleNames on ElfFile.
#include "report/reach/memory/module_names.hpp"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <string_view>

#include <fmt/format.h>

#include "report/model/call_place.hpp"

namespace vramscope::report {
namespace {

constexpr std::string_view kVirtualTable = "_ZTV";
constexpr std::uint64_t kVirtualTableHead = 16; // before what objects point to

// Empty: it is no name of C++.
std::string demangled(const std::string& symbol)
{
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
    return name && symbol.starts_with("_Z") ? name.get() : "";
}

} // namespace

ModuleNames::ModuleNames(const ProcessMemory& memory) : memory_(memory)
{
    for (const MemoryMapping& mapping : memory.mappings()) {
        if (!mapping.name.starts_with('/') || modules_.contains(mapping.name))
            continue;
        Module& module = modules_[mapping.name];
        std::string why_not;
        if (!mapping.file.empty() && !mapping.shared)
            module.file = ElfFile::open(mapping.file, ElfKind::linked, why_not);
        if (!module.file)
            continue;
        module.extent = module.file->extent();
        module.bias = module.extent.moves ? mapping.begin - mapping.offset : 0;
        constexpr std::uint64_t kAlignment = 64;
        thread_local_bytes_ +=
            (std::min<std::uint64_t>(module.extent.thread_local_bytes, 1 << 20) + kAlignment) /
            kAlignment * kAlignment;
    }
}

Address ModuleNames::end_of(const std::string& module) const
{
    const auto known = modules_.find(module);
    if (known == modules_.end() || known->second.extent.end == 0)
        return 0;
    const Address end = known->second.bias + known->second.extent.end;
    return (end + kPageBytes - 1) / kPageBytes * kPageBytes;
}

AddressSpan ModuleNames::thread_locals(const std::string& module, Address thread_pointer) const
{
    const auto known = modules_.find(module);
    if (thread_pointer == 0 || known == modules_.end() || !known->second.file)
        return {};
    const auto word = known->second.file->thread_local_word();
    if (!word)
        return {};
    const Address offset = memory_.word(known->second.bias + word->address) - word->more;
    return {thread_pointer + offset,
            thread_pointer + offset + known->second.extent.thread_local_bytes};
}

void ModuleNames::read(Module& module)
{
    if (module.read)
        return;
    module.read = true;
    module.variables = module.file->variables();
    std::sort(module.variables.begin(), module.variables.end(),
              [](const ElfSymbol& a, const ElfSymbol& b) { return a.address < b.address; });
}

AddressSpan ModuleNames::python_variable(std::string_view name) const
{
    for (auto& [path, module] : modules_) {
        const std::string_view file = file_name(path);
        if (!module.file || (!file.starts_with("python") && !file.starts_with("libpython")))
            continue;
        read(module);
        for (const ElfSymbol& symbol : module.variables)
            if (name == symbol.name)
                return {module.bias + symbol.address, module.bias + symbol.address + symbol.bytes};
    }
    return {};
}

AddressSpan ModuleNames::module_around(Address address) const
{
    for (const auto& [path, module] : modules_)
        if (const Address end = end_of(path); address >= module.bias && address < end)
            return {module.bias, end};
    return {};
}

const ElfSymbol* ModuleNames::symbol_at(Address address, const std::string& name) const
{
    const auto known = modules_.find(name);
    if (known == modules_.end() || !known->second.file)
        return nullptr;
    Module& module = known->second;
    read(module);
    const Address there = address - module.bias;
    const auto behind = std::upper_bound(
        module.variables.begin(), module.variables.end(), there,
        [](Address value, const ElfSymbol& symbol) { return value < symbol.address; });
    if (behind == module.variables.begin())
        return nullptr;
    const ElfSymbol& symbol = *std::prev(behind);
    return there - symbol.address < symbol.bytes ? &symbol : nullptr;
}

std::string ModuleNames::variable_at(Address address, const std::string& module) const
{
    const std::string_view file = file_name(module);
    const auto known = modules_.find(module);
    const Address bias = known == modules_.end() ? 0 : known->second.bias;
    const ElfSymbol* const symbol = symbol_at(address, module);
    if (!symbol)
        return fmt::format("at {}+{:#x}", file, address - bias);
    const std::string name = demangled(symbol->name);
    return fmt::format("`{}` of {}", name.empty() ? symbol->name : name, file);
}

const ElfSymbol* ModuleNames::virtual_table(std::uint64_t first_word) const
{
    const std::vector<MemoryMapping>& mappings = memory_.mappings();
    const auto behind = std::upper_bound(
        mappings.begin(), mappings.end(), first_word,
        [](Address value, const MemoryMapping& mapping) { return value < mapping.begin; });
    if (first_word % 8 != 0 || behind == mappings.begin() || first_word >= std::prev(behind)->end)
        return nullptr;
    const ElfSymbol* const table =
        symbol_at(first_word - kVirtualTableHead, std::prev(behind)->name);
    return table && std::string_view(table->name).starts_with(kVirtualTable) ? table : nullptr;
}

bool ModuleNames::is_of_class(std::uint64_t first_word) const
{
    return virtual_table(first_word) != nullptr;
}

std::string ModuleNames::class_of(std::uint64_t first_word) const
{
    const ElfSymbol* const table = virtual_table(first_word);
    return table ? demangled("_Z" + std::string(table->name + kVirtualTable.size())) : "";
}

} // namespace vramscope::report
