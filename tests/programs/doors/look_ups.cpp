// tests/programs/doors/look_ups.cpp — prints what cuGetProcAddress and dlsym answer.
//
// It asks both forms of cuGetProcAddress, and calls cuInit at the end.
//
// Usage: look_ups FILE, of lines "name version flags"; a name "-" is empty. A line for each answer:
// form name version flags result status answer. The out-parameters hold a mark before each call:
// what was not touched is told so.
#include <dlfcn.h>
#include <fstream>
#include <string>

#include "tests/programs/doors/where.hpp"
#include "tests/programs/driver_program.hpp"

namespace {

constexpr int kUntouchedStatus = 7; // no status has this number
char untouched;

const char* answer_of(void* function)
{
    return function == &untouched ? "untouched" : where(function);
}

template <class Function>
Function* from_driver(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), name));
}

void ask_v1(const std::string& name, int version, unsigned flags)
{
    static auto* const find = from_driver<decltype(cuGetProcAddress)>("cuGetProcAddress");
    void* function = &untouched;
    const CUresult result = find(name.c_str(), &function, version, flags);
    std::printf("v1 %s %d %u %d - %s\n", name.c_str(), version, flags, static_cast<int>(result),
                answer_of(function));
}

void ask_v2(const std::string& name, int version, unsigned flags, bool with_status)
{
    static auto* const find = from_driver<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2");
    if (!find)
        return; // a driver from before CUDA 12
    void* function = &untouched;
    CUdriverProcAddressQueryResult status;
    std::memcpy(&status, &kUntouchedStatus, sizeof status);
    const CUresult result =
        find(name.c_str(), &function, version, flags, with_status ? &status : nullptr);
    std::printf("%s %s %d %u %d %d %s\n", with_status ? "v2" : "v2_no_status", name.c_str(),
                version, flags, static_cast<int>(result), static_cast<int>(status),
                answer_of(function));
}

void ask_dlsym(const std::string& name)
{
    static std::string last;
    if (name != last)
        std::printf("dlsym %s %s\n", name.c_str(), answer_of(from_driver<void>(name.c_str())));
    last = name;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    std::ifstream list(argv[1]);
    std::string name;
    int version = 0;
    unsigned flags = 0;
    while (list >> name >> version >> flags) {
        if (name == "-")
            name.clear();
        ask_v1(name, version, flags);
        ask_v2(name, version, flags, true);
        ask_v2(name, version, flags, false);
        ask_dlsym(name);
    }
    from_driver<decltype(cuInit)>("cuInit")(0);
    return 0; // without a name, or a place for the answer, NVIDIA's driver crashes
}
