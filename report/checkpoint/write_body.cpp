// report/checkpoint/write_body.cpp — each replay into an archive.
#include "report/checkpoint/archive.hpp"
#include "report/checkpoint/body.hpp"

namespace vramscope::report {

std::string write_body(Reading& reading, Replays& replays, WrongFrees* wrong_frees)
{
    ArchiveWriter body;
    transfer(body, reading);
    transfer(body, replays);
    if (wrong_frees)
        transfer(body, *wrong_frees);
    return body.bytes();
}

} // namespace vramscope::report
