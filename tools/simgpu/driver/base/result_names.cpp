// tools/simgpu/driver/base/result_names.cpp — cuGetErrorName and cuGetErrorString.
#include <algorithm>
#include <cctype>
#include <map>
#include <string>

#include "api.hpp"

namespace simgpu {
namespace {

struct ResultName {
    CUresult result;
    const char* name;
};
constexpr ResultName kResults[] = {
#include "results.inc"
};

const char* name_of(CUresult result)
{
    const auto* const row =
        std::find_if(std::begin(kResults), std::end(kResults),
                     [result](const ResultName& known) { return known.result == result; });
    return row == std::end(kResults) ? nullptr : row->name;
}

// "CUDA_ERROR_OUT_OF_MEMORY" reads "out of memory".
std::string words_of(const char* name)
{
    std::string words = name;
    words = words == "CUDA_SUCCESS" ? "NO_ERROR" : words.substr(sizeof "CUDA_ERROR_" - 1);
    for (char& letter : words)
        letter = letter == '_'
                     ? ' '
                     : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    return words;
}

} // namespace

namespace api {

CUresult cuGetErrorName(CUresult error, const char** pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    *pStr = name_of(error);
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** pStr)
{
    if (!pStr)
        return CUDA_ERROR_INVALID_VALUE;
    static const auto* all = [] {
        auto* made = new std::map<CUresult, std::string>;
        for (const ResultName& known : kResults)
            made->emplace(known.result, words_of(known.name));
        return made;
    }();
    const auto found = all->find(error);
    *pStr = found == all->end() ? nullptr : found->second.c_str();
    return *pStr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace api
} // namespace simgpu
