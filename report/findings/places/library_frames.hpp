// report/findings/places/library_frames.hpp — which frames are code of libraries made of templates.
//
// CUDA programs are compiled with CCCL (Thrust, CUB, libcu++), the C++ standard library and the
// headers of the toolkit.
//
// Their templates become code of the user's module, so the namespace tells them apart, wherever the
// headers lie; and the header's path, where the namespace says nothing. What users write
// themselves stays theirs: a namespace of a similar name, a lambda that a library calls, and what
// they specialise of namespace std in files of their own.
#pragma once

#include <string_view>
#include <vector>

#include "report/model/call_place.hpp"

namespace vramscope::report {

bool is_library(const Frame& frame);

// The namespaces and classes that a function lies in, outermost first and without their template
// arguments: "thrust", "detail" of "void thrust::detail::fill<int>(int*)". Of what lies inside a
// function, up to that function.
std::vector<std::string_view> scopes_of(std::string_view function);

} // namespace vramscope::report
