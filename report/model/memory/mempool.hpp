// report/model/memory/mempool.hpp — what one of the driver's own pools held at one moment.
#pragma once

#include <algorithm>
#include <cstdint>

#include "report/model/call_place.hpp"

namespace vramscope::report {

// The call is the first that took from the pool; no stack: none was seen.
struct Mempool : CallPlace {
    std::uint64_t handle = 0; // 0: the device's default pool
    std::uint64_t ns = 0;     // since the log was opened
    std::uint64_t reserved = 0;
    std::uint64_t used = 0;
    std::uint64_t maximum = 0; // that the program set it; 0: none

    bool is_default() const noexcept { return handle == 0; }
    std::uint64_t kept() const noexcept { return reserved - std::min(reserved, used); }
};
template <>
struct Fields<Mempool> {
    static constexpr const char* kName = "mempool";
    static constexpr const char* kSays = "One of the driver's own pools (cudaMallocAsync), as the "
                                         "driver told of it. The stack is the first that took from "
                                         "it.";
    static constexpr auto kAll = joined(
        FieldList{Field{"default", &Mempool::is_default, "The device's default pool."},
                  Field{"ns", &Mempool::ns},
                  Field{"reserved_bytes", &Mempool::reserved, "Taken from the device."},
                  Field{"used_bytes", &Mempool::used, "Given out, of these."},
                  Field{"kept_bytes", &Mempool::kept, "Kept after their frees."},
                  Field{"maximum_bytes", OrNull{&Mempool::maximum},
                        "That the program set it as it made it."},
                  Field{"api", &CallPlace::api}, Field{"entry_point", &CallPlace::entry_point}},
        kStack);
};

} // namespace vramscope::report
