// tests/simgpu/base/lookup_test.cpp — cuGetProcAddress finds the form for a version and flags.
#include <algorithm>
#include <dlfcn.h>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "tests/simgpu/driver.hpp"

namespace {

using FirstForm = CUresult (*)(const char*, void**, int, cuuint64_t);

// The form that the headers call cuGetProcAddress: the first one before CUDA 12, then the one
// with a status.
CUresult look_up(const char* name, void** function, int version, cuuint64_t flags)
{
#if CUDA_VERSION >= 12000
    return cuGetProcAddress(name, function, version, flags, nullptr);
#else
    return cuGetProcAddress(name, function, version, flags);
#endif
}

void* exported(const std::string& name)
{
    return ::dlsym(RTLD_DEFAULT, name.c_str());
}

std::string name_of(void* function)
{
    Dl_info info{};
    return function && ::dladdr(function, &info) && info.dli_sname ? info.dli_sname : "nothing";
}

std::string asked(const char* name, int version, cuuint64_t flags)
{
    void* function = nullptr;
    EXPECT_CU(look_up(name, &function, version, flags));
    return name_of(function);
}

struct Typedef {
    std::string name;
    int version;
    std::string suffix;
};

std::vector<Typedef> typedefs()
{
    std::stringstream text;
    for (const char* header : {"/cudaTypedefs.h", "/cudaProfilerTypedefs.h"})
        text << std::ifstream(std::string(SIMGPU_CUDA_HEADERS) + header).rdbuf();
    const std::string all = text.str();
    std::vector<Typedef> found;
    constexpr std::string_view kMark = "*PFN_cu";
    for (auto at = all.find(kMark); at != std::string::npos; at = all.find(kMark, at + 1)) {
        // cuMemcpyHtoD_v7000_ptds: name, version, flavour
        const std::string form = all.substr(at + 5, all.find(')', at) - at - 5);
        const auto version = form.rfind("_v");
        if (version == std::string::npos)
            continue; // 12.4 names four of its functions without their versions
        std::size_t digits = 0;
        const int number = std::stoi(form.substr(version + 2), &digits);
        found.push_back({form.substr(0, version), number, form.substr(version + 2 + digits)});
    }
    return found;
}

} // namespace

TEST(Lookup, FindsEveryFormThatTheHeadersName)
{
    const auto all = typedefs();
    ASSERT_GT(all.size(), 400u);
    std::map<std::string, std::set<int>> plain;
    for (const Typedef& form : all)
        if (form.suffix.empty())
            plain[form.name].insert(form.version);
    std::size_t per_thread = 0;
    for (const Typedef& form : all) {
        const auto& versions = plain[form.name];
        const auto not_newer = std::distance(versions.begin(), versions.upper_bound(form.version));
        std::string symbol = form.name + (not_newer > 1 ? "_v" + std::to_string(not_newer) : "");
        symbol += form.suffix;
        per_thread += form.suffix.empty() ? 0 : 1;
        const cuuint64_t flags = form.suffix.empty()
                                     ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                                     : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        ASSERT_NE(exported(symbol), nullptr) << symbol;
        EXPECT_EQ(asked(form.name.c_str(), form.version, flags), symbol) << form.version;
    }
    EXPECT_GT(per_thread, 30u);
}

TEST(Lookup, TakesTheNewestFormThatIsNotTooNew)
{
    EXPECT_EQ(asked("cuMemAlloc", 2000, 0), "cuMemAlloc");
    EXPECT_EQ(asked("cuMemAlloc", 3019, 0), "cuMemAlloc");
    EXPECT_EQ(asked("cuMemAlloc", 3020, 0), "cuMemAlloc_v2");
    EXPECT_EQ(asked("cuMemAlloc", CUDA_VERSION, 0), "cuMemAlloc_v2");
    EXPECT_EQ(asked("cuCtxCreate", 11040, 0), "cuCtxCreate_v3");
    EXPECT_EQ(asked("cuDevicePrimaryCtxRelease", 7000, 0), "cuDevicePrimaryCtxRelease");
    EXPECT_EQ(asked("cuDevicePrimaryCtxRelease", 11000, 0), "cuDevicePrimaryCtxRelease_v2");
}

TEST(Lookup, PerThreadFlagFallsBackToThePlainForm)
{
    constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    EXPECT_EQ(asked("cuMemcpyHtoD", 7000, kPerThread), "cuMemcpyHtoD_v2_ptds");
    EXPECT_EQ(asked("cuMemcpyHtoD", 3020, kPerThread), "cuMemcpyHtoD_v2");
    EXPECT_EQ(asked("cuMemAllocAsync", 11020, kPerThread), "cuMemAllocAsync_ptsz");
    EXPECT_EQ(asked("cuMemAllocAsync", 11020, 0), "cuMemAllocAsync");
    EXPECT_EQ(asked("cuMemAlloc", 11080, kPerThread), "cuMemAlloc_v2");
}

TEST(Lookup, AnswersTheExportedFunctionItself)
{
    void* function = nullptr;
    EXPECT_CU(look_up("cuMemAlloc", &function, 11080, 0));
    EXPECT_EQ(function, exported("cuMemAlloc_v2"));
}

#if CUDA_VERSION >= 12000
TEST(Lookup, TellsWhyNothingWasFound)
{
    void* function = reinterpret_cast<void*>(1);
    auto status = CU_GET_PROC_ADDRESS_SUCCESS;
    EXPECT_CU(cuGetProcAddress("cuMemAllocate", &function, 12000, 0, &status));
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_CU(cuGetProcAddress("cuMemAllocAsync", &function, 11010, 0, &status));
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    EXPECT_CU(cuGetProcAddress("cuMemAlloc_v2", &function, 12000, 0, &status));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND); // names have no suffix
}
#endif

TEST(Lookup, RefusesWrongArguments)
{
    void* function = reinterpret_cast<void*>(1);
    EXPECT_EQ(look_up("", &function, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(look_up(nullptr, &function, 12000, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(look_up("cuInit", nullptr, 12000, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(look_up("cuInit", &function, 12000, 4), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(look_up("cuInit", &function, CUDA_VERSION + 1, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(function, reinterpret_cast<void*>(1));
}

TEST(Lookup, FirstFormSaysNotFoundByItsResult)
{
    void* found = nullptr;
    ASSERT_CU(look_up("cuGetProcAddress", &found, 11030, 0));
    ASSERT_EQ(found, exported("cuGetProcAddress"));
    const auto first_form = reinterpret_cast<FirstForm>(found);
    void* function = nullptr;
    EXPECT_CU(first_form("cuMemFree", &function, 11030, 0));
    EXPECT_EQ(name_of(function), "cuMemFree_v2");
    EXPECT_EQ(first_form("cuNothing", &function, 11030, 0), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(function, nullptr);
}

TEST(Lookup, HasNoPrivateTables)
{
    const CUuuid any{};
    const void* table = nullptr;
    EXPECT_EQ(cuGetExportTable(&table, &any), CUDA_ERROR_NOT_FOUND);
    EXPECT_EQ(table, nullptr);
}

TEST(Errors, HaveNames)
{
    const char* text = nullptr;
    EXPECT_CU(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT_STREQ(text, "CUDA_ERROR_OUT_OF_MEMORY");
    EXPECT_CU(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT_STREQ(text, "out of memory");
    EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(text, nullptr);
}
