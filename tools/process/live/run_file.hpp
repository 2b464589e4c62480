// tools/process/live/run_file.hpp — where traced processes announce themselves to `vramscope run`.
//
// One line each, "kind<tab>pid<tab>text": start (the preload's constructor ran; text is the
// program), log (a log was opened; text is its path), note (one line for the user). Lines of
// another shape are skipped. The first line has a nonce, which VRAMSCOPE_RUN names too: the library
// writes to no file but this one (tracker/environment/tell.hpp).
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace vramscope {

struct Announcement {
    std::string kind;
    pid_t pid;
    std::string text;
};

std::vector<Announcement> parse_announcements(const std::string& text);

class RunFile {
public:
    RunFile(); // Error if it cannot be created
    ~RunFile();
    RunFile(const RunFile&) = delete;
    RunFile& operator=(const RunFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    std::string variable() const { return nonce_ + ":" + path_.string(); } // VRAMSCOPE_RUN
    std::vector<Announcement> read() const;

private:
    std::filesystem::path path_;
    std::string nonce_;
};

// A log and what `vramscope run` knows about the process that wrote it.
struct RunLog {
    std::filesystem::path path;
    pid_t pid;
    bool exec_seen; // the process started another program later
};

std::vector<RunLog> logs_of(const std::vector<Announcement>& announcements);

} // namespace vramscope
