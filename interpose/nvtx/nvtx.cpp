// interpose/nvtx/nvtx.cpp — the program's NVTX ranges and marks, as phases of the log.
//
// NVTX loads the library that NVTX_INJECTION64_PATH names (`vramscope run` sets it, unless the
// program has a tool of its own there) and calls InitializeInjectionNvtx2 once per library that
// contains NVTX. We fill the push, pop, mark and registered-string slots and answer what a program
// without a tool gets. Ranges that start and end on different threads (nvtxRangeStart) are not
// phases of a thread and are left alone. CCCL (Thrust and CUB) has a range around each of its
// algorithms, in a domain of its own: these are no phases of the program, and left out.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "interpose/nvtx/text.hpp"
#include "interpose/serve/contexts/device_memory.hpp"
#include "tracker/capture/arena.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/lifecycle/ranges.hpp"

namespace {

using namespace vramscope;
using nvtx::with_text;

constexpr int kNotTracked = -2; // what nvtxRangePush and Pop return when no tool is there

constexpr std::string_view kCcclDomain = "CCCL";
char cccl_domain; // its address is the handle of that domain; all others have none

constinit capture::Lock strings_lock;
constinit capture::Arena strings;

// A registered string's handle is our copy of its text.
char* keep(std::string_view text)
{
    const std::lock_guard guard(strings_lock);
    auto* copy = static_cast<char*>(strings.allocate(text.size() + 1));
    if (copy) {
        std::memcpy(copy, text.data(), text.size());
        copy[text.size()] = '\0';
    }
    return copy;
}

template <class Use>
void with_message(const nvtxEventAttributes_t* event, Use use)
{
    if (event)
        nvtx::with_message(static_cast<std::uint32_t>(event->messageType), event->message, use);
    else
        use(std::string_view());
}

void mark(std::string_view name)
{
    log::mark(name);
    hooks::moment_named();
}
void mark_ex(const nvtxEventAttributes_t* event)
{
    with_message(event, &mark);
}
template <class Char>
void mark_text(const Char* text)
{
    with_text(text, &mark);
}
int push_ex(const nvtxEventAttributes_t* event)
{
    with_message(event, &log::push_range);
    return kNotTracked;
}
template <class Char>
int push_text(const Char* text)
{
    with_text(text, &log::push_range);
    return kNotTracked;
}
int pop()
{
    log::pop_range();
    return kNotTracked;
}
template <class Char>
nvtxDomainHandle_t domain_create(const Char* name)
{
    const bool is_cccl = with_text(name, [](std::string_view text) { return text == kCcclDomain; });
    return is_cccl ? reinterpret_cast<nvtxDomainHandle_t>(&cccl_domain) : nullptr;
}
bool is_of_cccl(nvtxDomainHandle_t domain)
{
    return reinterpret_cast<char*>(domain) == &cccl_domain;
}
void domain_mark_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event)
{
    if (!is_of_cccl(domain))
        mark_ex(event);
}
int domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event)
{
    return is_of_cccl(domain) ? kNotTracked : push_ex(event);
}
int domain_pop(nvtxDomainHandle_t domain)
{
    return is_of_cccl(domain) ? kNotTracked : pop();
}
template <class Char>
nvtxStringHandle_t register_text(nvtxDomainHandle_t, const Char* text)
{
    return reinterpret_cast<nvtxStringHandle_t>(with_text(text, &keep));
}

template <class Function>
void fill(NvtxFunctionTable table, unsigned size, unsigned slot, Function function)
{
    if (slot < size && table[slot])
        *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table)
{
    if (!get_export_table)
        return 0;
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned size = 0;
    if (!callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) {
        fill(table, size, NVTX_CBID_CORE_MarkEx, &mark_ex);
        fill(table, size, NVTX_CBID_CORE_MarkA, &mark_text<char>);
        fill(table, size, NVTX_CBID_CORE_MarkW, &mark_text<wchar_t>);
        fill(table, size, NVTX_CBID_CORE_RangePushEx, &push_ex);
        fill(table, size, NVTX_CBID_CORE_RangePushA, &push_text<char>);
        fill(table, size, NVTX_CBID_CORE_RangePushW, &push_text<wchar_t>);
        fill(table, size, NVTX_CBID_CORE_RangePop, &pop);
    }
    if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) {
        fill(table, size, NVTX_CBID_CORE2_DomainCreateA, &domain_create<char>);
        fill(table, size, NVTX_CBID_CORE2_DomainCreateW, &domain_create<wchar_t>);
        fill(table, size, NVTX_CBID_CORE2_DomainMarkEx, &domain_mark_ex);
        fill(table, size, NVTX_CBID_CORE2_DomainRangePushEx, &domain_push_ex);
        fill(table, size, NVTX_CBID_CORE2_DomainRangePop, &domain_pop);
        fill(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, &register_text<char>);
        fill(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, &register_text<wchar_t>);
    }
    return 1;
}
