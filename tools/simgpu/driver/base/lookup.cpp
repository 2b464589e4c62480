// tools/simgpu/driver/base/lookup.cpp — cuGetProcAddress, both forms, and the driver's version.
//
// The answer is the newest form that is not newer than the version asked for. Flag 2 prefers the
// form with the per-thread default stream, where that is not too new either.
#include "tools/simgpu/driver/base/lookup.hpp"

#include <algorithm>
#include <cstring>

#include "api.hpp"
#include "tools/simgpu/driver/base/entry.hpp"

namespace simgpu {
namespace {

constexpr cuuint64_t kKnownFlags =
    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

struct Answer {
    void* function = nullptr;
    bool name_known = false;
};

Answer find(const char* name, int version, bool per_thread)
{
    struct ByName {
        bool operator()(const LookupRow& row, const char* wanted) const
        {
            return std::strcmp(row.name, wanted) < 0;
        }
        bool operator()(const char* wanted, const LookupRow& row) const
        {
            return std::strcmp(wanted, row.name) < 0;
        }
    };
    const auto [first, last] =
        std::equal_range(lookup_rows, lookup_rows + lookup_row_count, name, ByName{});
    Answer answer{nullptr, first != last};
    int newest = 0;
    for (const LookupRow* row = first; row != last; ++row) {
        if (row->version > version || (row->per_thread && !per_thread))
            continue;
        if (row->version > newest || row->per_thread) {
            newest = row->version;
            answer.function = row->function;
        }
    }
    return answer;
}

bool well_formed(const char* symbol, void* const* function, int version, cuuint64_t flags)
{
    return symbol && *symbol && function && version >= 0 && version <= driver_version() &&
           (flags & ~kKnownFlags) == 0 && flags != kKnownFlags;
}

} // namespace

namespace api {

CUresult cuDriverGetVersion(int* driverVersion)
{
    if (!driverVersion)
        return CUDA_ERROR_INVALID_VALUE;
    *driverVersion = driver_version();
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags)
{
    if (!well_formed(symbol, pfn, cudaVersion, flags))
        return CUDA_ERROR_INVALID_VALUE;
    trace_look_up(symbol, cudaVersion, flags);
    const Answer answer =
        find(symbol, cudaVersion, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    *pfn = answer.function;
    return answer.function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

#if CUDA_VERSION >= 12000
CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus)
{
    if (!well_formed(symbol, pfn, cudaVersion, flags))
        return CUDA_ERROR_INVALID_VALUE;
    trace_look_up(symbol, cudaVersion, flags);
    const Answer answer =
        find(symbol, cudaVersion, flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    *pfn = answer.function;
    if (symbolStatus)
        *symbolStatus = answer.function     ? CU_GET_PROC_ADDRESS_SUCCESS
                        : answer.name_known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                            : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}
#endif

// Export tables are private to NVIDIA; a simulated driver has none.
CUresult cuGetExportTable(const void** ppExportTable, const CUuuid* pExportTableId)
{
    return ppExportTable && pExportTableId ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_VALUE;
}

} // namespace api
} // namespace simgpu
