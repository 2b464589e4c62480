// report/reach/python/parts.cpp — which words of an object of CPython and of its parts count.
#include <string>

#include "report/reach/python/python_memory.hpp"

namespace vramscope::report {

using namespace python;

Address PythonMemory::first_entry(Address keys) const
{
    return keys + kKeysHead + (1ULL << (get<std::uint8_t>(keys + kKeysIndexBytes) & 31));
}

// Instances of a class that Python made have them in an array, to which a word in front of them
// leads, or behind their members; so has a dict of attributes.
Address PythonMemory::values_of(Address object) const
{
    const bool inside = layout_.attributes == Attributes::inside;
    if (is_of(object, "dict")) {
        const Address values = word_at(object + kDictValues);
        return values == 0 || !inside ? values : values + kValuesHead;
    }
    const Address type = word_at(object + kType);
    const std::uint64_t flags = word_at(type + kTypeFlags);
    if ((flags & kIsHeapType) == 0 || (flags & kHasManagedDict) == 0)
        return 0;
    if (inside)
        return (flags & kHasInlineValues) == 0 ? 0
                                               : object + word_at(type + kTypeBytes) + kValuesHead;
    if (layout_.attributes == Attributes::behind_pointer)
        return word_at(object - kBeforeObject);
    const Address odd = word_at(object - kOddValuesBefore);
    return odd % 2 == 1 ? odd + 1 : 0;
}

Address PythonMemory::shared_keys(Address object) const
{
    return is_of(object, "dict") ? word_at(object + kDictKeys)
                                 : word_at(word_at(object + kType) + layout_.type_keys);
}

// Of types whose objects are all of one size, and of tuples.
AddressSpan PythonMemory::used_of(Address object) const
{
    constexpr std::uint64_t kMostBytes = 1 << 16;
    const std::string name = type_name(object);
    if (name == "str" || name == "bytes" || name == "int" || name == "float")
        return {object, object}; // characters and digits
    const Address type = word_at(object + kType);
    const std::uint64_t bytes = word_at(type + kTypeBytes);
    if (is_of(object, "tuple"))
        return {object - kBeforeObject,
                object + kTupleItems + word_at(object + kCount) * sizeof(Address)};
    if (word_at(type + kTypeItemBytes) != 0 || bytes < kCount || bytes > kMostBytes)
        return {};
    const Address values = values_of(object);
    const Address end = layout_.attributes == Attributes::inside && values != 0
                            ? values + word_at(shared_keys(object) + kKeysUsed) * sizeof(Address)
                            : object + bytes;
    return {object - kBeforeObject, end};
}

AddressSpan PythonMemory::used_of_part(Address owner, const AddressSpan& part) const
{
    AddressSpan used;
    const Address values = values_of(owner);
    if (values > part.begin && values < part.end) {
        used = {values, values + word_at(shared_keys(owner) + kKeysUsed) * sizeof(Address)};
    } else if (is_of(owner, "list") && word_at(owner + kListItems) == part.begin) {
        used = {part.begin, part.begin + word_at(owner + kCount) * sizeof(Address)};
    } else if (is_of(owner, "dict") && word_at(owner + kDictKeys) == part.begin) {
        const bool general = get<std::uint8_t>(part.begin + kKeysKind) == 0;
        used = {part.begin, first_entry(part.begin) + word_at(part.begin + kKeysUsed) *
                                                          (general ? kGeneralEntry : kTextEntry)};
    }
    return used.begin <= used.end && used.end <= part.end ? used : AddressSpan{};
}

} // namespace vramscope::report
