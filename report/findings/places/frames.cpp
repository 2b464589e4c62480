// report/findings/places/frames.cpp — frames told apart by module, file and function name.
#include "report/findings/places/frames.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace vramscope::report {

namespace {

// A static CUDA runtime has no module of its own. Nothing of the user's runs inside these
// functions, so what is called by one of them belongs to the runtime, whatever its name.
constexpr std::array<std::string_view, 70> kMemoryApis = {
    "cudaMalloc", "cudaMalloc3D", "cudaMalloc3DArray", "cudaMallocArray", "cudaMallocAsync",
    "cudaMallocFromPoolAsync", "cudaMallocHost", "cudaMallocManaged", "cudaMallocMipmappedArray",
    "cudaMallocPitch", "cudaHostAlloc", "cudaHostRegister", "cudaFree", "cudaFreeAsync",
    "cudaFreeHost", "cudaFreeArray", "cudaFreeMipmappedArray", "cudaHostUnregister",
    "cudaMemPoolCreate", "cudaMemPoolDestroy", "cudaMemPoolImportFromShareableHandle",
    "cudaMemPoolImportPointer", "cudaIpcOpenMemHandle", "cudaIpcCloseMemHandle",
    "cudaImportExternalMemory", "cudaExternalMemoryGetMappedBuffer",
    "cudaExternalMemoryGetMappedMipmappedArray", "cudaDestroyExternalMemory",
    "cudaGraphAddMemAllocNode", "cudaGraphAddNode",
    "cudaGraphAddNode_v2", // runtimes 12.3 to 12.9 have it
    "cudaGraphInstantiate", "cudaGraphInstantiateWithFlags", "cudaGraphInstantiateWithParams",
    "cudaGraphExecDestroy", "cudaGraphLaunch", "cudaCreateTextureObject",
    "cudaDestroyTextureObject", "cudaCreateSurfaceObject", "cudaDestroySurfaceObject",
    "cudaStreamCreate", "cudaStreamCreateWithFlags", "cudaStreamCreateWithPriority",
    "cudaStreamDestroy", "cudaStreamEndCapture", "cudaEventCreate", "cudaEventCreateWithFlags",
    "cudaEventDestroy", "cudaIpcOpenEventHandle", "cudaGraphCreate", "cudaGraphClone",
    "cudaGraphDestroy", "cudaLibraryLoadData", "cudaLibraryLoadFromFile", "cudaLibraryUnload",
    // What opens a context where there is none, most often.
    "cudaSetDevice", "cudaDeviceSynchronize", "cudaEventQuery", "cudaEventRecord",
    "cudaEventSynchronize", "cudaMemGetInfo", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemset",
    "cudaMemsetAsync", "cudaPointerGetAttributes", "cudaStreamQuery", "cudaStreamSynchronize",
    "cudaMemPoolTrimTo", "cudaDeviceReset"}; // ends a context, and the memory in it
constexpr std::size_t kMostInnerFrames = 16; // a static runtime's frames below the API's own

// "cudaMalloc" of "cudaError cudaMalloc<float>(float**, unsigned long)".
std::string_view bare_name(std::string_view function)
{
    function = function.substr(0, function.find_first_of("<("));
    const std::size_t before = function.find_last_of(" :*&");
    return before == std::string_view::npos ? function : function.substr(before + 1);
}

// Variants for the per-thread default stream have the name of the function that the user wrote.
std::string_view without_stream_suffix(std::string_view name)
{
    for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
        if (name.ends_with(suffix))
            name.remove_suffix(suffix.size());
    }
    return name;
}

bool is_runtime_name(std::string_view name)
{
    return name.size() > 4 && name.starts_with("cuda") &&
           std::isupper(static_cast<unsigned char>(name[4]));
}

bool is_memory_api(const Frame& frame)
{
    const std::string_view name = without_stream_suffix(bare_name(frame.function));
    if (!is_runtime_name(name))
        return false; // as nearly all frames
    return std::find(kMemoryApis.begin(), kMemoryApis.end(), name) != kMemoryApis.end();
}

