// interpose/nvtx/memory.cpp — heaps and regions of the program's own allocators.
//
// A program whose allocator cuts memory into pieces can say so by NVTX's memory extension: a heap
// is what it cuts, a region a piece that it hands out. A region of a heap that is a sub-allocator
// becomes a block of the allocator that the heap is named after. Other heaps only say who may
// access what. NVTX finds us as it does in nvtx.cpp. Any thread may call; the handle of a heap of
// virtual memory is its address, and so is that of a region.
#include <array>
#include <mutex>

#include "interpose/frameworks/suballocations.hpp"
#include "interpose/nvtx/memory_api.hpp"
#include "tracker/capture/lock.hpp"

namespace {

using namespace vramscope;
using namespace vramscope::nvtx;

struct Heap {
    std::uintptr_t begin;
    std::size_t bytes;
    hooks::Allocator allocator;

    bool holds(std::uintptr_t address) const { return address - begin < bytes; }
};

// Those that are registered, in that order: a heap may lie in a region of one before it. More than
// there is room for are not known, nor are their regions.
class Heaps {
public:
    void add(const Heap& heap)
    {
        const std::lock_guard guard(lock_);
        if (count_ < heaps_.size())
            heaps_[count_++] = heap;
    }
    // False: there is no such heap.
    bool find(std::uintptr_t handle, Heap& found)
    {
        return find_last([handle](const Heap& heap) { return heap.begin == handle; }, found, false);
    }
    bool take(std::uintptr_t handle, Heap& found)
    {
        return find_last([handle](const Heap& heap) { return heap.begin == handle; }, found, true);
    }
    bool around(std::uintptr_t address, Heap& found)
    {
        return find_last([address](const Heap& heap) { return heap.holds(address); }, found, false);
    }

private:
    template <class Which>
    bool find_last(Which which, Heap& found, bool remove)
    {
        const std::lock_guard guard(lock_);
        for (std::size_t i = count_; i-- > 0;) {
            if (!which(heaps_[i]))
                continue;
            found = heaps_[i];
            for (; remove && i + 1 < count_; ++i)
                heaps_[i] = heaps_[i + 1];
            count_ -= remove;
            return true;
        }
        return false;
    }

    capture::Lock lock_;
    std::array<Heap, 256> heaps_{};
    std::size_t count_ = 0;
};
constinit Heaps heaps;

std::uintptr_t number(const void* address)
{
    return reinterpret_cast<std::uintptr_t>(address);
}

// Whether it is a batch of a version that we know, whose elements are at least so large.
template <class Element, class Batch>
bool readable(const Batch* batch)
{
    return batch && batch->version == kMemoryVersion && batch->struct_bytes >= sizeof *batch &&
           batch->elements && batch->element_bytes >= sizeof(Element);
}

template <class Element, class Batch, class Visit>
void each(const Batch& batch, Visit visit)
{
    const auto* at = static_cast<const char*>(batch.elements);
    for (std::size_t i = 0; i < batch.count; ++i, at += batch.element_bytes)
        visit(*reinterpret_cast<const Element*>(at), i);
}

const void* heap_register(nvtxDomainHandle_t, const HeapDescription* heap)
{
    if (!heap || heap->version != kMemoryVersion || heap->struct_bytes < sizeof *heap ||
        heap->type != kVirtualAddress || !heap->range || heap->range_bytes < sizeof(VirtualRange))
        return nullptr;
    const auto& range = *static_cast<const VirtualRange*>(heap->range);
    if (heap->usage == kSubAllocator)
        with_message(heap->message_type, heap->message, [&range](std::string_view name) {
            heaps.add({number(range.address), range.bytes,
                       hooks::allocator_named(name.empty() ? "NVTX heap" : name)});
        });
    return range.address;
}

void end_regions(const Heap& heap)
{
    hooks::blocks_returned(heap.allocator, heap.begin, heap.bytes);
}

void heap_unregister(nvtxDomainHandle_t, const void* handle)
{
    if (Heap heap; heaps.take(number(handle), heap))
        end_regions(heap);
}

void heap_reset(nvtxDomainHandle_t, const void* handle)
{
    if (Heap heap; heaps.find(number(handle), heap))
        end_regions(heap);
}

void regions_register(nvtxDomainHandle_t, const RegionsToRegister* regions)
{
    const log::CallSite site = VRAMSCOPE_CALL_SITE;
    if (!readable<VirtualRange>(regions) || regions->type != kVirtualAddress)
        return;
    Heap heap;
    const bool known = heaps.find(number(regions->heap), heap);
    each<VirtualRange>(*regions, [&](const VirtualRange& region, std::size_t i) {
        if (regions->handles)
            regions->handles[i] = region.address;
        if (known)
            hooks::block_cut(heap.allocator, site, number(region.address), region.bytes, -1);
    });
}

void regions_resize(nvtxDomainHandle_t, const RegionsToResize* regions)
{
    const log::CallSite site = VRAMSCOPE_CALL_SITE;
    if (!readable<VirtualRange>(regions) || regions->type != kVirtualAddress)
        return;
    each<VirtualRange>(*regions, [&](const VirtualRange& region, std::size_t) {
        const std::uintptr_t address = number(region.address);
        Heap heap;
        if (!heaps.around(address, heap))
            return;
        hooks::block_returned(heap.allocator, site, address);
        hooks::block_cut(heap.allocator, site, address, region.bytes, -1);
        hooks::block_named(heap.allocator, address, hooks::kKeepsName);
    });
}

void regions_unregister(nvtxDomainHandle_t, const RegionsToUnregister* regions)
{
    const log::CallSite site = VRAMSCOPE_CALL_SITE;
    if (!readable<const void*>(regions))
        return;
    each<const void*>(*regions, [&](const void* region, std::size_t) {
        if (Heap heap; heaps.around(number(region), heap))
            hooks::block_returned(heap.allocator, site, number(region));
    });
}

void regions_name(nvtxDomainHandle_t, const RegionsToName* names)
{
    if (!readable<RegionName>(names))
        return;
    each<RegionName>(*names, [](const RegionName& named, std::size_t) {
        Heap heap;
        if (heaps.around(number(named.region), heap))
            with_message(named.message_type, named.message, [&](std::string_view name) {
                if (!name.empty())
                    hooks::block_named(heap.allocator, number(named.region), name);
            });
    });
}

template <class Function>
void fill(const ModuleSegment& segment, Slot slot, Function function)
{
    if (slot < segment.slots)
        segment.functions[slot] = reinterpret_cast<std::intptr_t>(function);
}

} // namespace

// 0: nothing of that extension is wanted; NVTX then makes its functions do nothing.
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtxExtension(ModuleInfo* info)
{
    if (!info || info->struct_bytes < sizeof *info || info->module != kMemoryModule ||
        info->version != kMemoryVersion || info->segment_count == 0)
        return 0;
    const ModuleSegment& segment = info->segments[0];
    fill(segment, kHeapRegister, &heap_register);
    fill(segment, kHeapUnregister, &heap_unregister);
    fill(segment, kHeapReset, &heap_reset);
    fill(segment, kRegionsRegister, &regions_register);
    fill(segment, kRegionsResize, &regions_resize);
    fill(segment, kRegionsUnregister, &regions_unregister);
    fill(segment, kRegionsName, &regions_name);
    return 1;
}
