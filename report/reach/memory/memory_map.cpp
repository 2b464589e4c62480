// report/reach/memory/memory_map.cpp — mappings become regions.
#include "report/reach/memory/memory_map.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "report/model/call_place.hpp"
#include "report/reach/memory/thread_heaps.hpp"

namespace vramscope::report {
namespace {

constexpr std::string_view kHeapName = "[heap]";
constexpr Address kRedZoneBytes = 128;       // below a stack pointer, in use all the same
constexpr Address kThreadNumber = 0x2d0;     // in the descriptor of a thread, on x86-64
constexpr Address kThreadDescriptor = 0x900; // pthread_setspecific's first keys are in it

bool begins_with_any(std::string_view name, const auto& beginnings)
{
    return std::any_of(std::begin(beginnings), std::end(beginnings),
                       [name](std::string_view part) { return name.starts_with(part); });
}

// Of a driver, of ours, and of PyTorch's allocator, which has each of its blocks in a set.
bool is_book(std::string_view module)
{
    constexpr std::array<std::string_view, 6> kBooks = {
        "libcuda.so", "libcudart", "libvramscope", "libnvidia-", "libc10_cuda.so", "libc10_hip.so"};
    return begins_with_any(file_name(module), kBooks);
}

bool has_own_allocator(std::string_view module)
{
    constexpr std::array<std::string_view, 6> kAllocators = {
        "libjemalloc", "libtcmalloc", "libmimalloc", "libsnmalloc", "libhoard", "libtbbmalloc"};
    return begins_with_any(file_name(module), kAllocators);
}

bool is_python(std::string_view module)
{
    constexpr std::array<std::string_view, 2> kInterpreters = {"libpython", "python"};
    return begins_with_any(file_name(module), kInterpreters);
}

Address page_behind(Address address)
{
    return (address + kPageBytes - 1) / kPageBytes * kPageBytes;
}

// Of a thread: the lower half of the word.
std::int32_t number_in(std::uint64_t word)
{
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(word));
}

bool is_anonymous(const MemoryMapping& mapping)
{
    return mapping.name.empty() || mapping.name.starts_with("[anon");
}

} // namespace

MemoryMap::MemoryMap(const ProcessMemory& memory, const ModuleNames& modules,
                     const std::string& log, const std::vector<AddressSpan>& device,
                     bool knows_python)
    : memory_(memory), modules_(modules), device_(device), knows_python_(knows_python),
      knows_own_(memory.own_left_out())
{
    knows_thread_numbers_ = find_thread_numbers();
    for (std::size_t at = 0; at < memory.mappings().size(); ++at)
        add(memory.mappings()[at], at, log);
    find_book_locals();
    find_mapped_locals();
}

void MemoryMap::find_book_locals()
{
    std::vector<AddressSpan> spans;
    for (const std::string& module : books_)
        for (const SeenThread& thread : memory_.threads()) {
            const AddressSpan span = modules_.thread_locals(module, thread.thread_pointer);
            if (span.begin < span.end && span.end - span.begin <= kPageBytes)
                spans.push_back(span);
        }
    std::sort(spans.begin(), spans.end(),
              [](const AddressSpan& a, const AddressSpan& b) { return a.begin < b.begin; });
    book_locals_ = Sieve(std::move(spans));
}

const Region* MemoryMap::find(Address address) const
{
    const auto behind =
        std::upper_bound(regions_.begin(), regions_.end(), address,
                         [](Address value, const Region& region) { return value < region.begin; });
    return behind != regions_.begin() && address < std::prev(behind)->end ? &*std::prev(behind)
                                                                          : nullptr;
}

