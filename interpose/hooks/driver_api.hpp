// interpose/hooks/driver_api.hpp — cuda.h, and of newer ones what an older one lacks.
//
// A preload that was built with an old toolkit hooks what newer drivers have all the same: every
// row of the hook table is compiled with every toolkit. Most newer types are only handed on, for
// which their name is enough.
#pragma once

#include <cstddef>

// Every version of every signature, under its exact symbol name, so that each row is
// checked against it.
#define __CUDA_API_VERSION_INTERNAL 1
#include <cuda.h>

#if CUDA_VERSION < 12000
enum CUdriverProcAddressQueryResult : int;
struct CUDA_GRAPH_INSTANTIATE_PARAMS;
struct CUDA_KERNEL_NODE_PARAMS_v2;
struct CUgraphExecUpdateResultInfo;
using CUlibrary = struct CUlib_st*;
enum CUlibraryOption : int;
#endif
#if CUDA_VERSION < 12010
struct CUmulticastObjectProp;
#endif
#if CUDA_VERSION < 12020
struct CUgraphNodeParams { // only the members that we read
    CUgraphNodeType type;
    int reserved0[3];
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
};
#endif
#if CUDA_VERSION < 12030
struct CUgraphEdgeData;
#endif
#if CUDA_VERSION < 12040
using CUgreenCtx = struct CUgreenCtx_st*;
using CUdevResourceDesc = struct CUdevResourceDesc_st*;
#endif
#if CUDA_VERSION < 12050
struct CUctxCreateParams;
#endif

// This holds for our declarations and for NVIDIA's.
static_assert(offsetof(CUgraphNodeParams, type) == 0);
static_assert(offsetof(CUgraphNodeParams, alloc.bytesize) == 120);
static_assert(offsetof(CUgraphNodeParams, alloc.dptr) == 128);
