// interpose/actions/wrappers.cpp — the functions that we export: one for each row of the table.
//
// One whose row disagrees with cuda.h does not compile ("conflicting declaration").
#include "interpose/actions/allocations.hpp"
#include "interpose/actions/frees.hpp"
#include "interpose/actions/graphs.hpp"
#include "interpose/actions/intercept.hpp"
#include "interpose/actions/mappings.hpp"
#include "interpose/actions/owners.hpp"
#include "interpose/actions/questions.hpp"

using namespace vramscope::hooks; // the actions are named in the table

#define VRAMSCOPE_HOOK(symbol, base, since, streams, effect, memory, parameters, arguments,        \
                       action)                                                                     \
    extern "C" __attribute__((visibility("default"))) CUresult CUDAAPI symbol parameters           \
    {                                                                                              \
        const vramscope::log::CallSite site = VRAMSCOPE_CALL_SITE;                                 \
        return intercept<decltype(&::symbol)>(                                                     \
            Hook::symbol, site, action, [&](decltype(&::symbol) real) { return real arguments; }); \
    }
#include "interpose/hooks/hook_table.def"
