// tracker/log/lifecycle.cpp — open, join, leave, end.
#include "tracker/log/lifecycle.hpp"

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/driver_times.hpp"
#include "tracker/log/lanes.hpp"
#include "tracker/log/rank.hpp"
#include "tracker/log/settings.hpp"
#include "tracker/log/tell.hpp"

namespace vramscope::log {
namespace {

constinit Process inert{};
constinit LogFile log_file;
constinit capture::StackTable stacks;
constinit capture::Modules module_list;
constinit Lanes lanes;
constinit std::atomic<pid_t> opened_by{
    0}; // survives a fork: tells the child that the tables are its parent's
constinit std::atomic<bool> verify{false};
constinit std::atomic<bool> told_full{false};
constinit pthread_key_t end_key{};
constinit bool end_key_made = false;
constinit capture::Lock opening_lock;

// The kernel gives the child of a fork a page of zeros in its place. Where it cannot (before
// Linux 4.14), a handler does it, which covers fork() if not clone().
bool map_process_page() noexcept
{
    if (process.operator->() != &inert)
        return true;
    constexpr std::size_t kPage = 4096;
    void* page = capture::map_pages(kPage);
    if (!page)
        return false;
    if (::madvise(page, kPage, MADV_WIPEONFORK) != 0)
        ::pthread_atfork(nullptr, nullptr,
                         [] { std::memset(static_cast<void*>(process.operator->()), 0, kPage); });
    process.move_to(static_cast<Process*>(page));
    return true;
}

void forget_parent() noexcept
{
    stacks.reset_after_fork();
    module_list.reset_after_fork();
    lanes.reset_after_fork();
    log_file = {};
    told_full.store(false);
}

// What a program closed of 0, 1 and 2 is taken while we open our own: it goes on writing to these
// numbers, and would write into the log.
class StandardDescriptors {
public:
    StandardDescriptors() noexcept
    {
        for (int number = 0; number <= STDERR_FILENO; ++number)
            if (::fcntl(number, F_GETFD) < 0)
                taken_[number] = ::open("/dev/null", O_RDWR | O_CLOEXEC) == number;
    }
    ~StandardDescriptors()
    {
        for (int number = 0; number <= STDERR_FILENO; ++number)
            if (taken_[number])
                ::close(number);
    }
    StandardDescriptors(const StandardDescriptors&) = delete;
    StandardDescriptors& operator=(const StandardDescriptors&) = delete;

private:
    bool taken_[STDERR_FILENO + 1] = {};
};

std::uint64_t process_start_time() noexcept
{
    const int descriptor = ::open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return 0;
    char text[1024];
    const ssize_t length = ::read(descriptor, text, sizeof text - 1);
    ::close(descriptor);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char* at = std::strrchr(text, ')'); // the name may hold anything, ')' included
    for (int field = 2; at && field < 22; ++field)
        at = std::strchr(at + 1, ' ');
    std::uint64_t ticks = 0;
    if (at) // not strtoull: glibc 2.38 has another symbol for it, which older systems lack
        std::from_chars(at + 1, text + length, ticks);
    return ticks;
}

void fill_header(format::FileHeader& header, format::Clock clock) noexcept
{
    std::memcpy(header.magic, format::kMagic, sizeof header.magic);
    header.major = format::kMajorVersion;
    header.minor = format::kMinorVersion;
    header.byte_order = format::kByteOrder;
    header.header_bytes = format::kHeaderBytes;
    header.chunk_bytes = format::kChunkBytes;
    header.pid = static_cast<std::uint32_t>(::getpid());
    header.parent_pid = static_cast<std::uint32_t>(::getppid());
    header.clock = clock;
    header.process_start = process_start_time();
    header.start_real_ns = capture::clock_ns(CLOCK_REALTIME);
    header.start_ticks = header.latest_ticks = capture::read_ticks(clock);
    header.start_ns = header.latest_ns = capture::clock_ns(CLOCK_MONOTONIC);
}

// Under the opening lock, before any thread is watched.
void make_end_key() noexcept
{
    if (!end_key_made)
        end_key_made = ::pthread_key_create(&end_key, [](void* state) {
                           Lifecycle::leave(*static_cast<Thread*>(state));
                       }) == 0;
}

void watch_end(Thread& thread) noexcept
{
    if (!thread.end_watched && end_key_made)
        thread.end_watched = ::pthread_setspecific(end_key, &thread) == 0;
}

void watch_exits() noexcept
{
    if (opened_by)
        return; // inherited from the parent with everything else
    ::on_exit([](int status, void*) { Lifecycle::exit_began(status); }, nullptr);
    ::at_quick_exit([] { Lifecycle::ended(format::End::quick_exit, 0); });
}

bool create_log() noexcept
{
    struct Room {
        char path[kPathBytes];
        char absolute[kPathBytes];
    };
    const capture::Scratch<Room> room;
    if (!room)
        return false;
    auto& [path, absolute] = *room;
    if (!expand_path(settings().log, path, sizeof path)) {
        tell("VRAMSCOPE_LOG=%.200s is no usable file name (%%e %%p %%h %%t are known): not tracing",
             settings().log);
        return false;
    }
    if (!log_file.create(path)) {
        tell("cannot create the log %.500s: %s; the program runs on untraced (set VRAMSCOPE_LOG, "
             "or -o)",
             path, std::strerror(errno));
        return false;
    }
    if (*log_file.path() != '/' && ::getcwd(absolute, sizeof absolute) &&
        std::strlen(absolute) + std::strlen(log_file.path()) + 2 < sizeof absolute) {
        std::strcat(absolute, "/");
        std::strcat(absolute, log_file.path());
    } else {
        std::strcpy(absolute, log_file.path());
    }
    announce("log", absolute);
    if (std::strcmp(path, log_file.path()) != 0)
        tell("%.400s exists and is kept; the log is %.400s", path, log_file.path());
    return true;
}

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
        record_info(thread, "command", std::string_view(text, static_cast<std::size_t>(length)));
}

// The header of this process's own log. Exit handlers run in every process that inherited them: a
// child of a fork without a log of its own has none, and one of vfork sees its parent's.
format::FileHeader* own_header() noexcept
{
    format::FileHeader* header = process->generation ? process->header : nullptr;
    return header && header->pid == static_cast<std::uint32_t>(::getpid()) ? header : nullptr;
}

// The lane of a thread that ended, if there is one, else a lane of its own.
void enter_lane(Thread& thread) noexcept
{
    Lane lane;
    thread.lane = thread.index;
    if (!lanes.take(lane))
        return;
    thread.lane = lane.index;
    thread.chunks = lane.next_ordinal;
    if (lane.chunk == Lane::kNoChunk || !(thread.chunk = log_file.map_chunk(lane.chunk)))
        return;
    thread.at = reinterpret_cast<std::uint8_t*>(thread.chunk + 1) + lane.committed;
    thread.end = reinterpret_cast<std::uint8_t*>(thread.chunk) + format::kChunkBytes;
    thread.deltas = lane.deltas;
    thread.place = lane.place;
}

// A thread that was torn out of a hook leaves a free that is pending, or deltas that are not those
// of the log: its chunk is not written any more.
void leave_lane(const Thread& thread) noexcept
{
    Lane lane{thread.lane, thread.chunks, Lane::kNoChunk, 0, thread.deltas, thread.place};
    if (thread.chunk && thread.inside == Inside::program) {
        lane.chunk = thread.chunk->index;
        lane.committed = thread.chunk->committed;
    }
    if (thread.chunk)
        LogFile::unmap_chunk(thread.chunk);
    lanes.give(lane);
}

// What the thread has not yet added to the header: it does so at every self-check.
void add_verified(const Thread& thread) noexcept
{
    std::atomic_ref(process->header->stacks_verified)
        .fetch_add(thread.verified % kSelfCheckEvery, std::memory_order_relaxed);
}

void write_rank(Thread& thread) noexcept
{
    const Rank found = find_rank([](const char* name) -> const char* { return std::getenv(name); });
    const auto tell_if_known = [&thread](const char* key, const char* value) {
        if (value)
            record_info(thread, key, value);
    };
    tell_if_known("launcher", found.launcher);
    tell_if_known("rank", found.rank);
    tell_if_known("local_rank", found.local_rank);
    tell_if_known("world_size", found.world_size);
}

// How the pool was set: what a report says of memory rests on it.
void write_pool_settings(Thread& thread) noexcept
{
    const PoolMode mode = settings().pool_mode;
    record_info(thread, "pool.mode",
                mode == PoolMode::cache   ? "cache"
                : mode == PoolMode::split ? "split"
                                          : "off");
    if (mode != PoolMode::off)
        record_info(thread, "pool.sync", settings().pool_strict ? "strict" : "lazy");
    for (const char* knob = settings().pool_knobs; *knob; knob += std::strlen(knob) + 1) {
        char key[64];
        const char* const value = std::strchr(knob, '=') + 1;
        std::snprintf(key, sizeof key, "pool.%.*s", static_cast<int>(value - 1 - knob), knob);
        record_info(thread, key, value);
    }
}

// What the program was, so that the log explains itself elsewhere.
void write_infos(Thread& thread) noexcept
{
    const capture::Scratch<char[kPathBytes]> room;
    if (!room)
        return;
    auto& text = *room;
    record_info(thread, "vramscope.version", VRAMSCOPE_VERSION);
    record_info(thread, "program", program_invocation_short_name);
    const ssize_t length = ::readlink("/proc/self/exe", text, sizeof text);
    if (length > 0)
        record_info(thread, "exe", std::string_view(text, static_cast<std::size_t>(length)));
    write_command(thread);
    if (::gethostname(text, sizeof text) == 0)
        record_info(thread, "host", std::string_view(text, ::strnlen(text, sizeof text)));
    record_info(thread, "unwinder", capture::unwinder_name(capture::current_unwinder()));
    std::snprintf(text, sizeof text, "%u", settings().max_frames);
    record_info(thread, "stack_depth", text);
    write_pool_settings(thread);
    write_rank(thread);
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF",
          "PYTORCH_NO_CUDA_MEMORY_CACHING", "RANK", "LOCAL_RANK", "WORLD_SIZE",
          "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "VRAMSCOPE_SIMULATE"})
        if (const char* value = std::getenv(name)) {
            std::snprintf(text, sizeof text, "env.%s", name);
            record_info(thread, text, value);
        }
}

} // namespace

