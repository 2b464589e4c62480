// report/checkpoint/body.hpp — what a checkpoint consists of, behind its head.
//
// Written and read in a file each: a compiler took a gigabyte for both.
#pragma once

#include <string>
#include <string_view>

#include "report/checkpoint/archive.hpp"
#include "report/replay/reading/reading.hpp"
#include "report/replay/replays.hpp"
#include "report/replay/wrong_frees.hpp"

namespace vramscope::report {

// `wrong_frees` may be null.
std::string write_body(Reading& reading, Replays& replays, WrongFrees* wrong_frees);

// All are new. False: it makes no sense; then none is to be used.
bool read_body(std::string_view body, Reading& reading, Replays& replays, WrongFrees* wrong_frees);

// Both ways: for these two alone.
template <typename Archive>
void transfer_body(Archive& body, Reading& reading, Replays& replays, WrongFrees* wrong_frees)
{
    transfer(body, reading);
    transfer(body, replays);
    if (wrong_frees)
        transfer(body, *wrong_frees);
}

} // namespace vramscope::report
