// tools/process/live/log_snapshot.cpp — see log_snapshot.hpp.
#include "tools/process/live/log_snapshot.hpp"

#include <cerrno>

#include "report/log/log_copy.hpp"

namespace vramscope {

void write_snapshot(const Output& output, const std::filesystem::path& log, std::uint64_t ticks,
                    const std::function<bool(int descriptor)>& more)
{
    OutputFile file(output, 0600);
    errno = EIO;
    if (!report::copy_log(report::LogFile::open(log, report::LogFile::Collected::taken), ticks,
                          file.descriptor()) ||
        (more && !more(file.descriptor())))
        file.fail();
    file.finish();
}

} // namespace vramscope
