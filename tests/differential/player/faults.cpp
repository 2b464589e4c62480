// tests/differential/player/faults.cpp — the simulated GPU's controls: counts and faults.
#include <dlfcn.h>

#include "tests/differential/player/operations.hpp"
#include "tests/differential/player/questions.hpp"
#include "tools/simgpu/simgpu.h"

namespace differential {
namespace {

decltype(&simgpu_set_fault) set_fault = nullptr;
decltype(&simgpu_clear_faults) clear_all = nullptr;

constexpr const char* kHooked[] = {
#define VRAMSCOPE_HOOK(symbol, ...) #symbol,
#include "interpose/hooks/hook_table.def"
};

} // namespace

bool find_controls(void (*observer)(const char*, int))
{
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return false;
    const auto find = [driver](auto& function, const char* name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(driver, name));
        return function != nullptr;
    };
    decltype(&simgpu_set_observer) set_observer = nullptr;
    if (!find(set_fault, "simgpu_set_fault") || !find(clear_all, "simgpu_clear_faults") ||
        !find(set_observer, "simgpu_set_observer"))
        return false;
    set_observer(observer);
    return true;
}

// A question fails for every asker and until the sequence ends: how often it is asked is what
// differs. So may how often a function is called, with a pool: then its next call fails, or none.
void arm_fault(World& world)
{
    const int code = world.rng().one_of<int>({CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE,
                                              CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_NOT_SUPPORTED,
                                              CUDA_ERROR_UNKNOWN});
    if (world.profile().question_faults && world.rng().chance(50)) {
        const char* const name = kQuestions[world.rng().below(std::size(kQuestions))];
        world.text() << "  fault " << name << " always " << code << "\n";
        set_fault(name, 0, code);
        return;
    }
    // What is called more often, or not, when traced would take the failure from another call.
    const char* const name = kHooked[world.rng().below(std::size(kHooked))];
    const bool pool = world.profile().pool != Pool::off;
    if (world.profile().pool == Pool::split && is_among(name, kSplit))
        return;
    if (is_among(name, kQuestions) ||
        (pool && (is_among(name, kPooled) || is_among(name, kPoolCalls))))
        return;
    const unsigned long long call = pool ? 1 : 1 + world.rng().below(2);
    if (pool && code == CUDA_ERROR_OUT_OF_MEMORY) // the call is made again, and succeeds
        return;
    world.text() << "  fault " << name << " " << std::uint64_t{call} << " " << code << "\n";
    set_fault(name, call, code);
}

void clear_faults()
{
    clear_all();
}

} // namespace differential
