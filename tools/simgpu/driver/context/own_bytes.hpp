// tools/simgpu/driver/context/own_bytes.hpp — what the driver takes of a device for its objects.
//
// How much, VRAMSCOPE_SIM_TAKES says. All objects of a device share steps of 2 MiB, so that what
// is used changes by such a step at one of several objects. A context that ends gives back what was
// taken for what was made in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simgpu {

struct Context;

class OwnBytes {
public:
    // False: the device does not have that many left.
    bool take(Context& context, std::size_t bytes);
    void give();

private:
    Context* context_ = nullptr;
    std::uint64_t context_id_ = 0;
    std::size_t bytes_ = 0;
};

} // namespace simgpu
