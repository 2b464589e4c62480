// report/reach/memory/process_memory.cpp — the registers of a thread that stood still.
#include "report/reach/memory/process_memory.hpp"

#include <cstring>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace vramscope::report {
namespace {

#if defined(__x86_64__)
constexpr const char* kRegisters[] = {"r15", "r14",      "r13", "r12", "rbp",    "rbx", "r11",
                                      "r10", "r9",       "r8",  "rax", "rcx",    "rdx", "rsi",
                                      "rdi", "orig_rax", "rip", "cs",  "eflags", "rsp"};
constexpr std::size_t kStackPointer = 19, kThreadPointer = 21, kSystemCall = 15, kGeneral = 27;
constexpr std::size_t kVectorsAt = 160, kVectorBytes = 16, kVectors = 16; // in user_fpregs_struct
#elif defined(__aarch64__)
constexpr const char* kRegisters[] = {"x0"};
constexpr std::size_t kStackPointer = 31, kThreadPointer = SIZE_MAX;
constexpr std::size_t kSystemCall = SIZE_MAX, kGeneral = SIZE_MAX;
constexpr std::size_t kVectorsAt = 0, kVectorBytes = 16, kVectors = 0;
#endif
constexpr std::size_t kWordsOfVector = kVectorBytes / sizeof(std::uint64_t);

} // namespace

std::string register_name(std::size_t index)
{
    if (index >= kGeneral && index < kGeneral + kVectors * kWordsOfVector)
        return fmt::format("xmm{}", (index - kGeneral) / kWordsOfVector);
    return index < std::size(kRegisters) ? kRegisters[index] : fmt::format("number {}", index);
}

// Nothing in them outlives a call of a function, nor of the kernel's through the C library.
void add_vectors(SeenThread& thread, const void* state, std::size_t bytes)
{
    const bool runs = kSystemCall < thread.registers.size() &&
                      static_cast<std::int64_t>(thread.registers[kSystemCall]) < 0;
    if (!runs || thread.registers.size() != kGeneral ||
        bytes < kVectorsAt + kVectors * kVectorBytes)
        return;
    thread.registers.resize(kGeneral + kVectors * kWordsOfVector);
    std::memcpy(&thread.registers[kGeneral], static_cast<const char*>(state) + kVectorsAt,
                kVectors * kVectorBytes);
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
