// tests/tracker/capture/modules_test.cpp — libraries are told apart by content, not by address.
#include "tracker/capture/modules.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

using namespace vramscope::capture;

namespace {

const std::string kLibraries = VRAMSCOPE_FIXTURE_DIR;

// What the scans said, kept as a list of what is loaded now.
struct Watch {
    Modules modules;
    std::vector<Module> loaded;
    std::vector<std::uint32_t> gone;
    std::size_t calls = 0;

    ~Watch() { modules.reset_after_fork(); }
    void scan()
    {
        modules.scan({this,
                      [](void* context, const Module& module) {
                          auto& self = *static_cast<Watch*>(context);
                          self.loaded.push_back(module);
                          ++self.calls;
                      },
                      [](void* context, std::uint32_t id) {
                          auto& self = *static_cast<Watch*>(context);
                          self.gone.push_back(id);
                          ++self.calls;
                      }});
    }
    const Module* named(const std::string& ending) const
    {
        const auto found = std::find_if(loaded.rbegin(), loaded.rend(), [&](const Module& module) {
            return std::string(module.path).ends_with(ending);
        });
        return found == loaded.rend() ? nullptr : &*found;
    }
};

std::string hex_build_id(const Module& module)
{
    std::string text;
    for (std::uint32_t i = 0; i < module.build_id_bytes; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", module.build_id[i]);
        text += digits;
    }
    return text;
}

std::string readelf_build_id(const std::string& path)
{
    std::unique_ptr<FILE, int (*)(FILE*)> pipe(
        ::popen(("readelf -n '" + path + "' 2>/dev/null").c_str(), "r"), &::pclose);
    char line[512];
    constexpr char kLabel[] = "Build ID: ";
    while (pipe && std::fgets(line, sizeof line, pipe.get()))
        if (const char* at = std::strstr(line, kLabel))
            return std::string(at + sizeof kLabel - 1)
                .substr(0, std::strcspn(at, "\n") - sizeof kLabel + 1);
    return {};
}

const void* text_of(void* library)
{
    return ::dlsym(library, "library_text");
}

// Loads `first`, unloads it and loads `second`, at one address since both have the same layout.
struct Replaced {
    std::uint32_t first_id;
    const Module* second;
};
void replace(Watch& watch, const std::string& first, const std::string& second, Replaced& result)
{
    void* library = ::dlopen((kLibraries + "/" + first).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    const void* const first_place = text_of(library);
    watch.scan();
    ASSERT_NE(watch.named(first), nullptr);
    result.first_id = watch.named(first)->id;
    ::dlclose(library);
    library = ::dlopen((kLibraries + "/" + second).c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    if (text_of(library) != first_place)
        GTEST_SKIP() << "the loader put the second library elsewhere";
    watch.scan();
    result.second = watch.named(second);
    ::dlclose(library);
}

} // namespace

TEST(Modules, AreFoundWithTheirBuildIdsRangesAndPaths)
{
    Watch watch;
    watch.scan();
    const Module* program = watch.named("tracker_capture_tests");
    const Module* libc = watch.named("libc.so.6");
    ASSERT_TRUE(program && libc);
    EXPECT_EQ(program->path[0], '/');
    std::size_t compared = 0;
    for (const Module& module : watch.loaded) {
        SCOPED_TRACE(module.path);
        EXPECT_NE(module.id, 0u);
        EXPECT_LT(module.first, module.end);
        if (::access(module.path, R_OK) != 0)
            continue; // the vDSO
        EXPECT_EQ(hex_build_id(module), readelf_build_id(module.path));
        compared += module.build_id_bytes != 0;
    }
    EXPECT_GE(compared, 3u);
    const auto here = reinterpret_cast<std::uintptr_t>(&readelf_build_id);
    EXPECT_TRUE(here >= program->first && here < program->end);
    const auto there = reinterpret_cast<std::uintptr_t>(&::strlen);
    EXPECT_FALSE(there >= program->first && there < program->end);
}

TEST(Modules, AreReportedOnce)
{
    Watch watch;
    watch.scan();
    const std::size_t calls = watch.calls;
    watch.scan();
    EXPECT_EQ(watch.calls, calls);
    EXPECT_TRUE(watch.gone.empty());
}

TEST(Modules, ComeAndGo)
{
    Watch watch;
    watch.scan();
    const std::uint64_t epoch = watch.modules.unload_epoch();
    void* library = ::dlopen((kLibraries + "/liblayout_a.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    watch.scan();
    EXPECT_EQ(watch.modules.unload_epoch(), epoch);
    const Module* module = watch.named("liblayout_a.so");
    ASSERT_NE(module, nullptr);
    const std::uint32_t id = module->id;
    ::dlclose(library);
    watch.scan();
    EXPECT_EQ(watch.gone, std::vector<std::uint32_t>{id});
    EXPECT_GT(watch.modules.unload_epoch(), epoch);
}

TEST(Modules, AtTheSameAddressAreTwoIfTheirBuildIdsDiffer)
{
    Watch watch;
    Replaced replaced{};
    replace(watch, "liblayout_a.so", "liblayout_b.so", replaced);
    if (IsSkipped() || HasFatalFailure())
        return;
    ASSERT_NE(replaced.second, nullptr) << "the second library was taken for the first";
    EXPECT_NE(replaced.second->id, replaced.first_id);
    EXPECT_EQ(watch.gone, std::vector<std::uint32_t>{replaced.first_id});
}

TEST(Modules, AtTheSameAddressAreTwoEvenWithoutBuildIds)
{
    Watch watch;
    Replaced replaced{};
    replace(watch, "libplain_a.so", "libplain_b.so", replaced);
    if (IsSkipped() || HasFatalFailure())
        return;
    ASSERT_NE(replaced.second, nullptr) << "the second library was taken for the first";
    EXPECT_EQ(replaced.second->build_id_bytes, 0u);
    EXPECT_NE(replaced.second->id, replaced.first_id);
    EXPECT_EQ(watch.gone, std::vector<std::uint32_t>{replaced.first_id});
}

TEST(Modules, HaveAbsolutePathsThoughOpenedByARelativeOne)
{
    Watch watch;
    char before[4096];
    ASSERT_NE(::getcwd(before, sizeof before), nullptr);
    ASSERT_EQ(::chdir(kLibraries.c_str()), 0);
    void* library = ::dlopen("./liblayout_a.so", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    watch.scan();
    ASSERT_EQ(::chdir(before), 0);
    const Module* module = watch.named("liblayout_a.so");
    ASSERT_NE(module, nullptr);
    EXPECT_EQ(module->path[0], '/');
    EXPECT_EQ(::access(module->path, R_OK), 0) << module->path;
    ::dlclose(library);
}

TEST(Modules, AreAllReportedAnewAfterAFork)
{
    Watch watch;
    watch.scan();
    const std::size_t before = watch.loaded.size();
    watch.modules.reset_after_fork();
    watch.scan();
    EXPECT_EQ(watch.loaded.size(), 2 * before);
    EXPECT_EQ(watch.loaded[before].id, 1u);
    EXPECT_TRUE(watch.gone.empty());
}
