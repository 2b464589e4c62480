// tracker/environment/ending.hpp — what a program that ends and `run --reach` say to each other.
//
// The program connects to the command's socket, writes one byte, and waits until it is closed.
#pragma once

namespace vramscope::log {

inline constexpr const char* kEndingVariable = "VRAMSCOPE_ENDING"; // the socket's path

enum class Ending : char {
    work_done = 'd',        // its memory is as its work left it
    interpreter_gone = 'g', // an interpreter has taken its variables down already
};

} // namespace vramscope::log
