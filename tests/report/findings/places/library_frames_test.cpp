// tests/report/findings/places/library_frames_test.cpp — library code, and its look-alikes.
#include <string>

#include <gtest/gtest.h>

#include "report/findings/places/frames.hpp"

namespace vramscope::report {
namespace {

bool of_a_library(std::string function, std::string file = {},
                  std::string module = "/home/me/train")
{
    Frame frame;
    frame.function = std::move(function);
    frame.file = std::move(file);
    frame.module = std::move(module);
    return is_library(frame);
}

std::string scopes(std::string_view function)
{
    std::string all;
    for (const std::string_view scope : scopes_of(function))
        all += std::string(scope) + '|';
    return all;
}

const std::string kUsersFile = "/home/me/src/train.cu";

TEST(LibraryFrames, ScopesAreTheNamespacesAndClassesOfAFunction)
{
    EXPECT_EQ(scopes("main"), "");
    EXPECT_EQ(scopes("a::B::f(c::D)"), "a|B|");
    EXPECT_EQ(scopes("void thrust::detail::fill<int>(int*)"), "thrust|detail|");
    EXPECT_EQ(scopes("std::enable_if<((1)>(2)), int>::type user::f<int>(int)"), "user|");
    EXPECT_EQ(scopes("std::vector<int, std::allocator<int> >::push_back(int&&)"), "std|vector|");
    EXPECT_EQ(scopes("std::vector<int> user::make<int>(int)"), "user|");
    EXPECT_EQ(scopes("std::ostream& std::operator<< <char>(std::ostream&, char)"), "std|");
    EXPECT_EQ(scopes("user::operator std::string() const"), "user|");
    EXPECT_EQ(scopes("operator new(unsigned long, void*)"), "");
    EXPECT_EQ(scopes("bool user::operator< <int>(user::A<int> const&)"), "user|");
    EXPECT_EQ(scopes("operators::run()"), "operators|");
    EXPECT_EQ(scopes("user::(anonymous namespace)::f(int) [clone .isra.0]"),
              "user|(anonymous namespace)|");
    EXPECT_EQ(scopes("(anonymous namespace)::f(int)"), "(anonymous namespace)|");
    EXPECT_EQ(scopes("main::{lambda(std::pair<int, int>)#1}::operator()(int) const"),
              "main|{lambda(std::pair<int, int>)#1}|");
    EXPECT_EQ(scopes("user::f(std::string)::Local::g() const"), "user|");
    EXPECT_EQ(scopes("decltype (({parm#1}.begin)()) std::begin<A>(A&)"), "std|");
    EXPECT_EQ(scopes("decltype(auto) std::get<0>(A&)"), "std|");
    EXPECT_EQ(scopes("user::f[abi:cxx11](int)"), "user|");
    EXPECT_EQ(scopes("a::B<&c::operator->, 3>::f()"), "a|B|");
    for (const char* broken :
         {"", "::", "a::", "(", "<", "a<b", "operator", "::f", "a::(b", ")", ">"})
        EXPECT_LE(scopes_of(broken).size(), 2u) << broken;
}

TEST(LibraryFrames, CcclIsKnownByItsNamespacesWhereverItLies)
{
    const std::string vendored = "/home/me/third_party/cccl/thrust/thrust/detail/vector_base.inl";
    EXPECT_TRUE(of_a_library("thrust::THRUST_300001_SM_750_NS::detail::f<int>(int)", vendored));
    EXPECT_TRUE(of_a_library("void* thrust::mr::do_allocate<int>(unsigned long)"));
    EXPECT_TRUE(of_a_library("cub::CUB_300001_SM_900::CachingDeviceAllocator::DeviceFree(void*)"));
    EXPECT_TRUE(of_a_library("cuda::std::__4::invoke<int>(int)"));
    EXPECT_TRUE(of_a_library("cuda::__4::__all_accessible(int)"));
    EXPECT_TRUE(of_a_library("cuda::mr::__4::resource::allocate()"));
    EXPECT_TRUE(of_a_library("at_cuda_detail::cub::CUB_200200_SM_80::DeviceScan::Sum()"));
    EXPECT_TRUE(of_a_library("mylib::thrust::THRUST_200302_80_NS::sort<int>(int*)"));
}

TEST(LibraryFrames, UsersNamespacesOfSimilarNamesAreTheirs)
{
    for (const char* function :
         {"mythrust::device_vector<float>::resize(int)", "thrust_test()", "thrusters::fire()",
          "me::thrust::fire()", "cubic::spline(int)", "cuda::Buffer::grow()",
          "me::cub::CUB_NS::f()", "c10::cuda::CUDACachingAllocator::malloc()", "standard::f()",
          "fill<thrust::device_vector<int> >(thrust::device_vector<int>&)",
          "thrust::device_vector<float>* make<float>(int)"})
        EXPECT_FALSE(of_a_library(function, kUsersFile)) << function;
}

TEST(LibraryFrames, ALambdaThatALibraryCallsIsTheUsers)
{
    EXPECT_FALSE(of_a_library("main::{lambda(int)#1}::operator()(int) const", kUsersFile));
    EXPECT_TRUE(of_a_library("std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke()"));
    EXPECT_TRUE(of_a_library("thrust::detail::wrapped_function<main::{lambda(int)#1}, void>::"
                             "operator()<int&>(int&) const"));
}

TEST(LibraryFrames, TheStandardLibraryIsKnownByItsHeaders)
{
    for (const char* file :
         {"/usr/include/c++/12/bits/stl_vector.h", "/usr/lib/llvm-14/include/c++/v1/vector",
          "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h",
          "/opt/conda/x86_64-conda-linux-gnu/include/c++/11.2.0/thread", "include/c++/12/new",
          "/build/gcc-12/x86_64-linux-gnu/libstdc++-v3/include/bits/allocator.h", ""})
        EXPECT_TRUE(of_a_library("std::vector<int>::push_back(int)", file)) << file;
    EXPECT_TRUE(of_a_library("operator new(unsigned long, void*)", "/usr/include/c++/12/new"));
    EXPECT_TRUE(of_a_library("__gnu_cxx::new_allocator<int>::allocate(unsigned long)"));
    EXPECT_TRUE(of_a_library("execute_native_thread_routine", "", "/usr/lib/libstdc++.so.6.0.30"));
}

TEST(LibraryFrames, UsersCodeInFoldersThatLookLikeALibrarysIsTheirs)
{
    EXPECT_FALSE(of_a_library("me::Loader::load()", "/home/me/include/c++/loader.hpp"));
    EXPECT_FALSE(of_a_library("load(int)", "/home/me/include/c++/loader.hpp"));
    EXPECT_FALSE(of_a_library("load(int)", "/home/me/c++/12/loader.hpp"));
    EXPECT_FALSE(of_a_library("me::load()", "/usr/include/c++/12/bits/me.h"));
    EXPECT_FALSE(of_a_library("load(int)", "/home/me/cuda/include/loader.hpp"));
    EXPECT_FALSE(of_a_library("load(int)", "/home/me/cuda-samples/include/loader.hpp"));
    EXPECT_FALSE(of_a_library("load(int)", "/home/me/thrust/loader.cu"));
}

TEST(LibraryFrames, WhatUsersSpecialiseOfTheStandardLibraryIsTheirs)
{
    EXPECT_FALSE(of_a_library("std::default_delete<Buffer>::operator()(Buffer*)", kUsersFile));
    EXPECT_FALSE(of_a_library("std::hash<Key>::operator()(Key const&) const", kUsersFile));
}

TEST(LibraryFrames, HeadersOfTheToolkitAreKnownByTheirFolder)
{
    for (const char* file :
         {"/usr/local/cuda/include/nvtx3/nvtx3.hpp", "/usr/local/cuda-13.0/include/cuda_fp16.hpp",
          "/usr/local/cuda/bin/../targets/x86_64-linux/include/crt/host_runtime.h",
          "/opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/include/cooperative_groups.h",
          "/venv/lib/python3.11/site-packages/nvidia/cuda_runtime/include/channel_descriptor.h",
          "/opt/cuda/include/cub/util_allocator.cuh", "/home/me/x/include/cccl/nv/target"})
        EXPECT_TRUE(of_a_library("nvtx3::v1::scoped_range::f()", file)) << file;
    EXPECT_TRUE(of_a_library("__nv_hdl_wrapper_t<int>::operator()() const"));
}

TEST(LibraryFrames, AFrameWithoutANameIsTheUsers)
{
    EXPECT_FALSE(of_a_library("", "", "/home/me/train"));
}

} // namespace
} // namespace vramscope::report
