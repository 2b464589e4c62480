// tools/output/fmt_functions.cpp — the functions of fmt, as a part of the command.
//
// As a library they would be one more file to load at each start, and bring the C++ library's own
// files along. What another version of fmt has besides still comes from its library.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template FMT_API auto thousands_sep_impl<char>(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
template FMT_API auto dragonbox::to_decimal(float) -> dragonbox::decimal_fp<float>;
template FMT_API auto dragonbox::to_decimal(double) -> dragonbox::decimal_fp<double>;

} // namespace detail
FMT_END_NAMESPACE
