// interpose/actions/owners.cpp — where the memory of CUDA's own pools lies.
#include "interpose/actions/owners.hpp"

namespace vramscope::hooks {
namespace {

constexpr int kManaged = 2; // CU_MEM_ALLOCATION_TYPE_MANAGED, new in CUDA 13.0

} // namespace

void CreatesMempool::succeeded(Call& call)
{
    record_allocation(call, number(*out), 0, place_now(call));
    note_mempool(call.thread, {number(*out), props->location.type, props->location.id,
                               props->allocType == kManaged});
}

void GetsMempool::succeeded(Call& call)
{
    note_mempool(call.thread, {number(*out), location->type, location->id, type == kManaged});
}

} // namespace vramscope::hooks
