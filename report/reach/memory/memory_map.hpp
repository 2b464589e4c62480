// report/reach/memory/memory_map.hpp — what each piece of a process's memory is: whose words count.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/reach/memory/module_names.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/reach/memory/sieve.hpp"

namespace vramscope::report {

enum class RegionKind {
    variables, // of a module
    books,     // of the driver's and the runtime's modules, and of ours: they count for nobody
    heap,      // of the C library: cut into chunks
    stack,     // of a thread, thread-locals too
    mapped,    // the program's own, of unknown shape
};

struct Region : AddressSpan {
    RegionKind kind = RegionKind::mapped;
    std::size_t mapping = 0;  // index; its file is that of a module's variables
    std::size_t thread = 0;   // index, of a stack
    Address first_chunk = 0;  // of a heap; 0: it is not known how it is cut
    bool below_stack = false; // mapped, and may be another stack, or what calls left over
    bool of_ended = false;    // mapped, and the descriptor of a thread that nobody waited for yet
};

class MemoryMap {
public:
    // `log`: its own mapping, by name. `device`: memory of devices that may be mapped here, sorted.
    // `knows_python`: its interpreter's pools are known.
    MemoryMap(const ProcessMemory& memory, const ModuleNames& modules, const std::string& log,
              const std::vector<AddressSpan>& device, bool knows_python = false);

    const std::vector<Region>& regions() const { return regions_; } // by address
    const Region* find(Address address) const;
    // A thread-local of the modules that keep books.
    bool is_books_word(Address address) const { return book_locals_.find(address) != Sieve::kNone; }
    bool is_thread_local(const Region& stack, Address address) const;
    // Variables of the loader's: its lists have room in which words of others are left over.
    bool is_loaders(const Region& region) const;
    // The index of the thread whose thread-locals, or list of those of libraries, have this word,
    // beside its stack; nothing: none have.
    std::optional<std::size_t> thread_of_locals(Address word) const;

    // The C library's heap may not be all that there is: another malloc, or an interpreter's.
    const std::string& other_allocator() const { return other_allocator_; } // its file; or empty
    bool has_unknown_python() const { return has_unknown_python_; }
    bool knows_own() const { return knows_own_; } // vramscope's own tables could be left out

private:
    void find_book_locals();
    void find_mapped_locals();
    AddressSpan mapped_locals(Address thread_pointer) const;
    void add(const MemoryMapping& mapping, std::size_t index, const std::string& log);
    void add_private(const MemoryMapping& mapping, std::size_t index);
    void add_anonymous(AddressSpan span, std::size_t index);
    bool has_device_memory(const AddressSpan& span) const;
    bool add_stacks(const AddressSpan& span, std::size_t index);
    Address descriptor_end(const Region& stack) const;
    std::vector<Region> stacks_in(const AddressSpan& span, std::size_t index) const;
    bool is_one_stack(const Region& stack, std::size_t index) const;
    bool has_guard_below(std::size_t index) const;
    std::optional<Address> end_of_ended_stack(const AddressSpan& span, std::size_t index) const;
    bool find_thread_numbers() const;
    void add_mapped(AddressSpan span, std::size_t index, bool below_stack = false);

    const ProcessMemory& memory_;
    const ModuleNames& modules_;
    const std::vector<AddressSpan>& device_;
    const bool knows_python_;
    std::vector<Region> regions_;
    std::vector<std::string> books_; // modules
    Sieve book_locals_{{}};
    Sieve mapped_locals_{{}};
    std::vector<std::size_t> threads_of_locals_; // index, of each of them
    bool knows_thread_numbers_ = false;          // where they lie in descriptors
    std::string other_allocator_;
    bool has_unknown_python_ = false;
    bool knows_own_ = false;
    std::string module_;     // whose variables came last
    Address module_end_ = 0; // and where they ended
};

} // namespace vramscope::report
