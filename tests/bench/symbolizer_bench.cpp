// tests/bench/symbolizer_bench.cpp — time and memory beside two known tools.
//
// Usage: symbolizer_bench [PROGRAM [ADDRESSES [REPETITIONS]]]
// Each figure is that of a whole process, which starts, reads the addresses, prints all frames and
// ends. The tools take turns, so that a slow moment of the machine meets all of them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <sstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/symbols/symbolizer.hpp"
#include "tests/report/symbols/fixture_file.hpp"

namespace vramscope::report {
namespace {

struct Tool {
    std::string name;
    std::vector<std::string> command;
    std::vector<double> milliseconds = {};
    long peak_kib = 0;
    bool failed = false;
};

std::string random_code_addresses(const std::filesystem::path& program, int count)
{
    const auto [low, bytes] = section_of(program, ".text");
    std::mt19937_64 random(1);
    std::ostringstream text;
    for (int i = 0; i < count; ++i)
        text << "0x" << std::hex << low + random() % bytes << '\n';
    return text.str();
}

[[noreturn]] void become(const Tool& tool, const std::string& input)
{
    const int in = ::open(input.c_str(), O_RDONLY);
    const int out = ::open("/dev/null", O_WRONLY);
    ::dup2(in, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    std::vector<char*> arguments;
    for (const auto& argument : tool.command)
        arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

void run_once(Tool& tool, const std::string& input)
{
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = ::fork();
    if (child == 0)
        become(tool, input);
    int status = 0;
    struct rusage usage {};
    ::wait4(child, &status, 0, &usage);
    const std::chrono::duration<double, std::milli> wall = std::chrono::steady_clock::now() - start;
    tool.failed |= status != 0;
    tool.milliseconds.push_back(wall.count());
    tool.peak_kib = std::max(tool.peak_kib, usage.ru_maxrss);
}

void print(Tool& tool)
{
    if (tool.failed) {
        std::printf("%-16s did not run\n", tool.name.c_str());
        return;
    }
    auto& times = tool.milliseconds;
    std::sort(times.begin(), times.end());
    std::printf("%-16s median %7.1f ms   lowest %7.1f   highest %7.1f   peak memory %4ld MiB\n",
                tool.name.c_str(), times[times.size() / 2], times.front(), times.back(),
                tool.peak_kib / 1024);
}

// The process that is measured: `symbolizer_bench --answer PROGRAM < addresses`.
int answer(const std::filesystem::path& program)
{
    const auto module = module_of(program);
    Symbolizer symbolizer;
    for (unsigned long long address = 0; std::scanf("%llx", &address) == 1;) {
        for (const auto& frame : symbolizer.frames(module, address))
            std::printf("%s\n%s:%d\n", frame.function.c_str(), frame.file.c_str(), frame.line);
    }
    return 0;
}

int compare(const std::filesystem::path& program, int addresses, int repetitions)
{
    const TempDir dir;
    const std::string input = dir / "addresses";
    write_bytes(input, random_code_addresses(program, addresses));
    std::vector<Tool> tools{
        {"vramscope", {"/proc/self/exe", "--answer", program}},
        {"llvm-symbolizer", {"llvm-symbolizer", "--obj=" + program.string()}},
        {"addr2line", {"addr2line", "-f", "-i", "-C", "-e", program}},
    };
    for (int i = 0; i < repetitions; ++i) {
        for (auto& tool : tools)
            run_once(tool, input);
    }
    std::printf("%d addresses of %s (%.1f MB), %d runs each\n", addresses, program.c_str(),
                static_cast<double>(std::filesystem::file_size(program)) / 1e6, repetitions);
    for (auto& tool : tools)
        print(tool);
    return tools[0].failed ? 1 : 0;
}

} // namespace
} // namespace vramscope::report

int main(int argc, char** argv)
{
    using namespace vramscope::report;
    if (argc == 3 && std::string(argv[1]) == "--answer")
        return answer(argv[2]);
    const auto program = argc > 1 ? std::filesystem::absolute(argv[1]) : fixture("large");
    const int addresses = argc > 2 ? std::atoi(argv[2]) : 2000;
    const int repetitions = argc > 3 ? std::atoi(argv[3]) : 11;
    if (addresses < 1 || repetitions < 1 || !std::filesystem::exists(program)) {
        std::fprintf(stderr, "usage: symbolizer_bench [PROGRAM [ADDRESSES [REPETITIONS]]]\n");
        return 125;
    }
    return compare(program, addresses, repetitions);
}
