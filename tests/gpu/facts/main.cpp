// tests/gpu/facts/main.cpp — the parts, and what they share.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "tests/gpu/facts/facts.hpp"

namespace facts {

std::string name_of(CUresult result)
{
    const char* name = nullptr;
    if (result == CUDA_SUCCESS)
        return "OK";
    return cuGetErrorName(result, &name) == CUDA_SUCCESS
               ? std::string{name}.substr(std::strlen("CUDA_ERROR_"))
               : std::to_string(result);
}

std::string name_of(cudaError_t result)
{
    return result == cudaSuccess
               ? "OK"
               : std::string{cudaGetErrorName(result)}.substr(std::strlen("cudaError"));
}

void require(CUresult result)
{
    if (result != CUDA_SUCCESS) {
        std::printf("error %s\n", name_of(result).c_str());
        std::exit(1);
    }
}

std::size_t free_bytes()
{
    std::size_t free = 0, total = 0;
    CHECK(cudaMemGetInfo(&free, &total));
    return free;
}

std::ptrdiff_t fall_since(std::size_t before)
{
    return static_cast<std::ptrdiff_t>(before) - static_cast<std::ptrdiff_t>(free_bytes());
}

CUmemAllocationProp on_device()
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return properties;
}

CUmemPoolProps pool_on_device()
{
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return properties;
}

std::vector<Mapping> mappings()
{
    std::vector<Mapping> all;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t begin = 0, end = 0;
        char permissions[5] = "", name[256] = "anonymous";
        std::sscanf(line.c_str(), "%lx-%lx %4s %*s %*s %*s %255[^\n]", &begin, &end, permissions,
                    name);
        all.push_back({begin, end, permissions, name});
    }
    return all;
}

} // namespace facts

int main(int argc, char** argv)
{
    using namespace facts;
    const std::map<std::string, void (*)()> parts = {
        {"waits", tell_waits},       {"errors", tell_errors},   {"layout", tell_layout},
        {"contents", tell_contents}, {"objects", tell_objects}, {"hosts", tell_hosts},
        {"books", tell_books},       {"outputs", tell_outputs}, {"imports", tell_imports},
    };
    const std::string part = argc > 1 ? argv[1] : "";
    if (part == "lookups") {
        tell_lookups({argv + 2, argv + argc});
        return 0;
    }
    const auto found = parts.find(part);
    if (found == parts.end()) {
        std::fprintf(stderr, "Usage: driver_facts PART | lookups NAMES...\n");
        return 125;
    }
    CHECK(cudaFree(nullptr)); // the context
    found->second();
    return 0;
}
