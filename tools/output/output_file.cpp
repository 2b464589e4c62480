// tools/output/output_file.cpp — see output_file.hpp.
#include "tools/output/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "report/words/own_output.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

// The file that a name stands for when all links are followed, also where nothing is there yet. The
// links of /proc lead to what a process has open, which may have no name: descriptor_of takes ours.
fs::path behind_links(fs::path path)
{
    constexpr int kMostLinks = 40; // the kernel follows as many
    const fs::path descriptors = fmt::format("/proc/{}/fd", ::getpid());
    std::error_code ignored;
    for (int links = 0; links < kMostLinks; ++links) {
        const fs::path folder = fs::weakly_canonical(path.parent_path() / ".", ignored);
        path = (folder.empty() ? path.parent_path() : folder) / path.filename();
        const bool nameless = folder == descriptors || (folder.string().starts_with("/proc/") &&
                                                        !fs::is_regular_file(path, ignored));
        if (nameless || !fs::is_symlink(fs::symlink_status(path, ignored)))
            break;
        const fs::path target = fs::read_symlink(path, ignored);
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    return path;
}

// "/proc/1234/fd/1", of this process.
std::optional<int> descriptor_of(const fs::path& path)
{
    if (path.parent_path() != fmt::format("/proc/{}/fd", ::getpid()))
        return std::nullopt;
    return report::whole_number<int>(path.filename().native());
}

bool same_file(const struct stat& one, const struct stat& other)
{
    return S_ISREG(one.st_mode) && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool leads_to(int descriptor, const struct stat& file)
{
    struct stat status;
    return ::fstat(descriptor, &status) == 0 && same_file(status, file);
}

} // namespace

Output::Output(const std::string& name) : name_(name)
{
    if (name_ == "-") {
        descriptor_ = STDOUT_FILENO;
    } else if (wanted()) {
        keep_from_traps();
        path_ = behind_links(name_);
        descriptor_ = descriptor_of(path_).value_or(-1);
    }
}

Output::Output(const std::string& name, const std::vector<fs::path>& taken, bool force, Keep keep)
    : Output(name)
{
    for (const fs::path& file : taken)
        keep_off(file);
    if (!wanted())
        return;
    struct stat file;
    if (descriptor_ < 0 && ::stat(path_.c_str(), &file) == 0 && leads_to(STDOUT_FILENO, file))
        throw report::Error(report::Exit::usage,
                            fmt::format("{} is where stdout goes: choose another file", name_));
    if (!force)
        keep_ = keep;
    check_writable();
}

// A link that another user put into a folder like /tmp leads nowhere (fs.protected_symlinks). We
// follow links ourselves, so the kernel is asked whether it would.
void Output::keep_from_traps() const
{
    const int file = ::open(name_.c_str(), O_PATH | O_CLOEXEC);
    if (file >= 0)
        ::close(file);
    else if (errno == EACCES)
        fail(EACCES);
}

void Output::keep_apart(const std::string& name, const std::vector<fs::path>& taken)
{
    const Output output(name);
    for (const fs::path& file : taken)
        output.keep_off(file);
}

// Stdout is an output of every command: a log that `>>` adds text to is as lost as one overwritten.
void Output::keep_off(const fs::path& taken) const
{
    struct stat theirs;
    struct stat ours;
    const bool there = ::stat(taken.c_str(), &theirs) == 0;
    if (there && leads_to(STDOUT_FILENO, theirs))
        throw report::Error(
            report::Exit::usage,
            fmt::format("{} is where stdout goes, and this command needs the file itself: "
                        "choose another",
                        taken.string()));
    if (!wanted())
        return;
    const bool same = descriptor_ >= 0                    ? there && leads_to(descriptor_, theirs)
                      : ::stat(path_.c_str(), &ours) == 0 ? there && same_file(ours, theirs)
                                                          : !there && behind_links(taken) == path_;
    if (same)
        throw report::Error(report::Exit::usage,
                            name_ == taken
                                ? fmt::format("{} is needed by this command otherwise, and is not "
                                              "written over: choose another name",
                                              name_)
                                : fmt::format("{} is the same file as {}, which this command needs "
                                              "otherwise: choose another name",
                                              name_, taken.string()));
}

// Where the user has a descriptor open, the shell has settled that.
void Output::keep_what_is_there() const
{
    struct stat status;
    if (!keep_ || descriptor_ >= 0 || ::stat(path_.c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode) || status.st_size == 0)
        return;
    if (keep_ == Keep::foreign_files) {
        char head[report::kOwnHeadBytes];
        const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        const ssize_t bytes = file < 0 ? 0 : ::read(file, head, sizeof head);
        if (file >= 0)
            ::close(file);
        if (bytes > 0 && report::is_own_output({head, static_cast<std::size_t>(bytes)}))
            return;
    }
    throw report::Error(report::Exit::usage,
                        fmt::format("{} exists{}: -f overwrites it", name_,
                                    keep_ == Keep::foreign_files
                                        ? ", and is no JSON, page or export of vramscope's"
                                        : ""));
}

void Output::check_writable() const
{
    struct stat status;
    if (descriptor_ >= 0) {
        if (::write(descriptor_, "", 0) != 0)
            fail(errno);
    } else if (::stat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode)) {
        const OutputFile beside(*this);
    } else if (S_ISDIR(status.st_mode) || ::access(path_.c_str(), W_OK) != 0) {
        fail(S_ISDIR(status.st_mode) ? EISDIR : errno);
    }
}

