// tools/simgpu/driver/context/peer_api.cpp — peer access; all simulated devices are connected.
#include "api.hpp"
#include "tools/simgpu/driver/context/context.hpp"

namespace simgpu::api {

CUresult cuDeviceCanAccessPeer(int* canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    if (!canAccessPeer)
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_at(dev) || !device_at(peerDev))
        return CUDA_ERROR_INVALID_DEVICE;
    *canAccessPeer = dev != peerDev;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice,
                                 CUdevice dstDevice)
{
    if (!device_at(srcDevice) || !device_at(dstDevice))
        return CUDA_ERROR_INVALID_DEVICE;
    if (!value || srcDevice == dstDevice)
        return CUDA_ERROR_INVALID_VALUE;
    *value = attrib == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED ||
             attrib == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED;
    return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(Context& context, CUcontext peerContext, unsigned int Flags)
{
    Context* peer = nullptr;
    if (Flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = context_of_handle(peerContext, peer))
        return error;
    if (peer->device == context.device)
        return CUDA_ERROR_INVALID_DEVICE;
    const std::lock_guard lock(contexts_mutex());
    return context.peers.emplace(peer, peer->id).second ? CUDA_SUCCESS
                                                        : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(Context& context, CUcontext peerContext)
{
    Context* peer = nullptr;
    if (const CUresult error = context_of_handle(peerContext, peer))
        return error;
    const std::lock_guard lock(contexts_mutex());
    return context.peers.erase({peer, peer->id}) > 0 ? CUDA_SUCCESS
                                                     : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

} // namespace simgpu::api
