// tools/output/input_files.cpp — logs by their names, and by what their headers say.
#include "tools/output/input_files.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <sys/stat.h>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/log_file.hpp"
#include "report/words/words.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

constexpr const char* kPackedEnding = ".zst";

// "a.vsl", and "a.vsl.1": where one name was given to several processes, all but the first have a
// number after it. Each may be packed.
bool is_named_like_a_log(fs::path path)
{
    if (path.extension() == kPackedEnding)
        path = path.stem();
    const std::string last = path.extension().string();
    const bool numbered = last.size() > 1 && std::all_of(last.begin() + 1, last.end(), [](char c) {
                              return c >= '0' && c <= '9';
                          });
    return (numbered ? path.stem().extension().string() : last) == ".vsl";
}

// Packing leaves the log where it is: it is one log all the same.
bool is_packed_beside(const fs::path& path, const std::vector<fs::path>& sorted)
{
    return path.extension() == kPackedEnding &&
           std::binary_search(sorted.begin(), sorted.end(), path.parent_path() / path.stem());
}

struct Given {
    fs::path path;
    std::optional<std::pair<dev_t, ino_t>> file;
    std::optional<format::FileHeader> log;
    bool cut = false; // the log is
};

Given look_at(const fs::path& path)
{
    Given given{.path = path, .file = {}, .log = {}, .cut = false};
    struct stat status;
    if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return given;
    given.file.emplace(status.st_dev, status.st_ino);
    try {
        const report::LogFile log = report::LogFile::open(path, report::LogFile::Collected::taken);
        given.log = log.header();
        given.cut = log.cut();
    } catch (const report::Error&) { // whoever reads it says what is wrong
    }
    return given;
}

// An imported recording does not say which process it is of.
bool is_same_process(const Given& one, const Given& other)
{
    const auto process = [](const format::FileHeader& log) {
        return std::tuple(log.pid, log.process_start, log.start_real_ns, log.start_ns);
    };
    return one.log && other.log && one.log->process_start != 0 && one.log->start_real_ns != 0 &&
           process(*one.log) == process(*other.log);
}

// A snapshot has less than the log of the program, which went on.
bool has_more(const Given& one, const Given& other)
{
    const auto order = [](const Given& given) {
        const std::uint64_t snapshot = given.log->snapshot_ticks;
        return std::tuple(!given.cut, snapshot == 0 ? UINT64_MAX : snapshot,
                          given.log->latest_ticks);
    };
    return order(one) > order(other);
}

// Many may be left out for one reason: a folder that was copied.
class LeftOut {
public:
    void tell() const
    {
        constexpr std::size_t kMostTold = 3;
        for (std::size_t at = 0; at < std::min(kMostTold, lines_.size()); ++at)
            say(lines_[at]);
        if (lines_.size() > kMostTold)
            say("left out too: " + report::counted(lines_.size() - kMostTold, "more file"));
    }
    void add(const fs::path& out, const char* why, const fs::path& kept)
    {
        lines_.push_back(
            fmt::format("{} is left out: it is {} {}", out.string(), why, kept.string()));
    }

private:
    std::vector<std::string> lines_;
};

} // namespace

std::vector<fs::path> logs_in(const fs::path& folder)
{
    std::vector<fs::path> inside;
    std::error_code problem;
    for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
         entry.increment(problem))
        if (is_named_like_a_log(entry->path()))
            inside.push_back(entry->path());
    if (problem)
        throw report::Error(report::Exit::bad_input,
                            fmt::format("{}: {}", folder.string(), problem.message()));
    std::sort(inside.begin(), inside.end());
    std::vector<fs::path> logs;
    std::copy_if(inside.begin(), inside.end(), std::back_inserter(logs),
                 [&](const fs::path& path) { return !is_packed_beside(path, inside); });
    return logs;
}

std::vector<fs::path>
with_folders(const std::vector<std::string>& arguments,
             const std::function<std::vector<fs::path>(const std::string&)>& inside)
{
    std::vector<fs::path> files;
    for (const std::string& argument : arguments) {
        std::error_code problem;
        if (!fs::is_directory(argument, problem)) {
            files.emplace_back(argument);
            continue;
        }
        const std::vector<fs::path> found = inside(argument);
        files.insert(files.end(), found.begin(), found.end());
    }
    return files;
}

std::vector<fs::path> find_logs_as_given(const std::vector<std::string>& arguments)
{
    return with_folders(arguments, [](const std::string& folder) {
        std::vector<fs::path> logs = logs_in(folder);
        if (logs.empty())
            throw report::Error(report::Exit::bad_input,
                                fmt::format("{}: a folder without any log (*.vsl)", folder));
        return logs;
    });
}

std::vector<fs::path> find_logs(const std::vector<std::string>& arguments)
{
    return each_once(find_logs_as_given(arguments));
}

std::vector<fs::path> each_once(const std::vector<fs::path>& files)
{
    if (files.size() < 2)
        return files;
    LeftOut left_out;
    std::vector<Given> kept;
    for (const fs::path& file : files) {
        Given given = look_at(file);
        const auto same = std::find_if(kept.begin(), kept.end(), [&](const Given& known) {
            return given.file && given.file == known.file;
        });
        if (same != kept.end()) {
            if (same->path.lexically_normal() != file.lexically_normal())
                left_out.add(file, "the same file as", same->path);
            continue;
        }
        const auto process = std::find_if(kept.begin(), kept.end(), [&](const Given& known) {
            return is_same_process(given, known);
        });
        if (process == kept.end()) {
            kept.push_back(std::move(given));
            continue;
        }
        if (has_more(given, *process))
            std::swap(given, *process);
        left_out.add(given.path, "of the same process as", process->path);
    }
    left_out.tell();
    std::vector<fs::path> paths;
    for (Given& given : kept)
        paths.push_back(std::move(given.path));
    return paths;
}

void refuse_irregular(const fs::path& file)
{
    std::error_code unknown;
    if (fs::exists(file, unknown) && !fs::is_regular_file(file, unknown))
        throw report::Error(report::Exit::bad_input,
                            fmt::format("{} is no regular file", file.string()));
}

} // namespace vramscope