// Thread-locals that lie by themselves, and the C library's dynamic thread vector: pairs of words
// behind a pair with their number. The descriptor's second word leads to it.
void MemoryMap::find_mapped_locals()
{
    constexpr std::uint64_t kPairBytes = 16, kMostPairs = 4096;
    std::vector<std::pair<AddressSpan, std::size_t>> lists; // and whose
    for (std::size_t thread = 0; thread < memory_.threads().size(); ++thread) {
        const Address at = memory_.threads()[thread].thread_pointer;
        if (at == 0 || memory_.word(at) != at)
            continue;
        lists.push_back({mapped_locals(at), thread});
        const Address pairs = memory_.word(at + sizeof(Address));
        const std::uint64_t count = memory_.word(pairs - kPairBytes);
        if (count <= kMostPairs)
            lists.push_back({{pairs, pairs + (count + 1) * kPairBytes}, thread});
    }
    std::sort(lists.begin(), lists.end(),
              [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
    std::vector<AddressSpan> spans;
    Address end_before = 0;
    for (const auto& [span, thread] : lists) {
        if (span.end <= end_before)
            continue;
        spans.push_back({std::max(span.begin, end_before), span.end});
        threads_of_locals_.push_back(thread);
        end_before = span.end;
    }
    mapped_locals_ = Sieve(std::move(spans));
}

// Those of the first thread do not lie above its stack: the loader maps them for themselves.
AddressSpan MemoryMap::mapped_locals(Address thread_pointer) const
{
    const Region* const region = find(thread_pointer);
    if (!region || region->kind != RegionKind::mapped)
        return {thread_pointer, thread_pointer};
    const std::uint64_t most = thread_pointer - region->begin;
    return {thread_pointer - std::min(most, modules_.thread_local_bytes()), thread_pointer};
}

std::optional<std::size_t> MemoryMap::thread_of_locals(Address word) const
{
    const std::size_t list = mapped_locals_.find(word);
    return list == Sieve::kNone ? std::nullopt : std::optional(threads_of_locals_[list]);
}

bool MemoryMap::is_loaders(const Region& region) const
{
    return file_name(memory_.mappings()[region.mapping].name).starts_with("ld-linux");
}

bool MemoryMap::is_thread_local(const Region& stack, Address address) const
{
    const Address at = memory_.threads()[stack.thread].thread_pointer;
    return at != 0 && address + modules_.thread_local_bytes() >= at &&
           address < at + kThreadDescriptor;
}

void MemoryMap::add(const MemoryMapping& mapping, std::size_t index, const std::string& log)
{
    knows_own_ = knows_own_ || mapping.own;
    const bool unknown_python =
        mapping.name.starts_with('/') && !knows_python_ && is_python(mapping.name);
    has_unknown_python_ = has_unknown_python_ || unknown_python;
    if (unknown_python || (mapping.name.starts_with('/') && has_own_allocator(mapping.name)))
        other_allocator_ = std::string(file_name(mapping.name));
    if (mapping.name.starts_with('/') && mapping.name != module_) {
        module_ = mapping.name;
        module_end_ = modules_.end_of(mapping.name);
        if (is_book(module_) && std::find(books_.begin(), books_.end(), module_) == books_.end())
            books_.push_back(module_);
    }
    const bool of_heap = mapping.name == kHeapName; // also what the program has sealed
    if ((!mapping.writable && !of_heap) || mapping.own)
        return;
    if (!mapping.shared)
        return add_private(mapping, index);
    if (!mapping.name.starts_with("/dev/nvidia") && !mapping.name.starts_with(log) &&
        !has_device_memory(mapping))
        regions_.push_back({mapping, RegionKind::mapped, index});
}

// What a module zeroes lies behind its file's part, and the kernel may have joined it with what
// lies behind.
void MemoryMap::add_private(const MemoryMapping& mapping, std::size_t index)
{
    const RegionKind of_module = is_book(module_) ? RegionKind::books : RegionKind::variables;
    if (mapping.name == kHeapName && !regions_.empty() &&
        regions_.back().kind == RegionKind::heap && regions_.back().end == mapping.begin) {
        regions_.back().end = mapping.end;
    } else if (mapping.name == kHeapName) {
        Region heap{mapping, RegionKind::heap, index};
        heap.first_chunk = mapping.begin;
        regions_.push_back(heap);
    } else if (mapping.name.starts_with('/')) {
        regions_.push_back({mapping, of_module, index});
    } else if (mapping.name == "[stack]") {
        if (!add_stacks(mapping, index))
            add_mapped(mapping, index);
    } else if (is_anonymous(mapping)) {
        const Address end = std::min(mapping.end, module_end_);
        const bool zeroed = index > 0 && mapping.begin < module_end_ &&
                            memory_.mappings()[index - 1].end == mapping.begin &&
                            memory_.mappings()[index - 1].name == module_;
        if (zeroed)
            regions_.push_back({{mapping.begin, end}, of_module, index - 1});
        const Address begin = zeroed ? end : mapping.begin;
        if (begin < mapping.end)
            add_anonymous({begin, mapping.end}, index);
    }
}

void MemoryMap::add_anonymous(AddressSpan span, std::size_t index)
{
    if (add_stacks(span, index))
        return;
    if (const auto end = end_of_ended_stack(span, index)) {
        add_mapped({*end, span.end}, index);
        if (*end < span.end)
            regions_.back().of_ended = true;
        return;
    }
    for (Address at = (span.begin + kThreadHeapBytes - 1) / kThreadHeapBytes * kThreadHeapBytes;
         at < span.end; at += kThreadHeapBytes) {
        const std::optional<ThreadHeap> found = thread_heap_at(memory_, at, span.end);
        if (!found)
            continue;
        add_mapped({span.begin, at}, index);
        Region heap{*found, RegionKind::heap, index};
        heap.first_chunk = found->first_chunk;
        regions_.push_back(heap);
        span.begin = heap.end;
    }
    add_mapped(span, index);
}

void MemoryMap::add_mapped(AddressSpan span, std::size_t index, bool below_stack)
{
    if (span.begin < span.end)
        regions_.push_back({span, RegionKind::mapped, index, 0, 0, below_stack});
}

// Each from its thread's stack pointer on: nothing below that is alive, where the mapping is that
// one stack. Else it may be another's, of a coroutine that waits, say.
bool MemoryMap::add_stacks(const AddressSpan& span, std::size_t index)
{
    std::vector<Region> stacks = stacks_in(span, index);
    if (stacks.empty())
        return false;
    const bool one = stacks.size() == 1 && is_one_stack(stacks.front(), index);
    Address behind = one ? stacks.front().begin : span.begin;
    for (std::size_t at = 0; at < stacks.size(); ++at) {
        Region& stack = stacks[at];
        stack.end = at + 1 < stacks.size() ? stacks[at + 1].begin : span.end;
        const Address descriptor = descriptor_end(stack);
        if (!one && descriptor != 0)
            stack.end = std::min(stack.end, descriptor);
        add_mapped({behind, stack.begin}, index, true);
        regions_.push_back(stack);
        behind = stack.end;
    }
    add_mapped({behind, span.end}, index);
    return true;
}

// The C library's descriptor of its thread, with which a stack begins, if that is in this memory;
// else 0.
Address MemoryMap::descriptor_end(const Region& stack) const
{
    const Address thread = memory_.threads()[stack.thread].thread_pointer;
    return thread > stack.begin && thread < stack.end ? page_behind(thread + kThreadDescriptor) : 0;
}

std::vector<Region> MemoryMap::stacks_in(const AddressSpan& span, std::size_t index) const
{
    std::vector<Region> stacks;
    for (std::size_t at = 0; at < memory_.threads().size(); ++at) {
        const Address pointer = memory_.threads()[at].stack_pointer;
        if (pointer < span.begin || pointer >= span.end)
            continue;
        Region& stack = stacks.emplace_back(Region{span, RegionKind::stack, index, at});
        stack.begin = std::max(span.begin, (pointer - kRedZoneBytes) & ~Address{7});
    }
    std::sort(stacks.begin(), stacks.end(),
              [](const Region& a, const Region& b) { return a.begin < b.begin; });
    return stacks;
}

// The kernel knows the first one. Another ends with its thread's descriptor, or lies behind memory
// that nobody may touch, which the newest C libraries have no mapping for.
bool MemoryMap::is_one_stack(const Region& stack, std::size_t index) const
{
    const std::vector<MemoryMapping>& all = memory_.mappings();
    const MemoryMapping& mapping = all[index];
    if (mapping.name == "[stack]" || descriptor_end(stack) == stack.end)
        return true;
    return has_guard_below(index);
}

bool MemoryMap::has_guard_below(std::size_t index) const
{
    if (index == 0)
        return false;
    const MemoryMapping& below = memory_.mappings()[index - 1];
    return below.end == memory_.mappings()[index].begin && !below.writable && is_anonymous(below);
}

// Of a thread that ended: the C library keeps its stack for the next one, and nothing in it is
// alive. It ends with the thread's descriptor, which begins with its own address, twice. Over its
// number there the kernel has written 0, and who waited for it -1: before that the descriptor has
// what the thread returned.
std::optional<Address> MemoryMap::end_of_ended_stack(const AddressSpan& span,
                                                     std::size_t index) const
{
    constexpr Address kAlignment = 64;
    if (span.end - span.begin < kPageBytes || !has_guard_below(index) || !knows_thread_numbers_)
        return std::nullopt;
    std::array<std::uint64_t, kPageBytes / sizeof(std::uint64_t)> words{};
    const Address page = span.end - kPageBytes;
    if (!memory_.read(page, words.data(), kPageBytes))
        return std::nullopt;
    for (Address at = page; at + kThreadNumber + sizeof(Address) <= span.end; at += kAlignment) {
        const std::uint64_t* const descriptor = &words[(at - page) / sizeof words[0]];
        if (descriptor[0] != at || descriptor[2] != at)
            continue;
        const std::int32_t number = number_in(descriptor[kThreadNumber / sizeof words[0]]);
        return number > 0    ? std::nullopt
               : number == 0 ? std::optional(at)
                             : std::optional(span.end);
    }
    return std::nullopt;
}

// The number lies where it should in the descriptor of each thread whose descriptor is known.
bool MemoryMap::find_thread_numbers() const
{
    bool any = false;
    for (const SeenThread& thread : memory_.threads()) {
        if (thread.thread_pointer == 0)
            continue;
        if (number_in(memory_.word(thread.thread_pointer + kThreadNumber)) <= 0 ||
            memory_.word(thread.thread_pointer) != thread.thread_pointer)
            return false;
        any = true;
    }
    return any;
}

bool MemoryMap::has_device_memory(const AddressSpan& span) const
{
    const auto block = std::lower_bound(
        device_.begin(), device_.end(), span.begin,
        [](const AddressSpan& one, Address address) { return one.begin < address; });
    return block != device_.end() && block->begin < span.end;
}

} // namespace vramscope::report
