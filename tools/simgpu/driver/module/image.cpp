// tools/simgpu/driver/module/image.cpp — reads the architecture out of an image's headers.
#include "tools/simgpu/driver/module/image.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <vector>

namespace simgpu {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1; // fatbinary_section.h
constexpr std::uint32_t kFatBinaryMagic = 0xba55ed50;
constexpr std::uint16_t kPtxEntry = 1;
constexpr std::uint16_t kCubinEntry = 2;
// From this version on, the architecture is one byte further on.
constexpr unsigned char kCubinAbi = 8;

struct FatWrapper {
    std::uint32_t magic;
    std::uint32_t version;
    const void* fat_binary;
};

struct FatHeader {
    std::uint32_t magic;
    std::uint16_t version;
    std::uint16_t header_bytes;
    std::uint64_t bytes; // size of all entries
};

struct FatEntry {
    std::uint16_t kind;
    std::uint16_t version;
    std::uint32_t header_bytes;
    std::uint64_t bytes;
    std::uint32_t unread[3];
    std::uint32_t architecture;
};

struct Code {
    bool ptx;
    int architecture;
};

// An image has no known length: a byte is looked at only if those before it are right.
bool starts_with(const void* image, const void* expected, std::size_t bytes)
{
    const auto* const found = static_cast<const unsigned char*>(image);
    const auto* const wanted = static_cast<const unsigned char*>(expected);
    for (std::size_t index = 0; index < bytes; ++index)
        if (found[index] != wanted[index])
            return false;
    return true;
}

std::vector<Code> codes_of_fat_binary(const void* image)
{
    FatHeader header;
    std::memcpy(&header, image, sizeof header);
    std::vector<Code> codes;
    if (header.header_bytes < sizeof header)
        return codes;
    const auto* next = static_cast<const unsigned char*>(image) + header.header_bytes;
    std::uint64_t left = header.bytes;
    while (left >= sizeof(FatEntry)) {
        FatEntry entry;
        std::memcpy(&entry, next, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
            entry.bytes > left - entry.header_bytes)
            break;
        if (entry.kind == kPtxEntry || entry.kind == kCubinEntry)
            codes.push_back({entry.kind == kPtxEntry, static_cast<int>(entry.architecture)});
        next += entry.header_bytes + entry.bytes;
        left -= entry.header_bytes + entry.bytes;
    }
    return codes;
}

std::vector<Code> codes_of_cubin(const void* image)
{
    Elf64_Ehdr header;
    std::memcpy(&header, image, sizeof header);
    const unsigned shift = header.e_ident[EI_ABIVERSION] >= kCubinAbi ? 8 : 0;
    return {{false, static_cast<int>(header.e_flags >> shift & 0xff)}};
}

// PTX is a text: comments, then ".version 9.0" and ".target sm_75".
std::vector<Code> codes_of_ptx(const char* text)
{
    const char* const target = std::strstr(text, ".target");
    const char* const name = target ? std::strstr(target, "sm_") : nullptr;
    if (!name)
        return {};
    return {{true, std::atoi(name + 3)}};
}

std::vector<Code> codes_of(const void* image)
{
    if (starts_with(image, &kWrapperMagic, sizeof kWrapperMagic)) {
        FatWrapper wrapper;
        std::memcpy(&wrapper, image, sizeof wrapper);
        image = wrapper.fat_binary;
    }
    if (!image)
        return {};
    if (starts_with(image, &kFatBinaryMagic, sizeof kFatBinaryMagic))
        return codes_of_fat_binary(image);
    if (starts_with(image, ELFMAG, SELFMAG))
        return codes_of_cubin(image);
    if (starts_with(image, "//", 2) || starts_with(image, ".version", 8))
        return codes_of_ptx(static_cast<const char*>(image));
    return {};
}

// The newest architecture among those that fit; 0 if none does.
template <class Fits>
int newest(const std::vector<Code>& codes, Fits fits)
{
    int found = 0;
    for (const Code& code : codes)
        if (fits(code))
            found = std::max(found, code.architecture);
    return found;
}

} // namespace

Architectures architectures_of(const void* image, int device)
{
    const std::vector<Code> codes = codes_of(image);
    const auto runs = [device](const Code& code) {
        return !code.ptx && code.architecture / 10 == device / 10 && code.architecture <= device;
    };
    if (const int binary = newest(codes, runs))
        return {binary, binary};
    const auto can_be_compiled = [device](const Code& code) {
        return code.ptx && code.architecture <= device;
    };
    if (const int ptx = newest(codes, can_be_compiled))
        return {ptx, device};
    if (const int other = newest(codes, [](const Code&) { return true; }))
        return {other, other};
    return {device, device};
}

} // namespace simgpu
