// tools/simgpu/driver/module/module.hpp — loaded images: what modules and libraries have in common.
//
// Only the architectures of an image are read. So every kernel name is found, and a variable has
// the size that was set for it (simgpu.h), or kUnknownVariableBytes, which is a guess.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/simgpu/driver/context/own_bytes.hpp"
#include "tools/simgpu/driver/module/image.hpp"
#include "tools/simgpu/driver/module/launch.hpp"

namespace simgpu {

inline constexpr std::size_t kUnknownVariableBytes = std::size_t{64} << 10;

struct Module {
    std::atomic<bool> alive{false};
    bool library = false;
    Context* context = nullptr;
    std::uint64_t context_id = 0;
    Architectures architectures{};
    std::map<std::string, Kernel*, std::less<>> kernels;
    std::map<std::string, CUdeviceptr, std::less<>> globals;
    std::map<std::string, CUdeviceptr, std::less<>> managed;
    OwnBytes own;
};

std::mutex& module_mutex();

// Reads the image of a file and adds a zero. CUDA_ERROR_FILE_NOT_FOUND or CUDA_ERROR_INVALID_IMAGE.
CUresult read_image(const char* path, std::vector<char>& image);
// A library has no context: it is loaded into every context that uses it.
Module* open_module(Context* context, const void* image);
void close_module(Module& module);

std::size_t bytes_of_variable(const char* name);
CUresult find_kernel(Module* module, const char* name, Kernel*& kernel);
CUresult find_global(Context& context, Module* module, const char* name, CUdeviceptr* address,
                     std::size_t* bytes);

} // namespace simgpu
