// report/reach/memory/module_names.hpp — variables and classes by addresses in modules.
//
// A file that was replaced since it was loaded gives no names: then a place is module+0xoffset.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "report/reach/memory/process_memory.hpp"
#include "report/symbols/elf_file.hpp"

namespace vramscope::report {

class ModuleNames {
public:
    explicit ModuleNames(const ProcessMemory& memory);

    Address end_of(const std::string& module) const; // of its memory; 0: not known
    std::uint64_t thread_local_bytes() const { return thread_local_bytes_; } // of all modules

    // Where a module's thread-locals lie, from a thread's pointer on; empty: not known.
    AddressSpan thread_locals(const std::string& module, Address thread_pointer) const;

    // "`weights` of train", wherever in it; "at libtrain.so+0x4010".
    std::string variable_at(Address address, const std::string& module) const;
    // A variable of an interpreter of Python, in its program or its library; empty: there is none.
    AddressSpan python_variable(std::string_view name) const;
    // All memory of the module that has this in it.
    AddressSpan module_around(Address address) const;
    // The class of an object whose first word this is, by its table of virtual functions; or
    // nothing.
    std::string class_of(std::uint64_t first_word) const;
    bool is_of_class(std::uint64_t first_word) const; // whether it has one

private:
    struct Module {
        std::unique_ptr<ElfFile> file; // null: it cannot be read
        ElfExtent extent;
        Address bias = 0;
        bool read = false;
        std::vector<ElfSymbol> variables; // by address, once read
    };

    static void read(Module& module);
    const ElfSymbol* symbol_at(Address address, const std::string& module) const;
    const ElfSymbol* virtual_table(std::uint64_t first_word) const; // null: there is none

    const ProcessMemory& memory_;
    mutable std::map<std::string, Module> modules_; // by path
    std::uint64_t thread_local_bytes_ = 0;
};

} // namespace vramscope::report