bool Output::is_replaced() const
{
    struct stat status;
    return descriptor_ < 0 && (::stat(path_.c_str(), &status) != 0 || S_ISREG(status.st_mode));
}

bool Output::is_stdout() const
{
    return descriptor_ == STDOUT_FILENO;
}

void Output::fail(int problem) const
{
    throw report::Error(report::Exit::usage,
                        fmt::format("cannot write {}: {}", name_ == "-" ? "stdout" : name_,
                                    std::strerror(problem)));
}

void refuse_link(const std::string& name)
{
    std::error_code ignored;
    if (fs::is_symlink(fs::symlink_status(name, ignored)))
        throw report::Error(report::Exit::usage,
                            fmt::format("{} is a link: name the file itself", name));
}

OutputFile::OutputFile(const Output& output, mode_t mode) : output_(output)
{
    output.keep_what_is_there();
    struct stat status;
    if (output.descriptor_ >= 0)
        descriptor_ = ::fcntl(output.descriptor_, F_DUPFD_CLOEXEC, 0);
    else if (::stat(output.path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
        descriptor_ = ::open(output.path_.c_str(), O_WRONLY | O_CLOEXEC);
    else
        open_beside(mode);
    if (descriptor_ < 0)
        fail();
}

// Without a name where the file system has such files: then nothing is left of it, however we end.
void OutputFile::open_beside(mode_t mode)
{
    const fs::path& path = output_.path_;
    temporary_ = fmt::format("{}.{}.tmp", path.string(), ::getpid());
    descriptor_ = ::open(path.parent_path().c_str(), O_RDWR | O_TMPFILE | O_CLOEXEC, mode);
    nameless_ = descriptor_ >= 0;
    if (!nameless_)
        descriptor_ =
            ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

OutputFile::~OutputFile()
{
    if (descriptor_ < 0)
        return;
    ::close(descriptor_);
    if (!temporary_.empty() && !nameless_)
        ::unlink(temporary_.c_str());
}

void OutputFile::write(std::string_view text)
{
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor_, text.data(), text.size());
        if (written < 0 && errno != EINTR)
            fail();
        text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
    }
}

void OutputFile::finish()
{
    if (nameless_) {
        const std::string file = fmt::format("/proc/self/fd/{}", descriptor_);
        if (::linkat(AT_FDCWD, file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
            fail();
    }
    detail(fmt::format("writes {}", output_.name_));
    const bool closed = ::close(descriptor_) == 0;
    descriptor_ = -1;
    if (closed && (temporary_.empty() || ::rename(temporary_.c_str(), output_.path_.c_str()) == 0))
        return;
    const int problem = errno;
    if (!temporary_.empty())
        ::unlink(temporary_.c_str());
    errno = problem;
    fail();
}

void OutputFile::fail() const
{
    output_.fail(errno);
}

} // namespace vramscope
