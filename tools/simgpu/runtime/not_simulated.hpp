// tools/simgpu/runtime/not_simulated.hpp — the answer of every runtime function that has no body.
#pragma once

namespace simgpu::runtime {

// Answers cudaErrorNotSupported, and says so once for each name, which is a literal.
int not_simulated(const char* name);

} // namespace simgpu::runtime
