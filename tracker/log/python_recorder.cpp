// tracker/log/python_recorder.cpp — known pairs are looked up; a new one is written.
#include "tracker/log/python_recorder.hpp"

#include <algorithm>
#include <mutex>

#include "tracker/capture/arena.hpp"
#include "tracker/capture/careful_read.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/capture/python/code.hpp"
#include "tracker/capture/python/freed_codes.hpp"
#include "tracker/capture/python/identity.hpp"
#include "tracker/capture/python/placing.hpp"
#include "tracker/capture/python/walk.hpp"
#include "tracker/capture/signals.hpp"
#include "tracker/capture/unwinder.hpp"
#include "tracker/environment/settings.hpp"
#include "tracker/log/chunk_writer.hpp"
#include "tracker/log/interrupting_stacks.hpp"
#include "tracker/log/origins.hpp"

namespace vramscope::log {

constinit std::atomic<bool> python_seen{false};

namespace {

namespace python = capture::python;

using Recent = std::atomic<const capture::StackTable::Stack*>;

// What was found holds for the children of a fork, too; the tables are those of one log.
struct Python {
    capture::Lock lock;
    std::atomic<bool> settled; // it was found, and the log of this process says so
    python::Interpreter interpreter;
    python::Layout layout;
    const char* why_off; // null: it is not switched off
    std::atomic<bool> proven;
    std::atomic<std::uint32_t> refused; // stacks that were not right, after the proof
    capture::StackTable stacks;
    capture::StackTable codes;
    // What came last after one stack, at a native one: programs repeat themselves.
    Recent recent[1024];
};
constinit Python cpython{};

constexpr std::uint32_t kMostRefused = 16;

constinit InterruptingStacks interrupting; // of those that matches_now() looks at it has none

[[gnu::cold]] void switch_off(Thread& thread, const char* why) noexcept
{
    {
        const std::lock_guard guard(cpython.lock);
        if (cpython.why_off)
            return;
        cpython.why_off = why;
        python_seen.store(false, std::memory_order_relaxed);
    }
    write(thread, format::Info{"python.off", why});
}

[[gnu::cold]] void refuse(Thread& thread, const char* why) noexcept
{
    if (!cpython.proven.load(std::memory_order_relaxed) || ++cpython.refused > kMostRefused)
        switch_off(thread, why);
}

// A line table that is longer than a text goes on in further records.
bool write_code(Thread& thread, std::uint64_t id, python::CodeNames& names) noexcept
{
    const capture::KeptScratch<char[format::kMostTextBytes]> piece;
    if (!piece)
        return false;
    format::PythonCode record{id,         cpython.layout.lines, names.first_line,
                              names.file, names.name,           {}};
    do {
        const std::size_t bytes = std::min(names.line_bytes, sizeof *piece);
        if (!capture::read_carefully(names.lines, *piece, bytes))
            return false;
        record.lines = {*piece, bytes};
        if (!write(thread, record))
            return false;
        record.file = record.name = {};
        names.lines += bytes;
        names.line_bytes -= bytes;
    } while (names.line_bytes > 0);
    return true;
}

// Returns the id of a code object, which is in the log by then; 0: it could not be written.
std::uint32_t code_id(Thread& thread, const python::Frame& frame) noexcept
{
    const std::uintptr_t key[] = {frame.code, frame.identity};
    const std::uint64_t hash = capture::hash_frames(key, std::size(key), 0);
    if (const std::uint32_t known = cpython.codes.find(hash, key, std::size(key)))
        return known;
    const capture::KeptScratch<python::CodeNames> names;
    const std::uint32_t id = cpython.codes.new_id();
    if (!names || id == 0 || !python::read_code(cpython.layout, frame.code, *names) ||
        !write_code(thread, id, *names))
        return 0;
    return cpython.codes.publish(hash, key, std::size(key), id);
}

struct Learning {
    python::Stack stack;
    std::uintptr_t native[capture::kMaxFrames];
    std::uint32_t native_of_call[python::kMostFrames + 1];
    format::PythonFrame frames[python::kMostFrames];
    std::uintptr_t steps[python::kMostFrames];
};

// A walk is the stack's only as long as no walk was found to be wrong.
bool place(Thread& thread, const CallSite& site, Learning& learning) noexcept
{
    if (thread.stacks && verifying.load(std::memory_order_relaxed))
        if (const auto walk = thread.stacks->begin_walk(site.frame, site.return_address))
            if (python::place_by_address(learning.stack, *walk, settings().max_frames,
                                         learning.native_of_call))
                return true;
    bool truncated = false;
    const std::size_t count =
        capture::unwind(site.return_address, learning.native, settings().max_frames, truncated);
    return count > 0 && python::place_by_counting(learning.stack, cpython.interpreter.loop,
                                                  {{learning.native, count}, truncated},
                                                  learning.native_of_call);
}

// Returns the id of the new pair, or 0: it could not be written.
std::uint32_t write_pair(Thread& thread, const CallSite& site, std::uint32_t native,
                         Learning& learning) noexcept
{
    const python::Stack& stack = learning.stack;
    format::PythonStack record{0, native, 0, 0, stack.count, {learning.frames, {}}};
    const bool placed = native != 0 && place(thread, site, learning);
    for (std::size_t at = 0; at < stack.count; ++at) {
        const python::Frame& frame = stack.frames[at];
        const std::uint32_t code = code_id(thread, frame);
        if (code == 0)
            return 0;
        learning.frames[at] = {placed ? learning.native_of_call[frame.call] : 0, code,
                               frame.offset};
    }
    record.flags = (stack.truncated ? format::PythonStack::kTruncated : 0) |
                   (placed ? 0 : format::PythonStack::kUnplaced);
    const std::uint32_t id = stack_table.new_id();
    record.id = id;
    if (id == 0)
        count_lost(format::Lost::table_full);
    return id != 0 && write(thread, record) ? id : 0;
}

// Signals are held: the thread may not leave by a jump while it writes.
[[gnu::noinline, gnu::cold]] std::uint32_t learn(Thread& thread, const CallSite& site,
                                                 std::uint32_t native, std::uintptr_t state,
                                                 const std::uintptr_t* words,
                                                 const python::Collected& known) noexcept
{
    const capture::SignalsHeld held;
    const capture::KeptScratch<Learning> learning;
    if (!learning)
        return native;
    const bool proven = cpython.proven.load(std::memory_order_acquire);
    const char* why = "";
    if (!python::read_stack(cpython.interpreter, cpython.layout, state,
                            proven ? python::Trust::proven : python::Trust::none, learning->stack,
                            why)) {
        refuse(thread, why);
        return native;
    }
    if (learning->stack.count == 0)
        return native;
    if (!proven)
        python::count_freed_codes(cpython.interpreter);
    cpython.proven.store(true, std::memory_order_release);
    const std::uint32_t id = write_pair(thread, site, native, *learning);
    if (id == 0)
        return native;
    if (!proven)
        return id;
    const std::size_t steps = python::collect_steps(cpython.layout, state, learning->steps);
    return cpython.stacks.publish(known.hash, words, known.words, id, {learning->steps, steps});
}

// What the words of a known stack begin with. What an interpreter had may lie where another's is
// once it has ended, and not each of its code objects was freed one by one.
std::uintptr_t first_word(std::uint32_t native, std::uintptr_t state) noexcept
{
    return native | python::interpreter_of(cpython.layout, state) << 32;
}

[[gnu::noinline]] std::uint32_t find_or_learn(Thread& thread, const CallSite& site,
                                              std::uint32_t native, std::uintptr_t state,
                                              Recent& recent) noexcept
{
    if (interrupting.has(native))
        return native;
    std::uintptr_t words[1 + python::kMostWords];
    python::Collected now = python::collect(cpython.layout, state, words + 1);
    if (now.words == 0)
        return native;
    words[0] = first_word(native, state);
    ++now.words;
    now.hash += words[0] * 0x9e3779b97f4a7c15u;
    now.hash ^= now.hash >> 29;
    const auto* const known = cpython.stacks.find_stack(now.hash, words, now.words);
    if (!known)
        return learn(thread, site, native, state, words, now);
    recent.store(known, std::memory_order_release);
    return known->id;
}

Recent& recent_of(const Thread& thread, std::uint32_t native) noexcept
{
    const std::uint32_t hash = native * 0x85ebca6bu + thread.last_python * 0x9e3779b1u;
    return cpython.recent[(hash >> 16) % std::size(cpython.recent)];
}

// Whether the thread's frames of Python are those of a known stack. Its code objects need not be
// told from others at their addresses as long as none was freed since that was last done.
[[gnu::always_inline]] inline bool matches_now(const capture::StackTable::Stack& known,
                                               std::uintptr_t state) noexcept
{
    const std::uint64_t freed = python::freed_codes();
    const bool same = freed != 0 && known.proven_at.load(std::memory_order_relaxed) == freed;
    if (!python::matches(cpython.layout, state, {known.frames() + 1, known.count - 1},
                         known.frames() + known.count,
                         same ? python::Codes::are_the_same : python::Codes::may_differ))
        return false;
    if (freed != 0 && !same)
        known.proven_at.store(freed, std::memory_order_relaxed);
    return true;
}

// Returns the id of the native frames (0: there are none) with the thread's frames of Python;
// `native` if it has none of these.
[[gnu::always_inline]] inline std::uint32_t with_functions(Thread& thread, const CallSite& site,
                                                           std::uint32_t native,
                                                           std::uintptr_t state) noexcept
{
    if (!cpython.proven.load(std::memory_order_acquire)) [[unlikely]]
        return interrupting.has(native) ? native : learn(thread, site, native, state, nullptr, {});
    Recent& recent = recent_of(thread, native);
    const auto* const last = recent.load(std::memory_order_acquire);
    if (!last || last->frames()[0] != first_word(native, state) || !matches_now(*last, state))
        return thread.last_python = find_or_learn(thread, site, native, state, recent);
    return thread.last_python = last->id;
}

} // namespace

std::uint32_t add_python(Thread& thread, const CallSite& site, std::uint32_t native) noexcept
{
    const std::uintptr_t state = native ? cpython.interpreter.state() : 0;
    if (!state)
        return native;
    return add_origin(thread, with_functions(thread, site, native, state));
}

std::uint32_t python_origin(Thread& thread) noexcept
{
    const std::uintptr_t state = may_have_room(thread) ? cpython.interpreter.state() : 0;
    if (!state)
        return 0;
    // A backward pass makes nodes too, for a second derivative, and where it goes forward again.
    return add_origin(thread, with_functions(thread, {}, 0, state));
}

void note_end_of_python() noexcept
{
    if (!python_seen.load(std::memory_order_acquire) || !cpython.interpreter.is_ending ||
        !cpython.interpreter.is_ending())
        return;
    format::FileHeader* const header = own_header();
    if (header && header->python_ended_ticks == 0)
        header->python_ended_ticks = now();
}

void look_for_python(Thread& thread) noexcept
{
    if (cpython.settled.load(std::memory_order_acquire))
        return;
    python::Interpreter found;
    python::Layout layout{};
    const char* why_off = nullptr;
    if (!cpython.interpreter.base) {
        if (!python::find_interpreter(found))
            return;
        python::find_layout(found, layout, why_off);
    }
    {
        const std::lock_guard guard(cpython.lock);
        if (cpython.settled.exchange(true))
            return;
        if (!cpython.interpreter.base) {
            cpython.interpreter = found;
            cpython.layout = layout;
            cpython.why_off = why_off;
        }
        if (!cpython.why_off && !(cpython.stacks.open() && cpython.codes.open()))
            cpython.why_off = "there is no memory for its tables";
        python_seen.store(!cpython.why_off, std::memory_order_release);
    }
    write(thread, format::Info{"python", cpython.interpreter.version_text});
    if (cpython.why_off)
        write(thread, format::Info{"python.off", cpython.why_off});
}

void check_python_is_loaded() noexcept
{
    if (!python_seen.load(std::memory_order_acquire) || python::is_loaded(cpython.interpreter))
        return;
    python_seen.store(false);
    const std::lock_guard guard(cpython.lock);
    cpython.why_off = "it was unloaded";
}

void note_interrupting_stack(std::uint32_t native) noexcept
{
    interrupting.note(native);
}

void forget_python_of_parent() noexcept
{
    interrupting.reset_after_fork();
    python_seen.store(false);
    cpython.settled.store(false);
    for (Recent& recent : cpython.recent)
        recent.store(nullptr);
    cpython.stacks.reset_after_fork();
    cpython.codes.reset_after_fork();
}

} // namespace vramscope::log
