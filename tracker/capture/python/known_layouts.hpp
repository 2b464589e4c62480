// tracker/capture/python/known_layouts.hpp — the offsets of x86-64 release builds, as constants.
//
// The walk of every event needs them. Each of the three ways in which frames are linked (Nesting)
// has one layout, from which later versions differ in few members; first_in() says in which.
#pragma once

#include "tracker/capture/python/layout.hpp"

namespace vramscope::capture::python {

inline constexpr Layout kPython38{.minor = 8,
                                  .nesting = Nesting::call_each,
                                  .lines = format::LineTable::line_numbers,
                                  .top_is_indirect = false,
                                  .top = 24,
                                  .top_inside = 0,
                                  .outer_call = 0,
                                  .interpreter = 0,
                                  .interpreter_id = 0,
                                  .back = 24,
                                  .code = 32,
                                  .instruction = 104,
                                  .is_entry = 0,
                                  .owner = 0,
                                  .file = 104,
                                  .name = 112,
                                  .first_line = 40,
                                  .line_table = 120,
                                  .bytecode = 0,
                                  .first_traceable = 0,
                                  .version = 0,
                                  .ascii = 48,
                                  .wide = 72};

inline constexpr Layout kPython39 = [] {
    Layout layout = kPython38;
    layout.minor = 9;
    return layout;
}();

inline constexpr Layout kPython310 = [] {
    Layout layout = kPython39;
    layout.minor = 10;
    layout.lines = format::LineTable::line_ranges;
    layout.instruction = 96;
    return layout;
}();

inline constexpr Layout kPython311{.minor = 11,
                                   .nesting = Nesting::entries,
                                   .lines = format::LineTable::locations,
                                   .top_is_indirect = true,
                                   .top = 56,
                                   .top_inside = 8,
                                   .outer_call = 16,
                                   .interpreter = 0,
                                   .interpreter_id = 0,
                                   .back = 48,
                                   .code = 32,
                                   .instruction = 56,
                                   .is_entry = 68,
                                   .owner = 69,
                                   .file = 112,
                                   .name = 128,
                                   .first_line = 72,
                                   .line_table = 136,
                                   .bytecode = 184,
                                   .first_traceable = 168,
                                   .version = 0,
                                   .ascii = 48,
                                   .wide = 72};

inline constexpr Layout kPython312 = [] {
    Layout layout = kPython311;
    layout.minor = 12;
    layout.nesting = Nesting::shims;
    layout.top_inside = 0;
    layout.outer_call = 8;
    layout.back = 8;
    layout.code = 0;
    layout.is_entry = 0;
    layout.owner = 70;
    layout.first_line = 68;
    layout.bytecode = 192;
    layout.first_traceable = 176;
    layout.version = 92;
    layout.ascii = 40;
    layout.wide = 56;
    return layout;
}();

// The layout of the first version whose frames are linked so. In later ones `instruction` is
// another where each frame has a call; where there are shims, `owner` is, and what leads to the
// frames and to a version. The rest of a frame is as here, and so is what identity() reads of a
// code object.
constexpr const Layout& first_in(Nesting nesting)
{
    return nesting == Nesting::shims     ? kPython312
           : nesting == Nesting::entries ? kPython311
                                         : kPython38;
}

} // namespace vramscope::capture::python
