// report/reach/python/parts.cpp — which words of an object of CPython and of its parts count.
#include <string>

#include "report/reach/python/python_memory.hpp"

namespace vramscope::report {

using namespace python;

const KeysLayout& PythonMemory::layout_of(Address keys) const
{
    if (layout_.attributes == Attributes::in_dict)
        return kOldKeys;
    return get<std::uint8_t>(keys + kKeysKind) == 0 ? kGeneralKeys : kTextKeys;
}

// An index has as many bytes as it needs.
Address PythonMemory::first_entry(Address keys) const
{
    const Address indices = keys + layout_of(keys).head_bytes;
    if (layout_.attributes != Attributes::in_dict)
        return indices + (1ULL << (get<std::uint8_t>(keys + kKeysIndexBytes) & 31));
    const std::uint64_t count = word_at(keys + kOldKeysIndices);
    return indices + count * (count <= 0xff         ? 1
                              : count <= 0xffff     ? 2
                              : count <= 0xffffffff ? 4
                                                    : 8);
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
    if (layout_.attributes == Attributes::in_dict)
        return 0;
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

std::uint64_t PythonMemory::count_keys(Address keys) const
{
    return word_at(keys + layout_of(keys).used);
}

// Of a call that ended, and whose frame was moved into its object: behind the locals are words that
// nobody wrote. A generator keeps its own frame.
UsedWords PythonMemory::used_of_frame(Address object) const
{
    const Address frame = word_at(object + kFrameOfObject);
    const Address locals = frame + layout_.frame_locals;
    const Address end = locals + count_locals(code_of(frame)) * sizeof(Address);
    constexpr std::uint64_t kMostHead = 128;
    const bool is_inside = frame > object && frame - object < kMostHead;
    return is_inside ? UsedWords{{object - kBeforeObject, end}} : UsedWords{};
}

// Of types whose objects are all of one size, of tuples, of calls that ended, and of code, whose
// instructions have words of what they do not own. Of others not even the count of items lies in
// the same place.
UsedWords PythonMemory::used_of(Address object) const
{
    constexpr std::uint64_t kMostBytes = 1 << 16;
    const std::string name = type_name(object);
    if (name == "int")
        return {{object + kDigits, object + kDigits + sizeof(Address)}};
    if (name == "str" || name == "bytes" || name == "float")
        return {{object, object}}; // characters
    if (name == "frame" && layout_.frames == Frames::chunks)
        return used_of_frame(object);
    const Address type = word_at(object + kType);
    const std::uint64_t bytes = word_at(type + kTypeBytes);
    if (name == "tuple")
        return {{object - kBeforeObject,
                 object + layout_.tuple_items + word_at(object + kCount) * sizeof(Address)}};
    const bool has_items = word_at(type + kTypeItemBytes) != 0 && name != "code";
    if (has_items || bytes < kCount || bytes > kMostBytes)
        return {};
    const Address values = values_of(object);
    const Address end = layout_.attributes == Attributes::inside && values != 0
                            ? values + count_keys(shared_keys(object)) * sizeof(Address)
                            : object + bytes;
    UsedWords used{{object - kBeforeObject, end}};
    if (is_set(object) && word_at(object + kSetTable) == object + kSetSmallTable) {
        used.hashes = object + kSetSmallTable + kSetHash;
        used.hash_step = kSetEntryBytes;
    }
    return used;
}

// Before its first item and behind its last one are items that it had.
UsedWords PythonMemory::used_of_deque(Address deque, const AddressSpan& part) const
{
    const auto item = [&](std::uint64_t number) {
        return part.begin + kDequeItems + word_at(deque + number) * sizeof(Address);
    };
    const bool is_first = word_at(deque + kDequeFirst) == part.begin;
    const bool is_last = word_at(deque + kDequeLast) == part.begin;
    if (!is_first && !is_last)
        return {};
    return {{is_first ? item(kDequeFirstItem) : part.begin,
             is_last ? item(kDequeLastItem) + sizeof(Address) : part.end}};
}

UsedWords PythonMemory::used_of_part(Address owner, const AddressSpan& part) const
{
    UsedWords used;
    const Address values = values_of(owner);
    const bool has_head = layout_.attributes != Attributes::in_dict; // such values do
    if (values >= part.begin + has_head && values < part.end) {
        used = {{values, values + count_keys(shared_keys(owner)) * sizeof(Address)}};
    } else if (is_a(owner, kIsList) && word_at(owner + kListItems) == part.begin) {
        used = {{part.begin, part.begin + word_at(owner + kCount) * sizeof(Address)}};
    } else if ((is_a(owner, kIsDict) && word_at(owner + kDictKeys) == part.begin) ||
               (is_a(owner, kIsType) && word_at(owner + layout_.type_keys) == part.begin)) {
        used = used_of_keys(part.begin);
    } else if (is_set(owner) && word_at(owner + kSetTable) == part.begin) {
        used = {{part.begin, part.begin + (word_at(owner + kSetMask) + 1) * kSetEntryBytes},
                part.begin + kSetHash,
                kSetEntryBytes};
    }
    if (is_made_from(owner, kDeque))
        used = used_of_deque(owner, part);
    return used.begin <= used.end && used.end <= part.end ? used : UsedWords{};
}

// Where keys are not all texts, each entry begins with its key's hash.
UsedWords PythonMemory::used_of_keys(Address keys) const
{
    const KeysLayout& layout = layout_of(keys);
    const Address first = first_entry(keys);
    const bool has_hashes = layout.key != 0;
    return {{keys, first + count_keys(keys) * layout.entry_bytes},
            has_hashes ? first : 0,
            has_hashes ? layout.entry_bytes : 0};
}

} // namespace vramscope::report
