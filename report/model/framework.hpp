// report/model/framework.hpp — a framework of the program that has an allocator of its own.
#pragma once

#include <string>

namespace vramscope::report {

struct FrameworkUse {
    std::string name;    // "JAX"
    std::string library; // the path of the library that showed it; empty: none did
    bool bypassed = false;
    std::string
        bypassed_by; // "XLA_PYTHON_CLIENT_ALLOCATOR=platform"; empty: the program's own call
};

} // namespace vramscope::report
