// tests/report/findings/frameworks_test.cpp — frameworks with allocators of their own are named.
#include "tracker/format/frameworks.hpp"

#include <string>

#include <gtest/gtest.h>

#include "report/findings/findings.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {
namespace {

using test::LogBuilder;
using test::report_of;

LogBuilder loading(const char* library)
{
    LogBuilder log;
    log.module(1, 0x1000, 0x1000, 0x2000, library);
    return log;
}

constexpr const char* kJax = "/venv/jax_plugins/xla_cuda12/xla_cuda_plugin.so";

TEST(Frameworks, WhoseAllocatorIsOffAreTold)
{
    LogBuilder log = loading(kJax);
    log.info("env.XLA_PYTHON_CLIENT_ALLOCATOR", "platform").info("bypassed", "CuPy");
    const Report report = report_of(log);
    ASSERT_EQ(report.notices.size(), 2u);
    EXPECT_EQ(report.notices[0],
              "allocator of JAX bypassed by XLA_PYTHON_CLIENT_ALLOCATOR=platform: "
              "each of its buffers is an allocation");
    EXPECT_EQ(report.notices[1],
              "allocator of CuPy bypassed: each of its buffers is an allocation");
    ASSERT_EQ(report.processes[0].frameworks.size(), 2u);
    EXPECT_EQ(report.processes[0].frameworks[0].library, kJax);
    EXPECT_EQ(report.processes[0].frameworks[1].library, "");
}

TEST(Frameworks, ThatKeepTheirAllocatorAreToldWithTheRemedy)
{
    LogBuilder log = loading(kJax);
    log.info("env.XLA_PYTHON_CLIENT_ALLOCATOR", "default");
    const Report report = report_of(log);
    ASSERT_EQ(report.notices.size(), 1u);
    EXPECT_EQ(report.notices[0], "buffers of JAX may lie in blocks of its own allocator: "
                                 "`vramscope run --inside` makes each an allocation");
    EXPECT_FALSE(report.processes[0].frameworks.at(0).bypassed);
    EXPECT_EQ(report_of(loading("/lib/libtensorflow_framework.so.2")).notices.size(), 1u);
    EXPECT_EQ(report_of(loading("/lib/cupy/_core/core.cpython-311.so")).notices.size(), 1u);
}

TEST(Frameworks, ThatAreNotUsedAreNotNamed)
{
    LogBuilder log = loading("/home/jax/libcudfs.so");
    log.info("env.XLA_PYTHON_CLIENT_ALLOCATOR", "platform").info("bypassed", "no such");
    EXPECT_TRUE(report_of(log).notices.empty());
}

TEST(Frameworks, CountWhatTheirAllocatorsToldOf)
{
    LogBuilder log = loading("/torch/lib/libc10_cuda.so");
    log.alloc(0x1000, 10, 0, "PyTorch").alloc(0x2000, 10, 0, "PyTorch");
    log.alloc(0x3000, 10, 0, "a heap");
    const Report report = report_of(log);
    EXPECT_TRUE(report.notices.empty());
    ASSERT_EQ(report.processes[0].frameworks.size(), 2u);
    EXPECT_EQ(report.processes[0].frameworks[0].library, "/torch/lib/libc10_cuda.so");
    EXPECT_EQ(report.processes[0].frameworks[0].told_of_blocks, 2u);
    EXPECT_EQ(report.processes[0].frameworks[1].name, "a heap");
    EXPECT_EQ(report.processes[0].frameworks[1].told_of_blocks, 1u);
}

TEST(Frameworks, SayWhatBypassedPyTorch)
{
    const auto notices = [](const char* variable, const char* value) {
        LogBuilder log = loading("/torch/lib/libc10_cuda.so");
        log.info(std::string("env.") + variable, value);
        return report_of(log).notices;
    };
    EXPECT_EQ(notices("PYTORCH_NO_CUDA_MEMORY_CACHING", "0").at(0),
              "allocator of PyTorch bypassed by PYTORCH_NO_CUDA_MEMORY_CACHING=0: each of its "
              "buffers is an allocation");
    EXPECT_EQ(notices("PYTORCH_CUDA_ALLOC_CONF", "backend:cudaMallocAsync").size(), 1u);
    EXPECT_TRUE(notices("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True").empty());
}

TEST(Frameworks, AreBypassedByWholeWordsOnly)
{
    const format::Framework framework{"One", "one.so", "ONE", "first|second"};
    EXPECT_TRUE(format::is_bypassed(framework, "first"));
    EXPECT_TRUE(format::is_bypassed(framework, "second"));
    for (const char* value : {"", "fir", "first|second", "seconds", "|"})
        EXPECT_FALSE(format::is_bypassed(framework, value)) << value;
    const format::Framework other{"Two", "two.so", nullptr, nullptr};
    EXPECT_FALSE(format::is_bypassed(other, ""));
}

} // namespace
} // namespace vramscope::report
