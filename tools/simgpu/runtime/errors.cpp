// tools/simgpu/runtime/errors.cpp — names of errors, and functions that are not simulated.
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "tools/simgpu/runtime/call.hpp"
#include "tools/simgpu/runtime/not_simulated.hpp"

using namespace simgpu::runtime;

namespace {

struct ErrorName {
    cudaError_t error;
    const char* name;
};
constexpr ErrorName kErrors[] = {
#include "runtime_results.inc"
};

struct ErrorText {
    const char* name;
    std::string words; // "cudaErrorMemoryAllocation" reads "memory allocation"
};

std::string words_of(std::string_view name)
{
    if (name == "cudaSuccess")
        return "no error";
    if (name == "cudaErrorMemoryAllocation")
        return "out of memory";
    std::string words;
    for (const char letter : name.substr(sizeof "cudaError" - 1)) {
        const bool starts_word = std::isupper(static_cast<unsigned char>(letter)) != 0;
        if (starts_word && !words.empty())
            words += ' ';
        words += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return words;
}

const std::map<int, ErrorText>& texts()
{
    static const auto* all = [] {
        auto* made = new std::map<int, ErrorText>;
        for (const ErrorName& known : kErrors)
            made->emplace(known.error, ErrorText{known.name, words_of(known.name)});
        return made;
    }();
    return *all;
}

} // namespace

namespace simgpu::runtime {

int not_simulated(const char* name)
{
    static auto* mutex = new std::mutex;
    static auto* told = new std::set<const char*>;
    const std::lock_guard lock(*mutex);
    if (told->insert(name).second)
        std::fprintf(stderr, "simgpu: %s is not simulated; it answers cudaErrorNotSupported\n",
                     name);
    return remember(cudaErrorNotSupported);
}

} // namespace simgpu::runtime

SIMGPU_RUNTIME const char* cudaGetErrorName(cudaError_t error)
{
    const auto found = texts().find(error);
    return found == texts().end() ? "unrecognized error code" : found->second.name;
}

SIMGPU_RUNTIME const char* cudaGetErrorString(cudaError_t error)
{
    const auto found = texts().find(error);
    return found == texts().end() ? "unrecognized error code" : found->second.words.c_str();
}
