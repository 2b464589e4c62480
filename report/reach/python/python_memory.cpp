// report/reach/python/python_memory.cpp — pools and objects of CPython, seen from outside.
#include "report/reach/python/python_memory.hpp"

#include <algorithm>

namespace vramscope::report {
namespace {

using namespace python;

constexpr std::size_t kMostNameBytes = 100;

bool is_name(std::string_view name)
{
    return !name.empty() &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == name.npos;
}

bool is_inside(const AddressSpan& span, Address address)
{
    return address >= span.begin && address < span.end;
}

struct PoolHead {
    std::uint32_t used = 0, padding = 0;
    Address free = 0, next = 0, before = 0;
    std::uint32_t arena = 0, size_class = 0, next_offset = 0, last_offset = 0;
};
static_assert(sizeof(PoolHead) == kPoolHead);

// How large the blocks of a pool are; 0: it is no pool.
std::uint64_t block_bytes(const PoolHead& head, std::uint64_t pool_bytes)
{
    constexpr std::uint32_t kMostArenas = 1 << 20;
    const std::uint64_t bytes = (head.size_class + std::uint64_t{1}) * kPoolStep;
    const bool sound = head.size_class < kPoolClasses && head.last_offset == pool_bytes - bytes &&
                       head.used <= (pool_bytes - kPoolHead) / bytes && head.arena < kMostArenas &&
                       head.next_offset >= kPoolHead && head.next_offset <= pool_bytes + bytes;
    return sound ? bytes : 0;
}

} // namespace

PythonMemory::PythonMemory(const ProcessMemory& memory, const ModuleNames& modules)
    : memory_(memory)
{
    known_ = find_layout(modules);
}

bool PythonMemory::is_foreign(Address object) const
{
    return !is_inside(interpreter_, word_at(object + kType));
}

bool PythonMemory::is_runtime(Address word) const
{
    return known_ && is_inside(runtime_, word);
}

const PythonFrame* PythonMemory::frame_at(Address word) const
{
    const auto behind = std::upper_bound(
        frames_.begin(), frames_.end(), word,
        [](Address value, const PythonFrame& frame) { return value < frame.begin; });
    return behind != frames_.begin() && word < std::prev(behind)->end ? &*std::prev(behind)
                                                                      : nullptr;
}

bool PythonMemory::is_frames_memory(Address word) const
{
    return std::any_of(chunks_.begin(), chunks_.end(),
                       [word](const AddressSpan& chunk) { return is_inside(chunk, word); });
}

std::optional<InterpreterBlock> PythonMemory::pool_block(const AddressSpan& region,
                                                         Address address) const
{
    const std::uint64_t pool_bytes = layout_.pool_bytes;
    PoolHead head;
    if (!known_)
        return std::nullopt;
    const Address pool = address / pool_bytes * pool_bytes;
    if (pool < region.begin || pool + pool_bytes > region.end ||
        !memory_.read(pool, &head, sizeof head))
        return std::nullopt;
    const std::uint64_t bytes = block_bytes(head, pool_bytes);
    if (bytes == 0)
        return std::nullopt;
    if (head.used == 0)
        return InterpreterBlock{{pool, pool + pool_bytes}, true};
    if (address < pool + kPoolHead)
        return InterpreterBlock{{pool, pool + kPoolHead}, true};
    const std::uint64_t number = (address - pool - kPoolHead) / bytes;
    const Address begin = pool + kPoolHead + number * bytes;
    InterpreterBlock block{{begin, begin + bytes}, begin >= pool + head.next_offset};
    const auto [known, added] = pools_.try_emplace(pool);
    if (added)
        for (Address at = head.free; at >= pool + kPoolHead && at < pool + pool_bytes;
             at = word_at(at)) {
            const std::uint64_t nth = (at - pool - kPoolHead) / bytes;
            if (known->second.test(nth))
                break;
            known->second.set(nth);
        }
    block.free = block.free || known->second.test(number) || is_freed_tuple(begin);
    return block;
}

// Tuples that were freed are kept for the next ones, up to 2,000 of a size, each with the address
// of one more and with the words of what it had: nobody counts on it, and the collector has left
// it. Since 3.14 the address is where the count was, before that where the first item was.
bool PythonMemory::is_freed_tuple(Address block) const
{
    struct Head {
        Address next_collected, before_collected;
        std::uint64_t references;
        Address type;
    };
    constexpr std::uint64_t kFinalized = 1;
    const Head head = get<Head>(block);
    return head.next_collected == 0 && head.before_collected <= kFinalized &&
           (head.references == 0 || word_at(head.references + kType) == head.type) &&
           is_type(head.type) && types_.at(head.type) == "tuple";
}

bool PythonMemory::is_type(Address address) const
{
    if (address == 0 || address % sizeof(Address) != 0)
        return false;
    const auto [known, added] = types_.try_emplace(address);
    if (added) {
        const Address meta = word_at(address + kType);
        if (meta != 0 && (meta == type_type_ || word_at(meta + kType) == type_type_))
            if (std::string name = characters(word_at(address + kTypeName), kMostNameBytes);
                is_name(name))
                known->second = std::move(name);
    }
    return !known->second.empty();
}

bool PythonMemory::is_debug_head(Address block) const
{
    const std::uint64_t word = word_at(block + kDebugLetter);
    const char letter = static_cast<char>(word & 0xff);
    return word >> 8 == kDebugBytes && (letter == 'o' || letter == 'm' || letter == 'r');
}

Address PythonMemory::object_in(const AddressSpan& block) const
{
    struct Head {
        std::uint64_t references;
        Address type;
    };
    constexpr std::uint64_t kMostReferences = std::uint64_t{1} << 40;
    if (!known_)
        return 0;
    for (const std::uint64_t before :
         {std::uint64_t{0}, kCollectorBytes, kCollectorBytes + kAttributeBytes}) {
        const Address object = block.begin + before;
        if (object + sizeof(Head) > block.end)
            return 0;
        const Head head = get<Head>(object);
        const std::uint64_t references = head.references & kReferencesMask;
        // In a program that lies at low addresses None, too, may look like a count.
        if (references > 0 && references < kMostReferences && is_type(head.type) &&
            !is_type(word_at(references + kType)))
            return object;
    }
    return 0;
}

bool PythonMemory::has_digits(Address object, Address word, std::uint64_t value) const
{
    constexpr std::uint64_t kInBits = 12; // since 3.12 the count of digits is behind three bits
    constexpr std::uint64_t kIsImmortal = 4;
    const std::uint64_t count = word_at(object + kCount) & ~kIsImmortal;
    const std::uint64_t digits = value >> kDigitBits == 0 ? 1 : 2;
    return is_a(object, kIsInt) && word == object + kDigits &&
           count == (layout_.minor >= kInBits ? digits << 3 : digits);
}

bool PythonMemory::is_no_holder(Address object, Address word) const
{
    if (word < object)
        return word + kCollectorBytes >= object;
    if (is_of(object, "int") && word >= object + kCount)
        return true;
    if (layout_.frames == Frames::objects && word == object + kOldCodeFreeFrame &&
        is_of(object, "code"))
        return true;
    const bool is_weak = is_of(object, "weakref.ReferenceType") || is_of(object, "weakref") ||
                         is_of(object, "weakref.ProxyType") || is_of(object, "weakproxy") ||
                         is_of(object, "weakcallableproxy") || is_of(object, "weakref.KeyedRef") ||
                         is_of(object, "KeyedRef");
    return is_weak && word != object + kWeakCallback && word != object + kType;
}

std::uint64_t PythonMemory::references(Address object) const
{
    return word_at(object) & kReferencesMask;
}

bool PythonMemory::is_reference(std::uint64_t value, Address object) const
{
    const std::uint64_t tag = layout_.minor >= kBorrowedSince ? kBorrowed : 0;
    return (value & ~tag) == object;
}

const std::string* PythonMemory::module_of(Address object) const
{
    const auto known = module_names_.find(object);
    return known == module_names_.end() ? nullptr : &known->second;
}

} // namespace vramscope::report
