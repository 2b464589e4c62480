// tracker/lifecycle/description.cpp — facts about the process, each an info record.
#include "tracker/lifecycle/description.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include "tracker/capture/unwinder.hpp"
#include "tracker/environment/rank.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/format/frameworks.hpp"
#include "tracker/log/chunk_writer.hpp"

namespace vramscope::log {
namespace {

void write_command(Thread& thread) noexcept
{
    const capture::Scratch<char[4096]> room;
    const int descriptor = room ? ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC) : -1;
    if (descriptor < 0)
        return;
    auto& text = *room;
    ssize_t length = ::read(descriptor, text, sizeof text);
    ::close(descriptor);
    for (ssize_t i = 0; i < length; ++i)
        if (text[i] == '\0')
            text[i] = i + 1 == length ? '\0' : ' ';
    while (length > 0 && (text[length - 1] == '\0' || text[length - 1] == '\n'))
        --length;
    if (length > 0)
        write(thread,
              format::Info{"command", std::string_view(text, static_cast<std::size_t>(length))});
}

void write_rank(Thread& thread) noexcept
{
    const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
    const Rank found = find_rank(variable);
    const auto tell_if_known = [&thread](const char* key, const char* value) {
        if (value)
            write(thread, format::Info{key, value});
    };
    tell_if_known("launcher", found.launcher);
    tell_if_known("rank", found.rank);
    tell_if_known("local_rank", found.local_rank);
    tell_if_known("world_size", found.world_size);
    tell_if_known("local_world_size", found.local_world_size);
    tell_if_known("job", find_job(variable));
}

// How the pool was set: what a report says of memory rests on it.
void write_pool_settings(Thread& thread) noexcept
{
    const PoolMode mode = settings().pool_mode;
    write(thread, format::Info{"pool.mode", word_of(kPoolModes, mode)});
    if (mode != PoolMode::off)
        write(thread, format::Info{"pool.sync", settings().pool_strict ? "strict" : "lazy"});
    for (const char* knob = settings().pool_knobs; *knob; knob += std::strlen(knob) + 1) {
        char key[64];
        const char* const value = std::strchr(knob, '=') + 1;
        std::snprintf(key, sizeof key, "pool.%.*s", static_cast<int>(value - 1 - knob), knob);
        write(thread, format::Info{key, value});
    }
}

void write_environment(Thread& thread) noexcept
{
    const auto write_if_set = [&thread](const char* name) {
        const char* const value = name ? std::getenv(name) : nullptr;
        if (!value)
            return;
        char key[64];
        std::snprintf(key, sizeof key, "env.%s", name);
        write(thread, format::Info{key, value});
    };
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",
          "PYTORCH_NO_CUDA_MEMORY_CACHING", "RANK", "LOCAL_RANK", "WORLD_SIZE",
          "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "VRAMSCOPE_SIMULATE"})
        write_if_set(name);
    for (const format::Framework& framework : format::kFrameworks)
        write_if_set(framework.variable);
}

} // namespace

void write_description(Thread& thread) noexcept
{
    const capture::Scratch<char[kPathBytes]> room;
    if (!room)
        return;
    auto& text = *room;
    write(thread, format::Info{"vramscope.version", VRAMSCOPE_VERSION});
    write(thread, format::Info{"program", program_invocation_short_name});
    const ssize_t length = ::readlink("/proc/self/exe", text, sizeof text);
    if (length > 0)
        write(thread,
              format::Info{"exe", std::string_view(text, static_cast<std::size_t>(length))});
    write_command(thread);
    if (::gethostname(text, sizeof text) == 0)
        write(thread, format::Info{"host", std::string_view(text, ::strnlen(text, sizeof text))});
    write(thread,
          format::Info{"unwinder", word_of(capture::kUnwinders, capture::current_unwinder())});
    std::snprintf(text, sizeof text, "%u", settings().max_frames);
    write(thread, format::Info{"stack_depth", text});
    write_pool_settings(thread);
    write_rank(thread);
    write_environment(thread);
}

} // namespace vramscope::log
