// tests/programs/look_ups.cpp — asks cuGetProcAddress, both forms, for every name, version and flag; prints each answer.
//
// Usage: look_ups FILE_OF_NAMES. A line for each: form name version flags result status answer. The out-parameters
// hold a mark before each call, so that "untouched" can be told from "set to null".
#include <dlfcn.h>
#include <fstream>
#include <string>

#include "tests/programs/driver_program.hpp"
#include "tests/programs/where.hpp"

namespace {

constexpr int kVersions[] = { 0, 1999, 2000, 2020, 3020, 4000, 4010, 5000, 6000, 6050, 7000, 8000, 9000, 10000, 10020,
    11000, 11020, 11030, 11040, 12000, 12020, 12050, 13000, 99000 };
constexpr unsigned kFlags[] = { 0, 1, 2, 3, 64 };  // the last two are wrong
constexpr int kUntouchedStatus = 7;  // no status has this number
char untouched;

const char* answer_of(void* function) { return function == &untouched ? "untouched" : where(function); }

void ask_v1(const std::string& name, int version, unsigned flags)
{
    static const auto find = reinterpret_cast<decltype(&cuGetProcAddress)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress"));
    void* function = &untouched;
    const CUresult result = find(name.c_str(), &function, version, flags);
    std::printf("v1 %s %d %u %d - %s\n", name.c_str(), version, flags, static_cast<int>(result), answer_of(function));
}

void ask_v2(const std::string& name, int version, unsigned flags, bool with_status)
{
    static const auto find = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2"));
    void* function = &untouched;
    CUdriverProcAddressQueryResult status;
    std::memcpy(&status, &kUntouchedStatus, sizeof status);
    const CUresult result = find(name.c_str(), &function, version, flags, with_status ? &status : nullptr);
    std::printf("%s %s %d %u %d %d %s\n", with_status ? "v2" : "v2_no_status", name.c_str(), version, flags,
        static_cast<int>(result), static_cast<int>(status), answer_of(function));
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2)
        return 2;
    std::ifstream names(argv[1]);
    for (std::string name; std::getline(names, name);)
        for (const int version : kVersions)
            for (const unsigned flags : kFlags) {
                ask_v1(name, version, flags);
                ask_v2(name, version, flags, true);
                ask_v2(name, version, flags, false);
            }
    const auto find = reinterpret_cast<decltype(&cuGetProcAddress_v2)>(dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuGetProcAddress_v2"));
    std::printf("no name %d\n", static_cast<int>(find(nullptr, nullptr, 0, 0, nullptr)));
    std::printf("no pointer %d\n", static_cast<int>(find("cuMemAlloc", nullptr, 12000, 0, nullptr)));
    return 0;
}
