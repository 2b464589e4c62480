// report/reach/memory/thread_heaps.cpp — a heap by its first words, its chunks by how they end.
//
// A heap begins with its arena's address, the heap before it, and its own size. The arena lies in
// the first of its heaps, behind these words, and the chunks of that one lie behind the arena.
#include "report/reach/memory/thread_heaps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "report/reach/memory/glibc_chunks.hpp"
#include "report/reach/memory/memory_window.hpp"

namespace vramscope::report {
namespace {

constexpr Address kHeadBytes = 32;         // of a heap: the least of any glibc
constexpr Address kMostArenaBytes = 2'216; // of any since 2.26

bool has_arena(const ProcessMemory& memory, Address heap, Address arena)
{
    const Address first = arena / kThreadHeapBytes * kThreadHeapBytes;
    return arena % kChunkAlignment == 0 && arena >= first + kHeadBytes &&
           arena < first + kPageBytes && (first == heap || memory.word(first) == arena);
}

// Whether chunks lie one behind the other from here to the end: to the last, or to the mark behind
// what was the last before another heap followed.
bool is_cut_from(const ProcessMemory& memory, Address chunk, Address end)
{
    constexpr Address kMarkBytes = 64; // at most
    MemoryWindow window(memory, end);
    for (std::uint64_t size = 0; chunk < end; chunk += size) {
        const std::uint64_t header = window.word(chunk + 8).value_or(0);
        size = header & ~kChunkFlags;
        if (size < kLeastChunk)
            return end - chunk <= kMarkBytes;
        if ((header & kHasOwnMapping) != 0 || size % kChunkAlignment != 0 || size > end - chunk)
            return false;
    }
    return true;
}

// The first chunk behind an arena has the lists of freed chunks of the thread that made it, until
// that thread ends; those of another thread may lie anywhere.
Address first_chunk_of(const ProcessMemory& memory, const ThreadHeap& heap, Address arena)
{
    const std::uint64_t bytes = std::min(heap.end - heap.begin, 2 * kPageBytes);
    std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
    if (!memory.read(heap.begin, words.data(), bytes))
        return 0;
    for (std::size_t at = 1; at < words.size(); at += 2) {
        const Address chunk = heap.begin + (at - 1) * sizeof words[0];
        for (const FreedLists& lists : kFreedLists)
            if (chunk > arena && chunk <= arena + kMostArenaBytes &&
                words[at] == (lists.chunk_bytes | kBeforeIsInUse | kOfThreadHeap))
                return chunk;
    }
    for (std::size_t at = kHeadBytes / sizeof words[0] + 1; at < words.size(); at += 2) {
        const Address chunk = heap.begin + (at - 1) * sizeof words[0];
        const bool may_be_first = (words[at] & kBeforeIsInUse) != 0; // as nothing is before it
        if (may_be_first && is_cut_from(memory, chunk, heap.end))
            return chunk;
    }
    return 0;
}

} // namespace

std::optional<ThreadHeap> thread_heap_at(const ProcessMemory& memory, Address begin, Address end)
{
    const Address arena = memory.word(begin);
    const Address bytes = memory.word(begin + 16);
    if (!has_arena(memory, begin, arena) || bytes == 0 || bytes % kPageBytes != 0 ||
        bytes > kThreadHeapBytes || bytes > end - begin)
        return std::nullopt;
    ThreadHeap heap{{begin, begin + bytes}};
    heap.first_chunk = first_chunk_of(memory, heap, arena);
    return heap;
}

} // namespace vramscope::report
