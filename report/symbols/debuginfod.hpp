// report/symbols/debuginfod.hpp — debug information from servers, through elfutils' own library.
//
// Asked only where a user wants it: a request tells a server which program is looked at. The
// library is loaded when it is first asked, so that nothing depends on it.
#pragma once

#include <memory>
#include <string>

namespace vramscope::report {

class Debuginfod {
public:
    // Null with `why_not` set: the library is not here, or DEBUGINFOD_URLS names no server.
    static std::unique_ptr<Debuginfod> open(std::string& why_not);

    // The library's own copy of the file, in its cache; empty: no server has it, or none answers
    // in the time that DEBUGINFOD_TIMEOUT gives. `build_id`: raw bytes.
    virtual std::string debug_file(const std::string& build_id) = 0;

    virtual ~Debuginfod() = default;
};

} // namespace vramscope::report
