// report/import/import.cpp — which tool a recording is of.
#include "report/import/import.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/import/torch_log.hpp"
#include "report/import/torch_snapshot.hpp"

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
    bool is_pickle() const
    {
        constexpr unsigned char kProto = 0x80;
        unsigned char first = 0;
        return ::pread(descriptor_, &first, 1, 0) == 1 && first == kProto;
    }

private:
    std::string name_;
    int descriptor_;
};

} // namespace

Imported import_recording(const std::filesystem::path& path, int log)
{
    const Recording recording(path);
    if (!recording.is_pickle())
        throw Error(Exit::bad_input,
                    fmt::format("{} is no memory snapshot of PyTorch (a pickle of protocol 2 to 5)",
                                recording.name()));
    Imported imported;
    const TorchSnapshot snapshot = read_torch_snapshot(recording.descriptor(), recording.name());
    if (!write_torch_log(snapshot, path.filename().string(), log, imported))
        throw Error(Exit::usage,
                    fmt::format("the log cannot be written: {}", std::strerror(errno)));
    return imported;
}

} // namespace vramscope::report
