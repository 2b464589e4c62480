// tools/simgpu/driver/context/green_context_api.cpp — cuGreenCtx*, cuDev*Resource*.
//
// Resources are plain structures in the program's hands. What we must know about one later is in
// its padding, with a mark.
#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "tools/simgpu/driver/context/green_context.hpp"

namespace simgpu {

bool green_context_lives(const Stream& stream)
{
#if CUDA_VERSION >= 12040
    if (stream.green_id == 0)
        return true;
    const auto all = slots<GreenContext>().all();
    return std::any_of(all.begin(), all.end(), [&stream](const GreenContext* context) {
        return context->id == stream.green_id;
    });
#else
    return stream.green_id == 0;
#endif
}

#if CUDA_VERSION >= 12040
namespace {

constexpr unsigned kMultiprocessors = 132;
constexpr unsigned kPartition = 8;     // compute capability 9
constexpr unsigned kFinePartition = 2; // without co-scheduling
#if CUDA_VERSION >= 12050
constexpr unsigned kWithoutCoscheduling = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING;
constexpr unsigned kLargestClusters = CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;
#else // 12.4 has no flags
constexpr unsigned kWithoutCoscheduling = 0;
constexpr unsigned kLargestClusters = 0;
#endif
constexpr std::uint64_t kMark = 0x736572756d6973; // "simures"

struct Tag {
    std::uint64_t mark;
    std::int64_t device;
    std::uint64_t split; // 0 if it is not from a split
    std::uint64_t part;
};
static_assert(sizeof(Tag) <= sizeof(CUdevResource::_internal_padding));

struct Descriptor {
    std::atomic<bool> alive{false};
    Device* device = nullptr;
    unsigned multiprocessors = 0;
};

CUdevResource make_resource(const Device& device, unsigned multiprocessors, std::uint64_t split,
                            std::uint64_t part)
{
    CUdevResource made{};
    made.type = CU_DEV_RESOURCE_TYPE_SM;
    made.sm.smCount = multiprocessors;
#if CUDA_VERSION >= 13000
    made.sm.minSmPartitionSize = kPartition;
    made.sm.smCoscheduledAlignment = kPartition;
#endif
    const Tag tag{kMark, device.ordinal(), split, part};
    std::memcpy(made._internal_padding, &tag, sizeof tag);
    return made;
}

CUresult check(const CUdevResource& resource, Tag& tag)
{
    if (resource.type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    std::memcpy(&tag, resource._internal_padding, sizeof tag);
    const bool ours = tag.mark == kMark && device_at(static_cast<CUdevice>(tag.device)) &&
                      resource.sm.smCount <= kMultiprocessors;
    return ours ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult tell_resource(CUdevResource* out, CUdevResourceType type, const CUdevResource& resource)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *out = resource;
    return CUDA_SUCCESS;
}

GreenContext* green_context_of(CUgreenCtx handle)
{
    return slots<GreenContext>().find(handle);
}

// The primary context that the green context retains. A reset may have ended it.
CUresult primary_of(CUgreenCtx handle, Context*& context)
{
    const GreenContext* const green = green_context_of(handle);
    if (!green)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!green->primary.living())
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context = green->primary.context;
    return CUDA_SUCCESS;
}

} // namespace

namespace api {

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, CUdevResourceType type)
{
    const Device* const found = device_at(device);
    if (!found)
        return CUDA_ERROR_INVALID_DEVICE;
    return tell_resource(resource, type, make_resource(*found, kMultiprocessors, 0, 0));
}

CUresult cuCtxGetDevResource(CUcontext hCtx, CUdevResource* resource, CUdevResourceType type)
{
    Context* context = nullptr;
    if (const CUresult error = context_of_handle(hCtx, context))
        return error;
    return tell_resource(resource, type, make_resource(*context->device, kMultiprocessors, 0, 0));
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx hCtx, CUdevResource* resource, CUdevResourceType type)
{
    const GreenContext* const green = green_context_of(hCtx);
    return green ? tell_resource(resource, type, green->resource) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* result, unsigned int* nbGroups,
                                     const CUdevResource* input, CUdevResource* remaining,
                                     unsigned int useFlags, unsigned int minCount)
{
    constexpr unsigned kFlags = kWithoutCoscheduling | kLargestClusters;
    if (!nbGroups || !input || (useFlags & ~kFlags) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Tag tag{};
    if (const CUresult error = check(*input, tag))
        return error;
    if (minCount > input->sm.smCount)
        return CUDA_ERROR_INVALID_VALUE;
    if (tag.split != 0) // a split is split again only through a green context
        return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const bool fine = (useFlags & kWithoutCoscheduling) != 0;
    const unsigned step = fine ? kFinePartition : kPartition;
    const auto size = static_cast<unsigned>(round_up(std::max(minCount, 1u), step));
    const unsigned possible = input->sm.smCount / size;
    const unsigned groups = result ? std::min(*nbGroups, possible) : possible;
    *nbGroups = groups;
    static std::atomic<std::uint64_t> last_split{0};
    const std::uint64_t split = ++last_split;
    const Device& device = *device_at(static_cast<CUdevice>(tag.device));
    const unsigned left = input->sm.smCount - groups * size;
    if (result)
        for (unsigned group = 0; group < groups; ++group)
            result[group] = make_resource(device, size, split, group + 1);
    if (remaining)
        *remaining = left > 0 ? make_resource(device, left, split, 0) : CUdevResource{};
    return CUDA_SUCCESS;
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* phDesc, CUdevResource* resources,
                                   unsigned int nbResources)
{
    if (!phDesc || !resources || nbResources == 0)
        return CUDA_ERROR_INVALID_VALUE;
    Tag first{};
    std::set<std::uint64_t> parts;
    unsigned multiprocessors = 0;
    for (unsigned index = 0; index < nbResources; ++index) {
        Tag tag{};
        if (const CUresult error = check(resources[index], tag))
            return error;
        if (index == 0)
            first = tag;
        const bool of_one_split = tag.split != 0 && tag.split == first.split;
        if (tag.device != first.device || (nbResources > 1 && !of_one_split) ||
            !parts.insert(tag.part).second)
            return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
        multiprocessors += resources[index].sm.smCount;
    }
    Descriptor* const made = slots<Descriptor>().make();
    made->device = device_at(static_cast<CUdevice>(first.device));
    made->multiprocessors = multiprocessors;
    *phDesc = reinterpret_cast<CUdevResourceDesc>(made);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* phCtx, CUdevResourceDesc desc, CUdevice dev,
                          unsigned int flags)
{
    static std::atomic<std::uint64_t> last_id{0};
    const Descriptor* const descriptor = slots<Descriptor>().find(desc);
    Device* const device = device_at(dev);
    if (!device)
        return CUDA_ERROR_INVALID_DEVICE;
    if (!phCtx || !descriptor || descriptor->device != device ||
        flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext primary = nullptr;
    if (const CUresult error = api::cuDevicePrimaryCtxRetain(&primary, dev))
        return error;
    auto* const context = reinterpret_cast<Context*>(primary);
    GreenContext* const made = slots<GreenContext>().make();
    made->id = ++last_id;
    made->device = device;
    made->primary = {context, context->id};
    made->resource = make_resource(*device, descriptor->multiprocessors, 0, 0);
    *phCtx = reinterpret_cast<CUgreenCtx>(made);
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxDestroy(CUgreenCtx hCtx)
{
    GreenContext* const green = green_context_of(hCtx);
    if (!green)
        return CUDA_ERROR_INVALID_CONTEXT;
    const CUdevice device = green->device->ordinal();
    slots<GreenContext>().retire(green);
    return api::cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuCtxFromGreenCtx(CUcontext* pContext, CUgreenCtx hCtx)
{
    if (!pContext)
        return CUDA_ERROR_INVALID_VALUE;
    Context* context = nullptr;
    if (const CUresult error = primary_of(hCtx, context))
        return error;
    *pContext = reinterpret_cast<CUcontext>(context);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream hStream, CUgreenCtx* phCtx)
{
    if (!phCtx)
        return CUDA_ERROR_INVALID_VALUE;
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    *phCtx = nullptr;
    for (GreenContext* green : slots<GreenContext>().all())
        if (stream->green_id != 0 && green->id == stream->green_id)
            *phCtx = reinterpret_cast<CUgreenCtx>(green);
    return CUDA_SUCCESS;
}

#if CUDA_VERSION >= 12050
CUresult cuGreenCtxStreamCreate(CUstream* phStream, CUgreenCtx greenCtx, unsigned int flags,
                                int priority)
{
    Context* context = nullptr;
    if (const CUresult error = primary_of(greenCtx, context))
        return error;
    if (!phStream || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    Stream* const stream = open_stream(*context, flags, priority);
    stream->green_id = green_context_of(greenCtx)->id;
    *phStream = reinterpret_cast<CUstream>(stream);
    return CUDA_SUCCESS;
}
#endif

#if CUDA_VERSION >= 13000
CUresult cuGreenCtxGetId(CUgreenCtx greenCtx, unsigned long long* greenCtxId)
{
    const GreenContext* const green = green_context_of(greenCtx);
    if (!greenCtxId)
        return CUDA_ERROR_INVALID_VALUE;
    if (!green)
        return CUDA_ERROR_INVALID_CONTEXT;
    *greenCtxId = green->id;
    return CUDA_SUCCESS;
}
#endif

} // namespace api
#endif

} // namespace simgpu
