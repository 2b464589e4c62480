// tools/process/dask_driver.cpp — starts python/vramscope/dask_job.py and reads what it writes.
#include "tools/process/dask_driver.hpp"

#include <cerrno>
#include <cstring>
#include <ext/stdio_filebuf.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "report/error.hpp"
#include "tools/process/installation.hpp"

namespace vramscope {
namespace {

using report::Error;
using report::Exit;

constexpr int kNoProgram = 127;

std::string driver_file()
{
    const Installation installation = find_installation();
    const std::filesystem::path file = installation.python / "vramscope" / "dask_job.py";
    if (installation.python.empty() || !std::filesystem::exists(file))
        throw Error(Exit::usage, fmt::format("--dask: there is no python/vramscope/dask_job.py in "
                                             "the lib folder of {}: install all of vramscope",
                                             installation.executable.string()));
    return file.string();
}

// Its errors are in what it writes: what the libraries below it say goes nowhere.
[[noreturn]] void become_driver(std::vector<std::string> arguments, int output)
{
    std::vector<char*> words;
    for (std::string& argument : arguments)
        words.push_back(argument.data());
    words.push_back(nullptr);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_RDWR | O_CLOEXEC), STDERR_FILENO);
    ::execvp(words.front(), words.data());
    ::_exit(kNoProgram);
}

class Driver {
public:
    Driver(const std::string& address, const std::vector<std::string>& files)
    {
        std::vector<std::string> arguments{"python3", driver_file(), address};
        for (const std::string& file : files)
            arguments.push_back(std::filesystem::absolute(file).lexically_normal().string());
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0 || (child_ = ::fork()) < 0)
            throw Error(Exit::usage, fmt::format("--dask: {}", std::strerror(errno)));
        if (child_ == 0)
            become_driver(std::move(arguments), ends[1]);
        ::close(ends[1]);
        output_ = __gnu_cxx::stdio_filebuf<char>(ends[0], std::ios::in);
    }
    Driver(const Driver&) = delete;
    Driver& operator=(const Driver&) = delete;
    ~Driver() { wait(); }

    std::streambuf& output() noexcept { return output_; }

    // Its exit status; as of a shell where a signal killed it.
    int wait()
    {
        output_.close(); // what still writes ends
        int status = 0;
        if (child_ > 0 && ::waitpid(child_, &status, 0) == child_)
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        child_ = -1;
        return status_;
    }

private:
    pid_t child_ = -1;
    int status_ = 0;
    __gnu_cxx::stdio_filebuf<char> output_;
};

} // namespace

void join_by_dask(const std::string& address, const std::vector<std::string>& files,
                  const std::function<void(std::string why)>& unread,
                  const std::function<void(std::istream& table)>& table)
{
    using Json = nlohmann::json;
    Driver driver(address, files);
    std::istream in(&driver.output());
    std::string line;
    std::getline(in, line);
    const Json first = Json::parse(line, nullptr, false);
    if (first.is_string())
        throw Error(Exit::usage, "--dask: " + first.get<std::string>());
    if (!first.is_array()) {
        const int status = driver.wait();
        throw Error(Exit::usage,
                    status == kNoProgram
                        ? std::string("--dask: there is no python3 in PATH, which starts it")
                        : fmt::format("--dask: {} ended with status {} before it said anything",
                                      driver_file(), status));
    }
    for (const Json& why : first)
        if (why.is_string())
            unread(why.get<std::string>());
    if (in.peek() != std::istream::traits_type::eof())
        table(in);
}

} // namespace vramscope
