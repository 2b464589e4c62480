// tests/gpu/facts/books.cpp — where in the process the driver keeps the addresses that it has given
// out: a search for leaked memory by what points to it must not count these.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "tests/gpu/facts/facts.hpp"

namespace facts {
namespace {

constexpr std::uintptr_t kHidden =
    0x5a5a5a5a5a5a5a5aULL; // an address is kept in a form that is not found
constexpr int kShifts[] = {0, 8, 9, 12, 16, 21};

/// How often the address is in each mapping, as it is or shifted.
using Places = std::map<std::pair<int, std::string>, std::size_t>;

void count(const std::vector<std::uintptr_t>& words, std::size_t many, std::uintptr_t hidden,
           const Mapping& mapping, Places& places)
{
    for (std::size_t i = 0; i < many; ++i)
        for (const int shift : kShifts)
            if (words[i] == (hidden ^ kHidden) >> shift)
                ++places[{shift, mapping.name + " " + mapping.permissions}];
}

Places search(std::uintptr_t hidden)
{
    Places places;
    std::vector<std::uintptr_t> words(std::size_t{1} << 17);
    const std::size_t size = words.size() * sizeof(words[0]);
    const int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    const auto own = reinterpret_cast<std::uintptr_t>(words.data());
    for (const Mapping& one : mappings()) {
        if (one.permissions[0] != 'r' || one.name.find("nvidia-uvm") != std::string::npos ||
            (one.begin <= own && own < one.end))
            continue;
        for (std::uintptr_t at = one.begin; at < one.end; at += size) {
            const ssize_t got =
                pread(memory, words.data(), std::min(one.end - at, size), static_cast<off_t>(at));
            if (got <= 0)
                break;
            count(words, static_cast<std::size_t>(got) / sizeof(words[0]), hidden, one, places);
        }
    }
    close(memory);
    std::memset(words.data(), 0, size);
    return places;
}

void tell(const char* what, const Places& places)
{
    std::string text;
    for (const auto& [place, found] : places)
        text += std::string{text.empty() ? "" : "; "} + std::to_string(found) + " in " +
                place.second +
                (place.first != 0 ? ", shifted by " + std::to_string(place.first) : "");
    std::printf("%s: %s\n", what, text.empty() ? "nowhere" : text.c_str());
}

template <class Allocate, class Free>
void follow(const char* what, Allocate allocate, Free release)
{
    std::array<std::uintptr_t, 4> hidden{};
    for (std::uintptr_t& block : hidden)
        block = allocate() ^ kHidden;
    CHECK(cudaDeviceSynchronize());
    tell(what, search(hidden[1]));
    for (const std::uintptr_t block : hidden)
        release(block ^ kHidden);
    CHECK(cudaDeviceSynchronize());
    tell((std::string{what} + ", freed").c_str(), search(hidden[1]));
}

} // namespace

void tell_books()
{
    const auto device = [](std::size_t size) {
        return [size] {
            void* block = nullptr;
            CHECK(cudaMalloc(&block, size));
            return reinterpret_cast<std::uintptr_t>(block);
        };
    };
    const auto free_device = [](std::uintptr_t block) {
        CHECK(cudaFree(reinterpret_cast<void*>(block)));
    };
    follow("cudaMalloc of 64 MiB", device(std::size_t{64} << 20), free_device);
    follow("cudaMalloc of 4 KiB", device(4096), free_device);
    follow(
        "cudaMallocAsync of 4 MiB",
        [] {
            void* block = nullptr;
            CHECK(cudaMallocAsync(&block, std::size_t{4} << 20, nullptr));
            return reinterpret_cast<std::uintptr_t>(block);
        },
        [](std::uintptr_t block) {
            CHECK(cudaFreeAsync(reinterpret_cast<void*>(block), nullptr));
        });
    follow(
        "cudaMallocHost of 4 MiB",
        [] {
            void* block = nullptr;
            CHECK(cudaMallocHost(&block, std::size_t{4} << 20));
            return reinterpret_cast<std::uintptr_t>(block);
        },
        [](std::uintptr_t block) { CHECK(cudaFreeHost(reinterpret_cast<void*>(block))); });
    follow(
        "cuMemAddressReserve of 64 MiB",
        [] {
            CUdeviceptr reserved = 0;
            (void)cuMemAddressReserve(&reserved, std::size_t{64} << 20, 0, 0, 0);
            return static_cast<std::uintptr_t>(reserved);
        },
        [](std::uintptr_t block) { (void)cuMemAddressFree(block, std::size_t{64} << 20); });
}

} // namespace facts
