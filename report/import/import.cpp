// report/import/import.cpp — which tool a recording is of.
#include "report/import/import.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/import/rmm_log.hpp"
#include "report/import/torch/torch_log.hpp"
#include "report/import/torch/torch_snapshot.hpp"
#include "report/log/file_bytes.hpp"

namespace vramscope::report {
namespace {

class Recording {
public:
    explicit Recording(const std::filesystem::path& path)
        : name_(path.string()), descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK))
    {
        struct stat status {};
        if (descriptor_ < 0 || ::fstat(descriptor_, &status) != 0)
            throw Error(Exit::bad_input, fmt::format("{}: {}", name_, std::strerror(errno)));
        if (!S_ISREG(status.st_mode)) {
            ::close(descriptor_);
            throw Error(Exit::bad_input, fmt::format("{} is no regular file", name_));
        }
    }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;
    ~Recording() { ::close(descriptor_); }

    const std::string& name() const noexcept { return name_; }
    int descriptor() const noexcept { return descriptor_; }
    std::string head() const
    {
        constexpr std::size_t kHeadBytes = 64;
        std::string head(kHeadBytes, '\0');
        head.resize(read_file(descriptor_, 0, head.data(), head.size()));
        return head;
    }

private:
    std::string name_;
    int descriptor_;
};

} // namespace

Imported import_recording(const std::filesystem::path& path, int log)
{
    constexpr char kPickle = '\x80'; // as one of protocol 2 or later begins
    const Recording recording(path);
    const std::string head = recording.head();
    const std::string program = path.filename().string();
    Imported imported;
    bool written = false;
    if (head.starts_with(kPickle))
        written = write_torch_log(read_torch_snapshot(recording.descriptor(), recording.name()),
                                  program, log, imported);
    else if (is_rmm_log(head))
        written = write_rmm_log(recording.descriptor(), recording.name(), program, log, imported);
    else
        throw Error(
            Exit::bad_input,
            fmt::format("{} is neither a memory snapshot of PyTorch (a pickle of protocol 2 "
                        "to 5) nor a log of RMM (lines of Thread,Time,Action,…)",
                        recording.name()));
    if (!written)
        throw Error(Exit::usage,
                    fmt::format("the log cannot be written: {}", std::strerror(errno)));
    return imported;
}

} // namespace vramscope::report
