// tools/process/traced_environment.cpp — what is set, and what is put before what was set.
#include "tools/process/traced_environment.hpp"

#include <cstdlib>
#include <utility>

#include "tools/process/inside.hpp"
#include "tracker/environment/ending.hpp"

namespace vramscope {
namespace {

std::string value_of(const char* variable)
{
    const char* value = std::getenv(variable);
    return value ? value : "";
}

void put_before(const char* variable, const std::string& value)
{
    const std::string old = value_of(variable);
    ::setenv(variable, (old.empty() ? value : value + ":" + old).c_str(), 1);
}

bool lists(const std::string& folders, const std::string& folder)
{
    return (":" + folders + ":").find(":" + folder + ":") != std::string::npos;
}

// The program's own modules come first, wherever it names them; but what --inside needs is found
// before a sitecustomize of the program's. An interpreter that is told to ignore the environment
// (python3 -I) ignores these too.
void show_to_python(const std::string& module, bool inside, bool tells_of_end)
{
    const std::string old = value_of("PYTHONPATH");
    if (!lists(old, module))
        ::setenv("PYTHONPATH", (old.empty() ? module : old + ":" + module).c_str(), 1);
    for (const auto& [wanted, folder] : {std::pair{inside, "inside"}, {tells_of_end, "ending"}}) {
        const std::string ahead = module + "/vramscope/" + folder;
        if (wanted && !lists(old, ahead))
            put_before("PYTHONPATH", ahead);
    }
}

// With LD_AUDIT the loader sets the room for static TLS before it knows what the program's
// libraries need, and then refuses what does not fit; since glibc 2.41 its own area for restartable
// sequences is in that room too. Each stack gives this room up: of the smallest (16 KiB) it leaves
// what a hook needs, with some 800 bytes to spare.
void make_room_for_static_tls()
{
    const std::string name = "glibc.rtld.optional_static_tls";
    const std::string tunables = value_of("GLIBC_TUNABLES");
    if (tunables.find(name) == std::string::npos)
        ::setenv("GLIBC_TUNABLES",
                 (tunables.empty() ? "" : tunables + ":").append(name + "=5248").c_str(), 1);
}

void open_doors(const TracedEnvironment& environment)
{
    const Installation& installation = environment.installation;
    if (!environment.ending.empty()) {
        put_before("LD_PRELOAD", installation.ending.string());
        ::setenv(log::kEndingVariable, environment.ending.c_str(), 1);
    }
    put_before("LD_PRELOAD", installation.preload.string());
    ::setenv("NVTX_INJECTION64_PATH", installation.preload.c_str(), 0);
    if (!installation.python.empty())
        show_to_python(installation.python.string(), environment.inside,
                       !environment.ending.empty());
    if (environment.inside)
        set_allocator_switches();
    if (environment.audit) {
        put_before("LD_AUDIT", installation.audit.string());
        make_room_for_static_tls();
    }
}

} // namespace

void enter(const TracedEnvironment& environment)
{
    if (!environment.installation.preload.empty())
        open_doors(environment);
    for (const auto& [variable, value] : environment.settings)
        ::setenv(variable.c_str(), value.c_str(), 1);
    ::setenv("VRAMSCOPE_LOG", environment.log.c_str(), 1);
    ::setenv("VRAMSCOPE_RUN", environment.run_file.c_str(), 1);
    if (!environment.simulate.empty()) {
        ::setenv("VRAMSCOPE_SIMULATE", environment.simulate.c_str(), 1);
        put_before("LD_LIBRARY_PATH", environment.installation.simgpu.string());
    }
}

} // namespace vramscope
