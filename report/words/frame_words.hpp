// report/words/frame_words.hpp — a frame of a call stack as a person reads it in a terminal.
//
// What is not known is told by what is: module+0xoffset. All of it is terminal_safe.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace vramscope::report {

struct CallPlace;
struct Frame;

std::string function_of(const Frame& frame);
std::string place_of(const Frame& frame); // "src/train.cu:42", "[libtrain.so]", or nothing

// In one short piece of at most `room` columns: function, and file name where that fits. `beside`:
// functions that it must not read like.
std::string frame_in(const Frame& frame, std::size_t room,
                     const std::vector<std::string>& beside = {});
// The same of a call's innermost frame of the program's own; "(no stack)": it has no frames.
std::string innermost_in(const CallPlace& call, std::size_t room);
// For a sentence: the line of the user's that a call came from; empty: there is no stack.
std::string own_place(const CallPlace& call);

} // namespace vramscope::report
