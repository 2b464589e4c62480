// report/reach/memory/process_memory.cpp — the registers of a thread that stood still.
#include "report/reach/memory/process_memory.hpp"

#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

#if defined(__x86_64__)
constexpr const char* kRegisters[] = {"r15", "r14",      "r13", "r12", "rbp",    "rbx", "r11",
                                      "r10", "r9",       "r8",  "rax", "rcx",    "rdx", "rsi",
                                      "rdi", "orig_rax", "rip", "cs",  "eflags", "rsp"};
constexpr std::size_t kStackPointer = 19, kThreadPointer = 21;
#elif defined(__aarch64__)
constexpr const char* kRegisters[] = {"x0"};
constexpr std::size_t kStackPointer = 31, kThreadPointer = SIZE_MAX;
#endif

} // namespace

std::string register_name(std::size_t index)
{
    return index < std::size(kRegisters) ? kRegisters[index] : fmt::format("number {}", index);
}

SeenThread thread_with(std::uint32_t tid, std::vector<std::uint64_t> registers)
{
    SeenThread thread{tid, 0, 0, {}};
    if (kStackPointer < registers.size())
        thread.stack_pointer = registers[kStackPointer];
    if (kThreadPointer < registers.size())
        thread.thread_pointer = registers[kThreadPointer];
    thread.registers = std::move(registers);
    return thread;
}

} // namespace vramscope::report