bool is_runtime(const Frame& frame)
{
    if (frame.python)
        return false;
    const std::string_view module = file_name(frame.module);
    const std::string_view file = file_name(frame.file);
    if (module.starts_with("libvramscope") || module.starts_with("libcudart") ||
        module.starts_with("libcuda.so"))
        return true;
    if (frame.function.starts_with("libcudart_static_") || frame.function.starts_with("nvtxMem") ||
        is_memory_api(frame))
        return true;
    return (file == "cuda_runtime.h" || file == "cuda_runtime_api.h") &&
           is_runtime_name(bare_name(frame.function));
}

// Frames of the runtime at the inner end, the API that the user called included.
std::size_t runtime_frames(const std::vector<Frame>& stack)
{
    std::size_t count = 0;
    std::size_t look = 0;
    while (look < stack.size() && look < count + kMostInnerFrames) {
        const bool contiguous = look == count && is_runtime(stack[look]);
        ++look;
        if (contiguous || (!stack[look - 1].python && is_memory_api(stack[look - 1])))
            count = look;
    }
    return count;
}

std::string_view without_version(std::string_view entry_point)
{
    std::string_view name = without_stream_suffix(entry_point);
    const std::size_t at = name.rfind("_v");
    const bool version = at != std::string_view::npos && at + 2 < name.size() &&
                         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(at) + 2, name.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; });
    return version ? name.substr(0, at) : name;
}

} // namespace

FrameRange visible_frames(const std::vector<Frame>& stack)
{
    FrameRange range{runtime_frames(stack), stack.size()};
    // In a stripped program _start has no name; the frame that it called shows what it is.
    if (range.end > range.begin + 1 && stack.back().function.empty() &&
        is_start_up_code(stack[range.end - 2]))
        --range.end;
    while (range.end > range.begin && is_start_up_code(stack[range.end - 1]))
        --range.end;
    return range.begin < range.end ? range : FrameRange{0, stack.size()};
}

bool is_start_up_code(const Frame& frame)
{
    const std::string_view module = file_name(frame.module);
    return frame.function == "_start" || module.starts_with("libc.so") ||
           module.starts_with("libc-") || module.starts_with("libpthread") ||
           module.starts_with("ld-linux") || module.starts_with("ld-2") ||
           module.starts_with("libvramscope-ending"); // which calls main, with `run --reach`
}

bool begins_here(const Frame& frame)
{
    return frame.function == "main" || is_start_up_code(frame);
}

bool leaves_go(const Frame& frame)
{
    return frame.function == "runtime.asmcgocall";
}

std::size_t innermost_own_frame(const std::vector<Frame>& stack, const FrameRange& visible)
{
    for (std::size_t at = visible.begin; at < visible.end; ++at)
        if (!stack[at].library)
            return at;
    return visible.begin;
}

std::size_t named_frame(const std::vector<Frame>& stack, std::size_t own)
{
    for (std::size_t at = own; at < stack.size() && stack[at].module == stack[own].module; ++at)
        if (!stack[at].function.empty())
            return stack[at].line == 0 ? at : own;
    return own;
}

std::string_view calling_module(const std::vector<Frame>& stack, const FrameRange& visible)
{
    for (std::size_t at = visible.begin; at < visible.end; ++at) {
        const Frame& frame = stack[at];
        const std::string_view module = file_name(frame.python ? frame.file : frame.module);
        if (!module.starts_with("libffi.so") && !module.starts_with("_ctypes."))
            return module;
    }
    return {};
}

void show_only(std::vector<Frame>& stack, const FrameRange& visible, ShownFrames shown)
{
    if (shown == ShownFrames::all)
        return;
    stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(visible.end), stack.end());
    stack.erase(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(visible.begin));
    const auto is_library = [](const Frame& frame) { return frame.library; };
    if (shown == ShownFrames::own && !std::all_of(stack.begin(), stack.end(), is_library))
        std::erase_if(stack, is_library);
}

std::string user_api(const std::vector<Frame>& stack, std::string_view entry_point)
{
    for (std::size_t at = runtime_frames(stack); at > 0; --at) {
        const std::string_view name = bare_name(stack[at - 1].function);
        if (is_runtime_name(name))
            return std::string(without_stream_suffix(name));
    }
    return std::string(without_version(entry_point));
}

} // namespace vramscope::report
