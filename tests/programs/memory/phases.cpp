// tests/programs/memory/phases.cpp — phases named with NVTX and with vramscope.h.
//
// Its threads have names.
//
// Usage: phases nvtx|header. One block is left in each phase.
#include <cstring>
#include <pthread.h>
#include <thread>

#include <nvtx3/nvToolsExt.h>

#include "interpose/vramscope.h"
#include "tests/programs/driver_program.hpp"

namespace {

void allocate(std::size_t bytes)
{
    CUdeviceptr block = 0;
    check(cuMemAlloc_v2(&block, bytes)); // MARK allocate
}

void push_ex(const char* name)
{
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    nvtxRangePushEx(&event);
}

void push_registered(nvtxDomainHandle_t domain, const char* name)
{
    nvtxEventAttributes_t event{};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = nvtxDomainRegisterStringA(domain, name);
    nvtxDomainRangePushEx(domain, &event);
}

void with_nvtx()
{
    nvtxRangePushA("before CUDA"); // open before the first CUDA call
    const CUcontext context = primary_context();
    allocate(1000); // MARK nvtx_first
    nvtxRangePushW(L"wide");
    allocate(2000); // MARK nvtx_nested
    nvtxRangePop();
    nvtxMarkA("a mark");
    nvtxRangePop();
    std::thread([context] {
        pthread_setname_np(pthread_self(), "loader");
        check(cuCtxSetCurrent(context));
        push_ex("load");
        allocate(3000); // MARK nvtx_thread
        nvtxRangePop();
    }).join();
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("a library");
    push_registered(domain, "registered");
    allocate(4000); // MARK nvtx_domain
    nvtxDomainRangePop(domain);
    allocate(5000);                                            // MARK nvtx_after
    const nvtxDomainHandle_t cccl = nvtxDomainCreateA("CCCL"); // as Thrust and CUB do
    nvtxRangePushA("own");
    push_registered(cccl, "cub::DeviceScan::InclusiveSum");
    allocate(6000); // MARK nvtx_cccl
    nvtxDomainRangePop(cccl);
    allocate(7000); // MARK nvtx_after_cccl
    nvtxRangePop();
}

void with_header()
{
    vramscope_range_push("epoch");
    primary_context();
    vramscope_range_push("step");
    allocate(1000); // MARK header_nested
    vramscope_range_pop();
    vramscope_point("weights loaded");
    allocate(2000); // MARK header_outer
    vramscope_range_pop();
    vramscope_range_pop(); // this is one too many, and nothing happens
    allocate(3000);        // MARK header_after
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    if (std::strcmp(argv[1], "nvtx") == 0)
        with_nvtx();
    else
        with_header();
    return 0;
}
