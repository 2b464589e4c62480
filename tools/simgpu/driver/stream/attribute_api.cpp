// tools/simgpu/driver/stream/attribute_api.cpp — attributes of streams and kernel nodes.
#include "api.hpp"
#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/stream/capture.hpp"

namespace simgpu {
namespace {

constexpr int kMostAttributes = 64; // cuda.h of CUDA 13 knows fewer than 32

using Attributes = std::map<int, CUlaunchAttributeValue>;

CUresult set_attribute(Attributes& attributes, int attribute, const CUlaunchAttributeValue* value)
{
    if (attribute <= 0 || attribute >= kMostAttributes || !value)
        return CUDA_ERROR_INVALID_VALUE;
    attributes[attribute] = *value;
    return CUDA_SUCCESS;
}

// Attributes are kept and told, and have no effect. One that was never set is zero.
CUresult get_attribute(const Attributes& attributes, int attribute, CUlaunchAttributeValue* value)
{
    if (attribute <= 0 || attribute >= kMostAttributes || !value)
        return CUDA_ERROR_INVALID_VALUE;
    const auto known = attributes.find(attribute);
    *value = known == attributes.end() ? CUlaunchAttributeValue{} : known->second;
    return CUDA_SUCCESS;
}

// Under capture_mutex().
GraphNode* kernel_node_locked(CUgraphNode handle)
{
    GraphNode* const node = slots<GraphNode>().find(handle);
    return node && node->type == CU_GRAPH_NODE_TYPE_KERNEL ? node : nullptr;
}

std::mutex& stream_attributes_mutex()
{
    static auto* mutex = new std::mutex;
    return *mutex;
}

} // namespace

namespace api {

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    const std::lock_guard lock(stream_attributes_mutex());
    return set_attribute(stream->attributes, attr, value);
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(hStream, stream))
        return error;
    const std::lock_guard lock(stream_attributes_mutex());
    return get_attribute(stream->attributes, attr, value_out);
}

CUresult cuStreamCopyAttributes(CUstream dst, CUstream src)
{
    Stream* to = nullptr;
    Stream* from = nullptr;
    if (const CUresult error = stream_of_handle(dst, to))
        return error;
    if (const CUresult error = stream_of_handle(src, from))
        return error;
    if (to->context != from->context)
        return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(stream_attributes_mutex());
    const Attributes copy = from->attributes;
    to->attributes = copy;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       const CUkernelNodeAttrValue* value)
{
    const std::lock_guard lock(capture_mutex());
    GraphNode* const node = kernel_node_locked(hNode);
    return node ? set_attribute(node->attributes, attr, value) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr,
                                       CUkernelNodeAttrValue* value_out)
{
    const std::lock_guard lock(capture_mutex());
    const GraphNode* const node = kernel_node_locked(hNode);
    return node ? get_attribute(node->attributes, attr, value_out) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src)
{
    const std::lock_guard lock(capture_mutex());
    GraphNode* const to = kernel_node_locked(dst);
    const GraphNode* const from = kernel_node_locked(src);
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    const Attributes copy = from->attributes;
    to->attributes = copy;
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
