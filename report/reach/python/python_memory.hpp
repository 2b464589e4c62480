// report/reach/python/python_memory.hpp — blocks, objects and frames of CPython, seen from outside.
//
// Nothing runs in the interpreter, and its lock is not taken. It is for a version whose layout is
// known, once the layout is proved on objects that must be there; of any other nothing is said.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/reach/memory/module_names.hpp"
#include "report/reach/memory/process_memory.hpp"
#include "report/reach/memory/used_words.hpp"
#include "report/reach/python/layout.hpp"

namespace vramscope::report {

// A block of one of the interpreter's pools.
struct InterpreterBlock : AddressSpan {
    bool free = false;
};

// A function that runs, or waits: its locals lie here, behind what the interpreter keeps of it.
struct PythonFrame : AddressSpan {
    Address locals = 0;
    Address temporaries = 0; // behind them
    Address code = 0;
    std::uint32_t tid = 0;
};

class PythonMemory {
public:
    PythonMemory(const ProcessMemory& memory, const ModuleNames& modules);

    bool is_known() const { return known_; }

    // Of a region of the program's own; nothing: it is in no pool.
    std::optional<InterpreterBlock> pool_block(const AddressSpan& region, Address address) const;

    bool has_debug_heads() const { return has_debug_heads_; }
    bool is_debug_head(Address block) const; // only where there are such

    // Where the object in a block begins, behind what the collector and its attributes need; 0:
    // there is none, as far as is known.
    Address object_in(const AddressSpan& block) const;
    // A word that leads to what the object does not own: the collector's list, a weak reference.
    bool is_no_holder(Address object, Address word) const;
    // Whether it is an int of this value, an address, and its digits are there.
    bool has_digits(Address object, Address word, std::uint64_t value) const;
    bool is_foreign(Address object) const; // of a type that is none of the interpreter's own
    std::uint64_t references(Address object) const; // as its count says
    bool is_reference(std::uint64_t value, Address object) const;
    // The module that this object is, or whose variables this dict has; null: neither.
    const std::string* module_of(Address object) const;

    const PythonFrame* frame_at(Address word) const;
    bool is_frames_memory(Address word) const; // also between frames and behind them
    bool is_runtime(Address word) const;       // the interpreter's own variable

    // What of an object, or of a part of it, has words that count: behind it they are left over.
    // Empty: it is not known.
    UsedWords used_of(Address object) const;
    UsedWords used_of_part(Address owner, const AddressSpan& part) const;

    // "list of 3", "frame of `fails`", "Tensor".
    std::string object_name(Address object) const;
    // Of a block that is a part of `owner`: "" for the items of a list, "`.loss`" for attributes;
    // nothing: it is no part of it.
    std::optional<std::string> part_name(Address owner, const AddressSpan& block,
                                         Address word) const;
    // Whether the object's attributes are in that dict, to which this word of it leads.
    bool is_attributes(Address object, Address word, Address dict) const;
    // "`.loss`" where the object has its attributes inside, and one there; else "".
    std::string attribute_name(Address object, Address word) const;
    std::string variable_name(const AddressSpan& keys, Address word) const; // "": not known
    std::string local_name(Address word) const; // "local `batch` of `fails` in thread 7"

private:
    static constexpr std::size_t kMostBlocksOfPool = 1024;
    using FreeBlocks = std::bitset<kMostBlocksOfPool>;

    bool find_layout(const ModuleNames& modules);
    bool prove();
    bool take_table();
    bool is_freed_tuple(Address block) const;
    bool is_type(Address address) const;
    std::string type_name(Address object) const;
    std::string value_name(Address owner, Address values, Address word) const;
    Address values_of(Address object) const;   // of its attributes, or of a dict; 0: none
    Address shared_keys(Address object) const; // of these
    const python::KeysLayout& layout_of(Address keys) const;
    Address first_entry(Address keys) const;
    std::uint64_t count_keys(Address keys) const; // deleted ones too
    template <typename Called>
    void for_each_item(Address dict, const Called& called) const;
    UsedWords used_of_frame(Address object) const;
    UsedWords used_of_deque(Address deque, const AddressSpan& part) const;
    UsedWords used_of_keys(Address keys) const;
    bool is_of(Address object, std::string_view type) const;
    bool is_made_from(Address object, std::string_view type) const; // or of it
    bool is_set(Address object) const;
    bool is_a(Address object, std::uint64_t flag) const; // of that type, or of one made from it
    std::string text(Address object) const;              // of a str that is ASCII; else "?"
    std::string characters(Address from, std::size_t most) const;
    std::string in_frame(Address locals, Address code, Address word) const;
    std::string function_of(Address code) const;
    void find_modules(Address interpreter);
    void find_frames(Address interpreter);
    void find_frames_of(Address thread);
    std::uint32_t tid_of(Address thread) const; // 0: not known
    Address code_of(Address frame) const;
    std::span<const std::uint64_t> local_names() const; // where code objects have tuples of them
    std::uint64_t count_locals(Address code) const;
    template <typename Value>
    Value get(Address from) const
    {
        Value value{};
        return memory_.read(from, &value, sizeof value) ? value : Value{};
    }
    Address word_at(Address from) const { return get<Address>(from); }

    const ProcessMemory& memory_;
    bool known_ = false;
    bool has_debug_heads_ = false;
    unsigned said_minor_ = 0; // by the interpreter itself
    python::Layout layout_{};
    Address type_type_ = 0;
    AddressSpan runtime_;
    AddressSpan interpreter_;                     // the module that has its own types
    std::map<Address, std::string> module_names_; // by the module, and by the dict of its variables
    std::vector<PythonFrame> frames_;             // by address
    std::vector<AddressSpan> chunks_;
    mutable std::map<Address, std::string> types_; // their names; empty: it is no type
    mutable std::map<Address, FreeBlocks> pools_;
};

} // namespace vramscope::report
