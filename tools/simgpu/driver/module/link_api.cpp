// tools/simgpu/driver/module/link_api.cpp — cuLink*: checked inputs make an empty cubin.
#include <algorithm>
#include <cstring>
#include <elf.h>

#include "api.hpp"
#include "tools/simgpu/driver/module/jit.hpp"
#include "tools/simgpu/driver/module/module.hpp"

namespace simgpu {
namespace {

constexpr unsigned char kCudaAbi = 0x41;
// With this version the architecture is in bits 8 to 15 of the flags.
constexpr unsigned char kCudaAbiVersion = 8;
constexpr std::uint16_t kCudaMachine = 190; // EM_CUDA

struct Link {
    std::atomic<bool> alive{false};
    Elf64_Ehdr cubin{}; // the program may read it until the link is destroyed
};

Elf64_Ehdr empty_cubin()
{
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = kCudaAbi;
    header.e_ident[EI_ABIVERSION] = kCudaAbiVersion;
    header.e_type = ET_EXEC;
    header.e_machine = kCudaMachine;
    header.e_version = EV_CURRENT;
    header.e_flags = unsigned{kComputeCapability} << 8;
    header.e_ehsize = sizeof header;
    return header;
}

CUresult check_input(CUlinkState state, CUjitInputType type, unsigned count,
                     const CUjit_option* options, void** values)
{
    if (!slots<Link>().find(state))
        return CUDA_ERROR_INVALID_HANDLE;
    if (type < CU_JIT_INPUT_CUBIN || type >= CU_JIT_NUM_INPUT_TYPES)
        return CUDA_ERROR_INVALID_VALUE;
    return answer_jit_options(count, options, values);
}

} // namespace

CUresult answer_jit_options(unsigned count, const CUjit_option* options, void** values)
{
    if (count >= CU_JIT_NUM_OPTIONS || (count > 0 && (!options || !values)))
        return CUDA_ERROR_INVALID_VALUE;
    const CUjit_option* const end = options + count;
    // The buffer of a log and its size are two options, in any order.
    const auto value_of = [&](CUjit_option wanted) -> void** {
        const CUjit_option* const found = std::find(options, end, wanted);
        return found == end ? nullptr : &values[found - options];
    };
    const auto empty = [&](CUjit_option buffer_option, CUjit_option size_option) {
        void** const buffer = value_of(buffer_option);
        void** const size = value_of(size_option);
        if (buffer && *buffer && size && *size)
            *static_cast<char*>(*buffer) = '\0';
        if (size)
            *size = nullptr;
    };
    empty(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    empty(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    if (void** const time = value_of(CU_JIT_WALL_TIME))
        *time = nullptr;
    return CUDA_SUCCESS;
}

namespace api {

CUresult cuLinkCreate_v2(Context&, unsigned int numOptions, CUjit_option* options,
                         void** optionValues, CUlinkState* stateOut)
{
    if (!stateOut)
        return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult error = answer_jit_options(numOptions, options, optionValues))
        return error;
    *stateOut = reinterpret_cast<CUlinkState>(slots<Link>().make());
    return CUDA_SUCCESS;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size,
                          const char*, unsigned int numOptions, CUjit_option* options,
                          void** optionValues)
{
    if (const CUresult error = check_input(state, type, numOptions, options, optionValues))
        return error;
    return data && size > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path,
                          unsigned int numOptions, CUjit_option* options, void** optionValues)
{
    if (const CUresult error = check_input(state, type, numOptions, options, optionValues))
        return error;
    std::vector<char> image;
    return read_image(path, image);
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut)
{
    Link* const link = slots<Link>().find(state);
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!cubinOut)
        return CUDA_ERROR_INVALID_VALUE;
    link->cubin = empty_cubin();
    *cubinOut = &link->cubin;
    if (sizeOut)
        *sizeOut = sizeof link->cubin;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state)
{
    Link* const link = slots<Link>().find(state);
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    slots<Link>().retire(link);
    return CUDA_SUCCESS;
}

} // namespace api
} // namespace simgpu