constinit ProcessPointer process(&inert);

LogFile& Lifecycle::file() noexcept
{
    return log_file;
}
capture::StackTable& Lifecycle::stack_table() noexcept
{
    return stacks;
}
capture::Modules& Lifecycle::modules() noexcept
{
    return module_list;
}
bool Lifecycle::verifying() noexcept
{
    return verify.load(std::memory_order_relaxed);
}
void Lifecycle::stop_verifying() noexcept
{
    verify.store(false, std::memory_order_relaxed);
}

std::uint32_t Lifecycle::current_tid() noexcept
{
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

bool make_ready(Thread& thread, const Opening& opening) noexcept
{
    if (process->off)
        return false;
    const capture::SignalsHeld held;
    return process->generation ? Lifecycle::join(thread) : Lifecycle::open(thread, opening);
}

bool Lifecycle::open(Thread& thread, const Opening& opening) noexcept
{
    if (capture::privileged())
        return false;
    const StandardDescriptors standard;
    capture::open_unwinder(settings().unwinder); // asks the loader: before our lock
    {
        const std::lock_guard guard(opening_lock);
        if (!map_process_page() || process->off)
            return false;
        if (!process->generation) {
            if (opened_by)
                forget_parent();
            if (capture::objects_locked_for_ever())
                tell("another thread held the loader's lock when this process was forked: its "
                     "events have no stacks");
            for (const char* line : {settings().complaint, settings().without_effect})
                if (*line)
                    tell("%s", line);
            if (!stacks.open() || !create_log()) {
                process->off = true;
                return false;
            }
            process->clock = capture::choose_clock();
            process->header = log_file.header();
            fill_header(*process->header, process->clock);
            make_end_key();
            watch_exits();
            verify.store(settings().verify_stacks);
            opened_by = ::getpid();
            process->generation.store(static_cast<std::uint32_t>(opened_by.load()),
                                      std::memory_order_release);
        } else {
            return join(thread);
        }
    }
    if (!join(thread))
        return false;
    write_infos(thread);
    for (std::size_t id = 0; id < opening.apis.size(); ++id)
        record_api(thread, id, opening.apis[id]);
    note_modules(thread);
    if (opening.describe)
        opening.describe(thread);
    return true;
}

bool Lifecycle::join(Thread& thread) noexcept
{
    const PendingRanges pending = thread.pending;
    const Inside inside = thread.inside;
    const CallSite site = thread.site;
    const bool end_watched = thread.end_watched;
    capture::VerifiedStacks* const inherited = thread.stacks;
    forget_driver_times(thread); // what a parent's thread summed up is in its own log
    thread = {}; // after a fork its pointers are the parent's and must not be followed
    thread.inside = inside;
    thread.site = site;
    thread.stack = capture::own_stack_bounds();
    thread.pending = pending;
    thread.end_watched = end_watched;
    watch_end(thread);
    thread.index =
        std::atomic_ref(process->header->threads).fetch_add(1, std::memory_order_relaxed);
    thread.generation = process->generation;
    if (inherited)
        inherited->forget(); // its ids are of the parent's log
    if (settings().verify_stacks)
        thread.stacks = inherited ? inherited : capture::VerifiedStacks::create(thread.stack);
    enter_lane(thread);
    if (!thread.chunk)
        next_chunk(thread);
    else
        write_thread(thread);
    thread.pending.drain([&](std::string_view range) { record_range(thread, range); });
    thread.pending.give_room_back();
    return true;
}

void Lifecycle::make_room_for_pending(Thread& thread) noexcept
{
    if (thread.pending.has_room())
        return;
    const capture::SignalsHeld held;
    {
        const std::lock_guard guard(opening_lock);
        make_end_key();
    }
    watch_end(thread);
    if (thread.end_watched)
        thread.pending.make_room();
}

void Lifecycle::leave(Thread& thread) noexcept
{
    const capture::SignalsHeld held;
    thread.pending.give_room_back();
    thread.end_watched = false;
    if (!is_ready(thread))
        return;
    add_verified(thread);
    if (thread.inside == Inside::program) // else it was torn out of a hook
        write_driver_times(thread, now(), true);
    leave_lane(thread);
    forget_driver_times(thread);
    thread.inside = Inside::recorder;
    if (thread.stacks)
        thread.stacks->destroy();
    thread = {}; // should it call CUDA again, from another destructor, it joins again
}

void Lifecycle::renew_clock_pair() noexcept
{
    format::FileHeader* header = process->header;
    std::atomic_ref(header->latest_ticks).store(now(), std::memory_order_relaxed);
    std::atomic_ref(header->latest_ns)
        .store(capture::clock_ns(CLOCK_MONOTONIC), std::memory_order_relaxed);
}

void Lifecycle::exit_began(int status) noexcept
{
    format::FileHeader* header = own_header();
    if (!header || header->exit_began_ticks)
        return;
    renew_clock_pair();
    header->end_status = status;
    header->exit_began_ticks = now();
}

void Lifecycle::ended(format::End how, int status) noexcept
{
    format::FileHeader* header = own_header();
    if (!header || header->end != format::End::unknown)
        return;
    if (how == format::End::exit && !header->exit_began_ticks)
        return;
    if (how == format::End::underscore_exit)
        header->end_status = status;
    renew_clock_pair();
    if (Thread& thread = this_thread; is_ready(thread)) {
        add_verified(thread);
        if (thread.inside == Inside::program)
            write_driver_times(thread, now(), true);
    }
    header->end = how;
}

void Lifecycle::tell_once_log_full() noexcept
{
    if (!told_full.exchange(true))
        tell("cannot write to the log %.500s: %s; further events are counted as lost",
             log_file.path(),
             log_file.still_ours() ? std::strerror(errno) : "the program closed its descriptor");
}

} // namespace vramscope::log
