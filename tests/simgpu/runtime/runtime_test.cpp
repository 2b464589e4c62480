// tests/simgpu/runtime/runtime_test.cpp — nvcc-built programs on the simulated runtime.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <cuda.h>

#include "tests/support/child.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

struct ProgramRun {
    std::string output;
    int status = -1;
    std::vector<std::string> calls; // NAME=RESULT

    long count(const std::string& call) const
    {
        return std::count(calls.begin(), calls.end(), call);
    }
    long index(const std::string& call) const
    {
        return std::find(calls.begin(), calls.end(), call) - calls.begin();
    }
};

ProgramRun run(const std::string& program, const std::string& environment = "")
{
    const vramscope::test::TempDir directory;
    const std::string trace = directory.file("trace");
    const std::string command =
        "env LD_LIBRARY_PATH=" VRAMSCOPE_SIMGPU_DIR " VRAMSCOPE_SIM_TRACE=" + trace + " " +
        environment + " " VRAMSCOPE_BINARY_DIR "/bin/programs/" + program + " 2>&1";
    ProgramRun result;
    std::FILE* pipe = ::popen(command.c_str(), "r");
    char buffer[4096];
    for (std::size_t bytes = 0; pipe && (bytes = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
        result.output.append(buffer, bytes);
    result.status = pipe ? ::pclose(pipe) : -1;
    std::ifstream lines(trace);
    for (std::string line; std::getline(lines, line);)
        result.calls.push_back(line);
    return result;
}

// The form that the runtime of this CUDA version uses.
#if CUDA_VERSION >= 12000
const std::string kLookUp = "cuGetProcAddress_v2";
const std::string kLoad = "cuLibraryLoadData=0";
const std::string kUnload = "cuLibraryUnload=0";
#else
const std::string kLookUp = "cuGetProcAddress";
const std::string kLoad = "cuModuleLoadData=0";
const std::string kUnload = "cuModuleUnload=0";
#endif

class Runtime : public ::testing::TestWithParam<const char*> {};

} // namespace

TEST_P(Runtime, RunsAnUnmodifiedProgram)
{
    const ProgramRun result = run(GetParam(), "VRAMSCOPE_SIMULATE=2x512MiB");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output, "device Simulated GPU, 2 in all\n"
                             "kernel 42\n"
                             "symbol 7 managed 3\n"
                             "double free cudaErrorInvalidValue\n"
                             "last cudaErrorInvalidValue then cudaSuccess\n");
}

TEST_P(Runtime, ReachesTheDriverAsTheRealOneDoes)
{
    const ProgramRun result = run(GetParam());
    const bool per_thread = std::string(GetParam()).find("per_thread") != std::string::npos;
    const std::string suffix = per_thread ? "_ptsz" : "";
    // These are looked up before anything else, the empty name first. Then comes cuInit.
    ASSERT_FALSE(result.calls.empty());
    EXPECT_EQ(result.calls.front(), kLookUp + "=1");
    EXPECT_GT(result.count(kLookUp + "=0"), 150);
    EXPECT_GT(result.index("cuInit=0"), result.count(kLookUp + "=0") - 5);
    // It is tried without a context, then again with one.
    EXPECT_EQ(result.count("cuMemAllocAsync" + suffix + "=201"), 1);
    EXPECT_EQ(result.count("cuMemAllocAsync" + suffix + "=0"), 1);
    EXPECT_EQ(result.count("cuMemFreeAsync" + suffix + "=0"), 1);
    EXPECT_EQ(result.count("cuMemAlloc_v2=0"), 3);
    EXPECT_EQ(result.count("cuMemFree_v2=0"), 1);
    EXPECT_EQ(result.count("cuMemFree_v2=1"), 1);
    EXPECT_EQ(result.count("cuLaunchKernel" + suffix + "=0"), 2);
    EXPECT_EQ(result.count(kLoad), 1);
    EXPECT_EQ(result.count("cuMemHostAlloc=0"), 1);
    EXPECT_EQ(result.count("cuMemFreeHost=0"), 1);
    EXPECT_EQ(result.count("cuArray3DCreate_v2=0"), 1);
    EXPECT_EQ(result.count("cuDevicePrimaryCtxReset=0"), 1);
    // At the end of the process the library is unloaded, then the context is released.
    ASSERT_EQ(result.count(kUnload), 1);
    ASSERT_GE(result.count("cuDevicePrimaryCtxRelease=0"), 1);
    EXPECT_LT(result.index(kUnload), result.index("cuDevicePrimaryCtxRelease=0"));
    EXPECT_EQ(result.calls.back(), "cuDevicePrimaryCtxRelease=0");
}

TEST_P(Runtime, ReportsAnArmedFault)
{
    const ProgramRun result = run(GetParam(), "VRAMSCOPE_SIM_FAULTS=cuMemAlloc_v2@1=2");
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.output.find("cudaErrorMemoryAllocation"), std::string::npos) << result.output;
}

TEST_P(Runtime, SaysOnceWhatIsWrongWithTheEnvironment)
{
    const ProgramRun result = run(GetParam(), "VRAMSCOPE_SIMULATE=plenty");
    EXPECT_NE(result.status, 0);
    EXPECT_NE(result.output.find("simgpu: VRAMSCOPE_SIMULATE is 'plenty'"), std::string::npos)
        << result.output;
}

// Each line says what a device would have done; the numbers are the program's own.
TEST(RuntimeApi, AnswersWhatProgramsAskBesideMemory)
{
    const ProgramRun result = run("simgpu_runtime_api");
    EXPECT_EQ(result.status, 0);
    EXPECT_EQ(result.output, "built for this architecture 1, binary 90\n"
                             "clusters of 8, some 1, texture width 1\n"
                             "line in rows 0 1 2 3 4 5 6 7 8 9 10 0\n"
                             "line from rows 2 3 4 5 6 7\n"
                             "rows of another width 0 1 2 3 4 5 6 7 8 9 10 0\n"
                             "a corner 4 5 2 3 4 5 8 9 8 9 10 0\n"
                             "queued 0 1 2 3 4 5 6 7 1 2 1 0\n"
                             "array 32 bits of kind 0, 4x3x0, flags 2\n"
                             "freed cudaErrorInvalidResourceHandle\n"
                             "texture of the array 1, clamp 1, by element 1, normalized 1\n"
                             "destroyed twice cudaErrorInvalidValue\n"
                             "texture of memory 1, channels of 32 and 32 bits\n"
                             "box 2 1 1, 2 1 1\n"
                             "copy node 64 bytes, to the host 1\n"
                             "graph copied 7 7\n"
                             "disabled 0: copied 8 7\n"
                             "enabled, one value: 8 7\n"
                             "clone has the node 1, roots 1\n"
                             "kernel node is the function 1, 3 blocks\n"
                             "attribute 3\n"
                             "capture 1, id 1, its graph 1, tips 1, then roots 2\n"
                             "own event cudaErrorDeviceUninitialized\n"
                             "window 4096\n"
                             "ends of large variables 9 8\n");
}

INSTANTIATE_TEST_SUITE_P(Programs, Runtime,
                         ::testing::Values("simgpu_program_shared", "simgpu_program_static",
                                           "simgpu_program_per_thread"),
                         [](const auto& program) {
                             return std::string(program.param).substr(sizeof "simgpu_program");
                         });
