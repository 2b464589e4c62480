// report/checkpoint/read_body.cpp — each replay out of an archive.
#include "report/checkpoint/body.hpp"

namespace vramscope::report {

bool read_body(std::string_view bytes, Reading& reading, Replays& replays, WrongFrees* wrong_frees)
{
    ArchiveReader body(bytes);
    transfer_body(body, reading, replays, wrong_frees);
    return body.good() && body.at_end();
}

} // namespace vramscope::report
