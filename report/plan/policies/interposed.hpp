// report/plan/policies/interposed.hpp — our own pool, by its own code, over a device that counts.
//
// What is freed waits for a synchronisation of the device, whatever stream it was used on. The
// program is taken to have one thread: with more, the pool of a context is several.
#pragma once

#include <memory>
#include <string_view>

#include "interpose/pool/epochs.hpp"
#include "interpose/pool/options.hpp"
#include "interpose/pool/upstream.hpp"
#include "report/plan/policies/driver_pages.hpp"
#include "report/plan/replay/policy.hpp"
#include "report/replay/lookup/flat_map.hpp"

namespace vramscope::report::plan {

// The driver, as the pool sees it.
class CountedUpstream {
public:
    struct Lock { // one thread
        void lock() noexcept {}
        void unlock() noexcept {}
    };
    static constexpr int kOutOfMemory = 2;

    explicit CountedUpstream(CountedDevice& device) : pages_(device) {}

    int allocate(std::uint64_t bytes, pool::Address& address);
    int release(pool::Address address, pool::Release why);
    int synchronise();
    void make_room() {}
    pool::Traffic traffic() { return {}; } // one thread
    void pause(int) {}

    pool::Epochs epochs;

private:
    DriverPages pages_;
    FlatMap<std::uint64_t> bytes_; // by address
    int domain_ = epochs.add_domain();
};

struct InterposedOptions {
    pool::Options pool;  // but allowed_bytes, which goes with the device
    double fraction = 0; // per_process_memory_fraction; 0: not set
    bool strict = false; // each free waits for the device
};

// VRAMSCOPE_WAIT_FROM and the others by their names in small letters; those that are not there are
// as a program has them that sets none. Throws Error.
InterposedOptions parse_interposed_options(std::string_view knobs);

std::unique_ptr<Policy> make_cache_policy(CountedDevice& device, const InterposedOptions& options);
std::unique_ptr<Policy> make_split_policy(CountedDevice& device, const InterposedOptions& options);

} // namespace vramscope::report::plan
