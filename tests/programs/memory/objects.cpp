// tests/programs/memory/objects.cpp — objects of the driver's: streams, events, graphs and code.
//
// Linked with -lcuda. Each form makes two, of which one stays.
//
// Usage: objects SCENE. A scene that the toolkit's headers are too old for ends with status 4.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // the old forms are what is traced here
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "tests/programs/memory/shareable.hpp"

namespace {

const char kCode[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry run() { ret; }\n";

void streams()
{
    CUstream made[4];
    for (int i = 0; i < 2; ++i) {
        check(cuStreamCreate(&made[i], CU_STREAM_NON_BLOCKING));                    // MARK stream
        check(cuStreamCreateWithPriority(&made[2 + i], CU_STREAM_NON_BLOCKING, 0)); // MARK priority
    }
    check(cuStreamDestroy(made[0]));
    check(cuStreamDestroy_v2(made[2]));
}

void green_stream()
{
#if CUDA_VERSION >= 12050
    CUdevResource all{};
    CUdevResourceDesc description = nullptr;
    CUgreenCtx green = nullptr;
    CUstream made[2];
    check(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    check(cuDevResourceGenerateDesc(&description, &all, 1));
    check(cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    for (CUstream& stream : made)
        check(
            cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0)); // MARK green_stream
    check(cuStreamDestroy_v2(made[0]));
#else
    too_old();
#endif
}

void events()
{
    CUevent made[3];
    for (CUevent& event : made)
        check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING)); // MARK event
    check(cuEventDestroy(made[0]));
    check(cuEventDestroy_v2(made[1]));
}

void graphs()
{
    CUgraph made[2];
    CUgraph clones[2];
    for (int i = 0; i < 2; ++i) {
        check(cuGraphCreate(&made[i], 0));        // MARK graph
        check(cuGraphClone(&clones[i], made[i])); // MARK clone
    }
    check(cuGraphDestroy(clones[0]));
    check(cuGraphDestroy(made[0]));
}

template <auto begin, auto end>
void captures()
{
    CUstream stream = nullptr;
    CUgraph made[2];
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUgraph& graph : made) {
        check(begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
        check(end(stream, &graph)); // MARK captured
    }
    check(cuGraphDestroy(made[0]));
    check(cuStreamDestroy_v2(stream));
}

// The end of the capture gives a graph that there was before.
void capture_to_graph()
{
#if CUDA_VERSION >= 12030
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraph given = nullptr;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check(cuGraphCreate(&graph, 0)); // MARK added_to
    for (int i = 0; i < 2; ++i) {
        check(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0,
                                          CU_STREAM_CAPTURE_MODE_GLOBAL));
        check(cuStreamEndCapture(stream, &given));
    }
    check(cuStreamDestroy_v2(stream));
#else
    too_old();
#endif
}

std::string code_file()
{
    char path[] = "/tmp/vramscope-objects-XXXXXX";
    const int file = mkstemp(path);
    if (file < 0 || write(file, kCode, sizeof kCode) != static_cast<ssize_t>(sizeof kCode))
        std::_Exit(5);
    close(file);
    return path;
}

void modules()
{
    const std::string path = code_file();
    for (int i = 0; i < 2; ++i) {
        CUmodule made[4];
        check(cuModuleLoad(&made[0], path.c_str()));                     // MARK module_file
        check(cuModuleLoadData(&made[1], kCode));                        // MARK module_data
        check(cuModuleLoadDataEx(&made[2], kCode, 0, nullptr, nullptr)); // MARK module_data_ex
        check(cuModuleLoadFatBinary(&made[3], kCode));                   // MARK module_fat
        for (const CUmodule module : made)
            if (i == 0)
                check(cuModuleUnload(module));
    }
    unlink(path.c_str());
}

void libraries()
{
#if CUDA_VERSION >= 12000
    const std::string path = code_file();
    for (int i = 0; i < 2; ++i) {
        CUlibrary made[2];
        check(cuLibraryLoadData(&made[0], kCode, nullptr, nullptr, 0, nullptr, nullptr,
                                0)); // MARK library_data
        check(cuLibraryLoadFromFile(&made[1], path.c_str(), nullptr, nullptr, 0, nullptr, nullptr,
                                    0)); // MARK library_file
        for (const CUlibrary library : made)
            if (i == 0)
                check(cuLibraryUnload(library));
    }
    unlink(path.c_str());
#else
    too_old();
#endif
}

void limits()
{
    for (const std::size_t kib : {8 * 1024, 16 * 1024}) // of one setting, the last one counts
        check(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, kib * 1024)); // MARK heap
    check(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));                 // MARK device_stack
}

// What can be asked about only now and then.
void many_streams()
{
    for (int i = 0; i < 20'000; ++i) {
        CUstream stream = nullptr;
        check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); // MARK many
        check(cuStreamDestroy_v2(stream));
    }
}

// A stream is made while the driver reads a module: its file is a FIFO, which is read once somebody
// writes. Another stream is made when that is over.
void made_at_once()
{
    CUmodule module = nullptr;
    CUstream beside = nullptr;
    CUstream after = nullptr;
    CUcontext context = nullptr;
    const std::string path = "code.fifo";
    check(cuCtxGetCurrent(&context));
    if (mkfifo(path.c_str(), 0600) != 0)
        std::_Exit(5);
    std::thread loads([&] {
        check(cuCtxSetCurrent(context));
        check(cuModuleLoad(&module, path.c_str()));
    });
    const int file = open(path.c_str(), O_WRONLY); // until it is read
    check(cuStreamCreate(&beside, CU_STREAM_NON_BLOCKING));
    if (write(file, kCode, sizeof kCode) != static_cast<ssize_t>(sizeof kCode))
        std::_Exit(5);
    close(file);
    loads.join();
    check(cuStreamCreateWithPriority(&after, CU_STREAM_NON_BLOCKING, 0));
    unlink(path.c_str());
}

const Scene kScenes[] = {
    {"streams", streams},
    {"green_stream", green_stream},
    {"events", events},
    {"graphs", graphs},
    {"captures", captures<cuStreamBeginCapture_v2, cuStreamEndCapture>},
    {"captures_ptsz", captures<cuStreamBeginCapture_v2_ptsz, cuStreamEndCapture_ptsz>},
    {"capture_to_graph", capture_to_graph},
    {"modules", modules},
    {"libraries", libraries},
    {"limits", limits},
    {"many_streams", many_streams},
    {"made_at_once", made_at_once},
};

} // namespace

int main(int argc, char** argv)
{
    primary_context();
    return play_scene(kScenes, argc, argv);
}
