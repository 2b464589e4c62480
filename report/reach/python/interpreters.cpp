// report/reach/python/interpreters.cpp — which version it is; its modules, and functions that run.
#include <algorithm>
#include <array>
#include <span>

#include "report/reach/python/python_memory.hpp"

namespace vramscope::report {
namespace {

using namespace python;

constexpr std::size_t kMostInterpreters = 1'000;
constexpr std::size_t kMostModules = 20'000;
constexpr std::size_t kMostFrames = 10'000; // of a thread
constexpr std::size_t kMostThreads = 10'000;
constexpr std::size_t kMostChunks = 1'000;
constexpr Address kTags = 7; // in a pointer of a frame's

} // namespace

// Up to 3.10 there are variables beside the runtime that have lists of what was freed.
bool PythonMemory::find_layout(const ModuleNames& modules)
{
    runtime_ = modules.python_variable("_PyRuntime");
    type_type_ = modules.python_variable("PyType_Type").begin;
    if (runtime_.begin == 0 || type_type_ == 0)
        return false;
    const bool is_known =
        std::any_of(std::begin(kLayouts), std::end(kLayouts), [&](const Layout& layout) {
            layout_ = layout;
            return prove();
        });
    interpreter_ = modules.module_around(type_type_);
    if (is_known && layout_.frames == Frames::objects)
        runtime_ = interpreter_;
    return is_known;
}

// The type of types is of its own type; there is a module `__main__`, and `sys` says the version.
bool PythonMemory::prove()
{
    types_.clear();
    module_names_.clear();
    frames_.clear();
    chunks_.clear();
    said_minor_ = 0;
    if (!take_table() || word_at(type_type_ + kType) != type_type_ ||
        type_name(type_type_) != "type")
        return false;
    std::size_t interpreters = 0;
    for (Address at = word_at(runtime_.begin + layout_.interpreters);
         at != 0 && ++interpreters < kMostInterpreters;
         at = word_at(at + layout_.next_interpreter)) {
        find_modules(at);
        find_frames(at);
    }
    const auto by_address = [](const AddressSpan& a, const AddressSpan& b) {
        return a.begin < b.begin;
    };
    std::sort(frames_.begin(), frames_.end(), by_address);
    has_debug_heads_ =
        std::any_of(module_names_.begin(), module_names_.end(), [this](const auto& module) {
            return is_debug_head(module.first - kCollectorBytes - kDebugHead);
        });
    return said_minor_ == layout_.minor &&
           std::any_of(module_names_.begin(), module_names_.end(),
                       [](const auto& module) { return module.second == "__main__"; });
}

// Since 3.13 the runtime begins with a table of its own offsets.
bool PythonMemory::take_table()
{
    const bool is_there = word_at(runtime_.begin) == kTableCookie;
    const auto* const known =
        std::find_if(std::begin(kRuntimeTables), std::end(kRuntimeTables),
                     [&](const RuntimeTable& table) { return table.minor == layout_.minor; });
    if (known == std::end(kRuntimeTables))
        return !is_there;
    const auto offset = [&](std::uint64_t at) {
        return static_cast<std::uint32_t>(
            std::min<std::uint64_t>(word_at(runtime_.begin + at), 1 << 24));
    };
    layout_.interpreters = offset(known->interpreters);
    layout_.next_interpreter = offset(known->next_interpreter);
    layout_.threads = offset(known->threads);
    layout_.modules = offset(known->modules);
    layout_.next_thread = offset(known->next_thread);
    layout_.thread_frame = offset(known->thread_frame);
    layout_.thread_id = offset(known->thread_id);
    layout_.thread_chunk = offset(known->thread_chunk);
    return is_there && word_at(runtime_.begin + kTableFreeThreaded) == 0;
}

// Calls it with each key that is a text, and its value.
template <typename Called>
void PythonMemory::for_each_item(Address dict, const Called& called) const
{
    if (!is_of(dict, "dict") || word_at(dict + kDictValues) != 0)
        return;
    const Address keys = word_at(dict + kDictKeys);
    const KeysLayout& layout = layout_of(keys);
    const std::uint64_t used = std::min<std::uint64_t>(word_at(keys + layout.used), kMostModules);
    for (std::uint64_t at = 0; at < used; ++at) {
        const Address entry = first_entry(keys) + at * layout.entry_bytes + layout.key;
        if (const std::string name = text(word_at(entry)); name != "?")
            called(name, word_at(entry + sizeof(Address)));
    }
}

// One that has several names keeps its first: whoever imports multiprocessing calls `__main__`
// `__mp_main__` too.
void PythonMemory::find_modules(Address interpreter)
{
    const Address dict = word_at(interpreter + layout_.modules);
    for_each_item(dict, [&](const std::string& name, Address module) {
        if (!is_of(module, "module"))
            return;
        module_names_.try_emplace(module, name);
        const Address variables = word_at(module + kModuleDict);
        if (!is_of(variables, "dict"))
            return;
        module_names_.try_emplace(variables, name);
        if (name == "sys")
            for_each_item(variables, [&](const std::string& variable, Address value) {
                if (variable == "hexversion" && is_of(value, "int"))
                    said_minor_ = get<std::uint32_t>(value + kDigits) >> kVersionShift & 0xff;
            });
    });
}

void PythonMemory::find_frames(Address interpreter)
{
    std::size_t threads = 0;
    for (Address thread = word_at(interpreter + layout_.threads);
         thread != 0 && ++threads < kMostThreads; thread = word_at(thread + layout_.next_thread))
        find_frames_of(thread);
}

void PythonMemory::find_frames_of(Address thread)
{
    std::size_t count = 0;
    if (layout_.thread_chunk != 0)
        for (Address chunk = word_at(thread + layout_.thread_chunk);
             chunk != 0 && ++count < kMostChunks; chunk = word_at(chunk + kChunkBefore))
            chunks_.push_back({chunk, chunk + word_at(chunk + kChunkBytes)});
    const std::uint32_t tid = tid_of(thread);
    const Address first = word_at(thread + layout_.thread_frame);
    const Address innermost =
        layout_.in_call < 0 ? first : word_at(first + static_cast<Address>(layout_.in_call));
    count = 0;
    for (Address frame = innermost; frame != 0 && ++count < kMostFrames;
         frame = word_at(frame + layout_.frame_before)) {
        PythonFrame row;
        row.code = code_of(frame);
        if (!is_of(row.code, "code"))
            continue;
        row.begin = frame;
        row.locals = frame + layout_.frame_locals;
        row.temporaries = row.locals + count_locals(row.code) * sizeof(Address);
        row.end = row.temporaries +
                  std::min<std::uint64_t>(get<std::uint32_t>(row.code + layout_.code_stack_words),
                                          1 << 16) *
                      sizeof(Address);
        row.tid = tid;
        frames_.push_back(row);
        if (layout_.frames == Frames::objects)
            chunks_.push_back(row);
    }
}

// Up to 3.10 an interpreter knows the C library's thread alone, which is where its pointer leads.
std::uint32_t PythonMemory::tid_of(Address thread) const
{
    const Address said = word_at(thread + layout_.thread_id);
    if (layout_.frames == Frames::chunks)
        return static_cast<std::uint32_t>(said);
    const auto known =
        std::find_if(memory_.threads().begin(), memory_.threads().end(),
                     [said](const SeenThread& seen) { return seen.thread_pointer == said; });
    return known == memory_.threads().end() || said == 0 ? 0 : known->tid;
}

Address PythonMemory::code_of(Address frame) const
{
    return word_at(frame + layout_.frame_code) & ~kTags;
}

std::span<const std::uint64_t> PythonMemory::local_names() const
{
    return layout_.frames == Frames::objects ? std::span<const std::uint64_t>(kOldCodeLocalNames)
                                             : std::span<const std::uint64_t>(kCodeLocalNames);
}

std::uint64_t PythonMemory::count_locals(Address code) const
{
    constexpr std::uint64_t kMostLocals = 1 << 16;
    std::uint64_t count = 0;
    for (const std::uint64_t at : local_names())
        count += std::min(word_at(word_at(code + at) + kCount), kMostLocals);
    return count;
}

} // namespace vramscope::report
