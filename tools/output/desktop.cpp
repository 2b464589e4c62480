// tools/output/desktop.cpp — see desktop.hpp.
#include "tools/output/desktop.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {
namespace {

bool pager_wanted = true;

bool is_on_path(const std::string& program)
{
    const char* const path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (::access((folder + "/" + program).c_str(), X_OK) == 0)
            return true;
    return false;
}

// Empty: none. What the user names is for the shell to find.
std::string pager()
{
    if (!pager_wanted || !can_draw(STDOUT_FILENO))
        return "";
    for (const char* name : {"VRAMSCOPE_PAGER", "PAGER"})
        if (const char* const told = std::getenv(name))
            return std::string_view(told) == "cat" ? "" : told;
    return is_on_path("less") ? "less" : "";
}

// False if there is no such program. While it runs, Ctrl-C and its end are its own affair.
bool show_in(const std::string& pager, const std::string& text)
{
    constexpr int kNotFound = 127;
    ::setenv("LESS", "FRX", 0);
    std::FILE* const pipe = ::popen(pager.c_str(), "w");
    if (!pipe)
        return false;
    const auto interrupt = std::signal(SIGINT, SIG_IGN);
    const auto broken = std::signal(SIGPIPE, SIG_IGN);
    std::fwrite(text.data(), 1, text.size(), pipe); // as much as it wants to read
    const int status = ::pclose(pipe);
    std::signal(SIGINT, interrupt);
    std::signal(SIGPIPE, broken);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound);
}

} // namespace

void use_no_pager()
{
    pager_wanted = false;
}

void show(const std::string& text)
{
    const std::string program = text.empty() ? "" : pager();
    if (!program.empty() && show_in(program, text))
        return;
    std::cout << text;
    finish_stdout();
}

void finish_stdout()
{
    // By way of iostreams or of stdio, which is what they write to.
    if (!std::cout.flush() || std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
        throw report::Error(report::Exit::usage, "cannot write to stdout");
}

void open_in_browser(const std::string& file)
{
    const std::string page = std::filesystem::absolute(file).string();
    if (!is_on_path("xdg-open"))
        return warn(fmt::format("--open: there is no xdg-open here: open {} in a browser", page));
    std::cout.flush();
    if (const pid_t child = ::fork(); child == 0) {
        if (::fork() != 0)
            ::_exit(0); // so that what it starts is nobody's child to wait for
        ::setsid();
        const int nothing = ::open("/dev/null", O_RDWR);
        for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
            ::dup2(nothing, descriptor);
        ::execlp("xdg-open", "xdg-open", page.c_str(), nullptr);
        ::_exit(127);
    } else if (child > 0) {
        ::waitpid(child, nullptr, 0);
    }
}

} // namespace vramscope
