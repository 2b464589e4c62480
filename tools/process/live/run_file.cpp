// tools/process/live/run_file.cpp — create, read and understand the run file.
#include "tools/process/live/run_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "tools/process/live/live_process.hpp"
#include "tools/process/live/trusted_file.hpp"
#include "tracker/environment/tell.hpp"

namespace vramscope {
namespace {

std::string make_nonce()
{
    std::uint8_t bytes[log::kNonceBytes / 2];
    if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
        throw report::Error(report::Exit::usage,
                            fmt::format("no random bytes: {}", std::strerror(errno)));
    std::string nonce;
    for (const std::uint8_t byte : bytes)
        nonce += fmt::format("{:02x}", byte);
    return nonce;
}

// Why the library will not write to it; empty: it will.
std::string begin_run_file(int descriptor, const std::string& nonce)
{
    const std::string line = log::kRunFileHeading + nonce + "\n";
    struct stat status;
    if (::write(descriptor, line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        ::fstat(descriptor, &status) != 0)
        return std::strerror(errno);
    return log::is_private(status) ? "" : "files there cannot be their user's alone";
}

// What processes made that gave up root: "PATH.UID".
std::vector<std::pair<std::filesystem::path, uid_t>>
files_beside(const std::filesystem::path& run_file)
{
    std::vector<std::pair<std::filesystem::path, uid_t>> found;
    if (::geteuid() != 0)
        return found;
    const std::string begin = run_file.filename().string() + ".";
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(run_file.parent_path(), problem)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(begin))
            continue;
        if (const auto user = report::whole_number<uid_t>(name.substr(begin.size())))
            found.emplace_back(entry.path(), *user);
    }
    return found;
}

bool is_file_of(const std::filesystem::path& path, uid_t user)
{
    struct stat status;
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == user && status.st_nlink == 1;
}

// The beginning of it; empty: it is not that user's alone.
std::string text_of_private(const std::filesystem::path& path, uid_t user)
{
    return read_trusted(path, 1 << 20, [user](const struct stat& status) {
        return status.st_uid == user && status.st_nlink == 1;
    });
}

} // namespace

std::vector<Announcement> parse_announcements(const std::string& text)
{
    std::vector<Announcement> found;
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const std::string line = text.substr(begin, end - begin);
        const std::size_t first = line.find('\t');
        const std::size_t second = first == std::string::npos ? first : line.find('\t', first + 1);
        if (second == std::string::npos)
            continue;
        if (const auto pid =
                report::whole_number<pid_t>(line.substr(first + 1, second - first - 1)))
            found.push_back({line.substr(0, first), *pid, line.substr(second + 1)});
    }
    return found;
}

RunFile::RunFile() : nonce_(make_nonce())
{
    const char* folder = std::getenv("TMPDIR");
    std::string name = std::string(folder && *folder ? folder : "/tmp") + "/vramscope-run-XXXXXX";
    const int descriptor = ::mkstemp(name.data()); // mode 0600
    if (descriptor < 0)
        throw report::Error(
            report::Exit::usage,
            fmt::format("cannot create {}: {}; set TMPDIR to a folder that can be written to", name,
                        std::strerror(errno)));
    const std::string problem = begin_run_file(descriptor, nonce_);
    ::close(descriptor);
    path_ = std::filesystem::absolute(name);
    if (problem.empty())
        return;
    ::unlink(name.c_str());
    throw report::Error(
        report::Exit::usage,
        fmt::format("cannot use {}: {}; set TMPDIR to another folder", name, problem));
}

RunFile::~RunFile()
{
    for (const auto& [file, user] : files_beside(path_))
        ::unlink(file.c_str());
    ::unlink(path_.c_str());
}

std::vector<Announcement> RunFile::read() const
{
    std::vector<Announcement> found = parse_announcements(text_of(path_));
    for (const auto& [file, user] : files_beside(path_)) {
        const std::string text = text_of_private(file, user);
        if (!text.starts_with(log::kRunFileHeading + nonce_ + "\n"))
            continue;
        for (Announcement& one : parse_announcements(text))
            if (one.kind != "log" || is_file_of(one.text, user))
                found.push_back(std::move(one));
    }
    return found;
}

std::vector<RunLog> logs_of(const std::vector<Announcement>& announcements)
{
    std::vector<RunLog> logs;
    for (const Announcement& entry : announcements) {
        if (entry.kind == "log")
            logs.push_back({entry.text, entry.pid, false});
        if (entry.kind == "start")
            for (RunLog& log : logs)
                log.exec_seen = log.exec_seen || log.pid == entry.pid;
    }
    return logs;
}

} // namespace vramscope
