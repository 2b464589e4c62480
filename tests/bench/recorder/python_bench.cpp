// tests/bench/recorder/python_bench.cpp — ns that frames of Python add to an event.
//
// python_bench LIBPYTHON [FUNCTIONS]: that CPython runs so many functions (29), one in another and
// each with a code object of its own, and the innermost measures. It prints how many frames there
// are, and the ns to find the thread's state; to compare its frames where no code object was freed
// since they were; the same where one was; and to collect them, as for a stack that is not the
// expected one. Each is the least of 300 times 200 in a row. 77: the frames are not known.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>

#include "tracker/capture/python/walk.hpp"

using namespace vramscope::capture::python;

namespace {

template <class Action>
double least_ns(Action action)
{
    constexpr int kTimes = 300;
    constexpr int kInARow = 200;
    double least = 1e9;
    for (int time = 0; time < kTimes; ++time) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < kInARow; ++i) {
            asm volatile("" ::: "memory"); // nothing is carried from one to the next
            action();
        }
        const std::chrono::duration<double, std::nano> took =
            std::chrono::steady_clock::now() - begin;
        least = std::min(least, took.count() / kInARow);
    }
    return least;
}

constexpr int kUnknown = 77;
int status = kUnknown;

void measure()
{
    Interpreter interpreter;
    Layout layout;
    const char* why = nullptr;
    if (!find_interpreter(interpreter) || !find_layout(interpreter, layout, why))
        return;
    const std::uintptr_t state = interpreter.state();
    std::vector<std::uintptr_t> words(kMostWords);
    std::vector<std::uintptr_t> steps(kMostFrames);
    std::vector<std::uintptr_t> others(kMostWords);
    words.resize(collect(layout, state, words.data()).words);
    steps.resize(collect_steps(layout, state, steps.data()));
    bool right = true;
    const auto compare = [&](Codes codes) {
        return least_ns([&] { right &= matches(layout, state, words, steps.data(), codes); });
    };
    volatile std::uintptr_t kept = 0;
    const double found = least_ns([&] { kept = interpreter.state(); });
    const double same = compare(Codes::are_the_same);
    const double other = compare(Codes::may_differ);
    const double collected = least_ns([&] { kept = collect(layout, state, others.data()).words; });
    std::printf("%zu %.1f %.1f %.1f %.1f\n", steps.size(), found, same, other, collected);
    status = right ? 0 : 1;
}

} // namespace

int main(int count, char** arguments)
{
    constexpr int kFunctions = 29;
    const int functions = count > 2 ? std::atoi(arguments[2]) : kFunctions;
    void* const python = count > 1 ? ::dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL) : nullptr;
    if (!python) {
        std::fprintf(stderr, "python_bench LIBPYTHON [FUNCTIONS]\n");
        return 1;
    }
    reinterpret_cast<void (*)(int)>(::dlsym(python, "Py_InitializeEx"))(0);
    std::string program = "import ctypes\nf0 = ctypes.CFUNCTYPE(None)(" +
                          std::to_string(reinterpret_cast<std::uintptr_t>(&measure)) + ")\n";
    for (int at = 1; at <= functions; ++at)
        program +=
            "def f" + std::to_string(at) + "():\n    return f" + std::to_string(at - 1) + "()\n";
    program += "f" + std::to_string(functions) + "()\n";
    using Run = int (*)(const char*, void*);
    const auto run = reinterpret_cast<Run>(::dlsym(python, "PyRun_SimpleStringFlags"));
    return run(program.c_str(), nullptr) == 0 ? status : 1;
}
