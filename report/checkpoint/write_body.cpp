// report/checkpoint/write_body.cpp — each replay into an archive.
#include "report/checkpoint/body.hpp"

namespace vramscope::report {

std::string write_body(Reading& reading, Replays& replays, WrongFrees* wrong_frees)
{
    ArchiveWriter body;
    transfer_body(body, reading, replays, wrong_frees);
    return body.bytes();
}

} // namespace vramscope::report
