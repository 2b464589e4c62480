// tests/simgpu/module/image_test.cpp — kernels tell the architectures of their image.
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

#include "tests/simgpu/driver.hpp"
#include "tests/support/temp_dir.hpp"

using namespace simgpu::test;

namespace {

using Versions = std::pair<int, int>; // those of the PTX and of the binary

Versions versions_of(CUmodule module)
{
    CUfunction kernel = nullptr;
    Versions versions{-1, -1};
    EXPECT_CU(cuModuleGetFunction(&kernel, module, "kernel"));
    EXPECT_CU(cuFuncGetAttribute(&versions.first, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel));
    EXPECT_CU(cuFuncGetAttribute(&versions.second, CU_FUNC_ATTRIBUTE_BINARY_VERSION, kernel));
    return versions;
}

Versions versions_of(const void* image)
{
    CUmodule module = nullptr;
    EXPECT_CU(cuModuleLoadData(&module, image));
    return versions_of(module);
}

template <class T>
void append(std::string& to, T value)
{
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kCubin = 2;

// A fat binary as nvcc writes it: a header, and for each architecture a header of 64 bytes
// and a payload.
std::string fat_binary(std::initializer_list<std::pair<std::uint16_t, std::uint32_t>> entries)
{
    std::string body;
    for (const auto& [kind, architecture] : entries) {
        const std::size_t start = body.size();
        append(body, kind);
        append(body, std::uint16_t{0x101});
        append(body, std::uint32_t{64});
        append(body, std::uint64_t{40});
        body.append(12, '\0');
        append(body, architecture);
        body.resize(start + 64 + 40);
    }
    std::string image;
    append(image, 0xba55ed50U);
    append(image, std::uint16_t{1});
    append(image, std::uint16_t{16});
    append(image, std::uint64_t{body.size()});
    return image + body;
}

Versions
versions_of_fat_binary(std::initializer_list<std::pair<std::uint16_t, std::uint32_t>> entries)
{
    const std::string image = fat_binary(entries);
    return versions_of(image.data());
}

} // namespace

TEST(Image, PtxOfAnOlderArchitectureIsCompiledForTheDevice)
{
    with_context([] {
        EXPECT_EQ(versions_of_fat_binary({{kCubin, 75}, {kPtx, 75}}), Versions(75, 90));
        EXPECT_EQ(versions_of_fat_binary({{kCubin, 52}, {kPtx, 52}}), Versions(52, 90));
        EXPECT_EQ(versions_of_fat_binary({{kPtx, 80}, {kPtx, 86}, {kPtx, 100}}), Versions(86, 90));
    });
}

TEST(Image, ACubinOfTheDevicesArchitectureIsTakenAsItIs)
{
    with_context([] {
        EXPECT_EQ(versions_of_fat_binary({{kCubin, 80}, {kCubin, 90}, {kPtx, 90}}),
                  Versions(90, 90));
    });
}

TEST(Image, TheDeviceStandsForTheOneThatTheImageWasBuiltFor)
{
    with_context([] {
        EXPECT_EQ(versions_of_fat_binary({{kCubin, 86}}), Versions(86, 86));
        EXPECT_EQ(versions_of_fat_binary({{kCubin, 100}, {kCubin, 120}, {kPtx, 120}}),
                  Versions(120, 120));
    });
}

TEST(Image, MayBeWrappedAsNvccWrapsIt)
{
    with_context([] {
        const std::string image = fat_binary({{kPtx, 75}});
        struct {
            std::uint32_t magic = 0x466243b1;
            std::uint32_t version = 1;
            const void* data = nullptr;
            void* file_name = nullptr;
        } wrapper;
        wrapper.data = image.data();
        EXPECT_EQ(versions_of(&wrapper), Versions(75, 90));
    });
}

TEST(Image, ACubinSaysItInItsHeader)
{
    with_context([] {
        Elf64_Ehdr header{};
        std::memcpy(header.e_ident, ELFMAG, SELFMAG);
        header.e_ident[EI_ABIVERSION] = 7; // what CUDA wrote up to 12
        header.e_flags = 0x500550;
        EXPECT_EQ(versions_of(&header), Versions(80, 80));
        header.e_ident[EI_ABIVERSION] = 8;
        header.e_flags = 0x6005a04;
        EXPECT_EQ(versions_of(&header), Versions(90, 90));
    });
}

TEST(Image, PtxSaysItInItsText)
{
    with_context([] {
        EXPECT_EQ(versions_of("//\n// A comment\n//\n.version 9.0\n.target sm_75\n"),
                  Versions(75, 90));
        EXPECT_EQ(versions_of(".version 7.8\n.target sm_52, debug\n"), Versions(52, 90));
    });
}

TEST(Image, OfNoKnownFormIsTakenForTheDevices)
{
    with_context([] {
        EXPECT_EQ(versions_of("any image"), Versions(90, 90));
        EXPECT_EQ(versions_of("// no target"), Versions(90, 90));
        EXPECT_EQ(versions_of_fat_binary({}), Versions(90, 90));
        std::string damaged = fat_binary({{kPtx, 75}});
        damaged[24] = '\x7f'; // the entry is longer than the image
        EXPECT_EQ(versions_of(damaged.data()), Versions(90, 90));
    });
}

TEST(Image, OfAFileIsReadToo)
{
    with_context([] {
        const vramscope::test::TempDir directory;
        std::ofstream(directory.file("kernel.ptx")) << ".version 9.0\n.target sm_80";
        CUmodule module = nullptr;
        ASSERT_CU(cuModuleLoad(&module, directory.file("kernel.ptx").c_str()));
        EXPECT_EQ(versions_of(module), Versions(80, 90));
        EXPECT_EQ(cuModuleLoad(&module, directory.file("none").c_str()), CUDA_ERROR_FILE_NOT_FOUND);
    });
}

#if CUDA_VERSION >= 12000
TEST(Image, OfALibraryIsReadToo)
{
    with_context([] {
        const std::string image = fat_binary({{kCubin, 75}, {kPtx, 75}});
        CUlibrary library = nullptr;
        CUkernel kernel = nullptr;
        int version = 0;
        ASSERT_CU(
            cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        ASSERT_CU(cuLibraryGetKernel(&kernel, library, "kernel"));
        ASSERT_CU(cuKernelGetAttribute(&version, CU_FUNC_ATTRIBUTE_PTX_VERSION, kernel, 0));
        EXPECT_EQ(version, 75);
    });
}
#endif

#if CUDA_VERSION >= 12040
TEST(Library, TellsTheKernelsThatWereAskedFor)
{
    with_context([] {
        CUlibrary library = nullptr;
        CUkernel kernel = nullptr;
        CUkernel listed = nullptr;
        unsigned count = 7;
        ASSERT_CU(
            cuLibraryLoadData(&library, "any image", nullptr, nullptr, 0, nullptr, nullptr, 0));
        ASSERT_CU(cuLibraryGetKernelCount(&count, library));
        EXPECT_EQ(count, 0u);
        ASSERT_CU(cuLibraryGetKernel(&kernel, library, "kernel"));
        ASSERT_CU(cuLibraryGetKernelCount(&count, library));
        EXPECT_EQ(count, 1u);
        ASSERT_CU(cuLibraryEnumerateKernels(&listed, 1, library));
        EXPECT_EQ(listed, kernel);
        ASSERT_CU(cuLibraryUnload(library));
        EXPECT_EQ(cuLibraryGetKernelCount(&count, library), CUDA_ERROR_INVALID_HANDLE);
    });
}
#endif
