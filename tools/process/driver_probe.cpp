// tools/process/driver_probe.cpp — asks the driver from a child that answers in lines.
#include "tools/process/driver_probe.hpp"

#include <cstddef>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace vramscope {
namespace {

constexpr int kMostMilliseconds = 20'000; // a cold start of a machine with eight cards takes some

// The driver API, as far as it is used here; cuda.h is not needed for that.
template <class Function>
Function* find(void* library, const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(library, name));
}

void tell_devices(std::ostream& out, void* library)
{
    auto* count = find<int(int*)>(library, "cuDeviceGetCount");
    auto* get_name = find<int(char*, int, int)>(library, "cuDeviceGetName");
    auto* get_bytes = find<int(std::size_t*, int)>(library, "cuDeviceTotalMem_v2");
    int devices = 0;
    if (!count || !get_name || !get_bytes || count(&devices) != 0)
        return;
    for (int device = 0; device < devices; ++device) {
        char name[256] = {};
        std::size_t bytes = 0;
        if (get_name(name, sizeof name - 1, device) == 0 && get_bytes(&bytes, device) == 0)
            out << "device "
                << fmt::format("{}, {:.1f} GiB", name, static_cast<double>(bytes) / (1 << 30))
                << '\n';
    }
}

std::string meaning_of(int status, void* library)
{
    auto* get_text = find<int(int, const char**)>(library, "cuGetErrorString");
    const char* text = nullptr;
    return get_text && get_text(status, &text) == 0 && text ? text : "an unknown error";
}

// The loader looks for the file as if to load it, and says nothing if it is there and not loaded.
bool is_found(const std::string& name)
{
    if (void* const loaded = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
        ::dlclose(loaded);
        return true;
    }
    return ::dlerror() == nullptr;
}

// Runs in the child. Each line is "key value".
void interview(std::ostream& out, const std::string& name)
{
    void* library = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        out << "missing " << ::dlerror() << '\n';
        return;
    }
    auto* version = find<int(int*)>(library, "cuDriverGetVersion");
    auto* init = find<int(unsigned)>(library, "cuInit");
    Dl_info place;
    if (init && ::dladdr(reinterpret_cast<void*>(init), &place) && place.dli_fname)
        out << "path " << place.dli_fname << '\n';
    if (!version || !init) {
        out << "problem it has no cuInit: not a CUDA driver\n";
        return;
    }
    if (::dlsym(library, "simgpu_version"))
        out << "simulated yes\n";
    int number = 0;
    if (version(&number) == 0)
        out << "version " << number << '\n';
    if (const int status = init(0); status == 0)
        tell_devices(out, library);
    else
        out << "problem cuInit answered " << status << ", " << meaning_of(status, library) << '\n';
}

// Everything the child writes until it closes the pipe, or until time is up.
std::string read_answers(int pipe, bool& late)
{
    std::string text;
    char buffer[4096];
    pollfd waiting{pipe, POLLIN, 0};
    while (!(late = ::poll(&waiting, 1, kMostMilliseconds) <= 0)) {
        const ssize_t got = ::read(pipe, buffer, sizeof buffer);
        if (got <= 0)
            break;
        text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
}

void take_answers(DriverFacts& facts, const std::string& text)
{
    std::istringstream lines(text);
    for (std::string key, value; lines >> key && std::getline(lines >> std::ws, value);) {
        if (key == "path")
            facts.path = value;
        else if (key == "problem" || key == "missing")
            facts.problem = value;
        else if (key == "version")
            facts.cuda_version = std::atoi(value.c_str());
        else if (key == "simulated")
            facts.simulated = true;
        else if (key == "device")
            facts.devices.push_back(value);
    }
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  ..."
std::string kernel_module_version()
{
    std::ifstream file("/proc/driver/nvidia/version");
    std::string word;
    while (file >> word)
        if (word.find('.') != std::string::npos &&
            word.find_first_not_of("0123456789.") == std::string::npos)
            return word;
    return {};
}

} // namespace

DriverFacts probe_driver(const std::filesystem::path& library, Ask ask, const std::string& simulate)
{
    DriverFacts facts;
    if (ask == Ask::where) {
        facts.path = is_found(library.string()) ? library.string() : "";
        return facts;
    }
    facts.kernel_module = kernel_module_version();
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return facts;
    const pid_t child = ::fork();
    if (child == 0) {
        if (!simulate.empty())
            ::setenv("VRAMSCOPE_SIMULATE", simulate.c_str(), 1);
        std::ostringstream out;
        interview(out, library.string());
        const std::string text = out.str();
        [[maybe_unused]] const ssize_t written = ::write(ends[1], text.data(), text.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    bool late = child < 0;
    if (child > 0)
        take_answers(facts, read_answers(ends[0], late));
    ::close(ends[0]);
    if (late && child > 0)
        ::kill(child, SIGKILL);
    int status = 0;
    if (child > 0)
        ::waitpid(child, &status, 0);
    if (late)
        facts.problem = "it did not answer in time";
    else if (WIFSIGNALED(status))
        facts.problem = fmt::format("it crashed with signal {}", WTERMSIG(status));
    return facts;
}

int newest_known_cuda_version()
{
    return VRAMSCOPE_CUDA_VERSION;
}

} // namespace vramscope
