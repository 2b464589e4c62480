// report/analyze/leaks.cpp — lost blocks become rows: kind, stack in words, equal rows joined.
#include "report/analyze/leaks.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "report/analyze/frames.hpp"
#include "report/read/memory_class.hpp"

namespace vramscope::report {

using format::Memory;

namespace {

LeakKind kind_of(Fate fate, const ProcessEnd& end)
{
    if (fate == Fate::context_gone)
        return LeakKind::at_reset;
    if (end.conclusive() || fate == Fate::context_gone_at_exit)
        return LeakKind::at_exit;
    return end.kind == ProcessEnd::Kind::running ? LeakKind::in_use : LeakKind::at_crash;
}

// A repeated leak grows with the run; one of start-up does not.
Pattern pattern_of(const Leak& leak, std::uint64_t duration_ns)
{
    if (leak.blocks == 1)
        return Pattern::once;
    const bool over_the_run = leak.last_ns - leak.first_ns >= duration_ns / 10;
    return leak.blocks >= 3 && over_the_run ? Pattern::repeated : Pattern::several;
}

// Joins the path; a '/' inside a name stays as it is: the path is for reading.
std::string join(const std::vector<std::string>& path)
{
    std::string joined;
    for (const std::string& name : path)
        joined += (joined.empty() ? "" : "/") + name;
    return joined;
}

// Symbolizes the stacks of one log; each place once.
class StackReader {
public:
    StackReader(const LogTables& tables, Symbolizer& symbolizer)
        : tables_(tables), symbolizer_(symbolizer)
    {
    }

    std::vector<Frame> read(const LoggedStack& stack, std::uint64_t ticks)
    {
        // A stack's number is of one state of the loaded modules: any later time of its use tells
        // which.
        ticks = std::max(ticks, stack.known_since_ticks);
        std::vector<Frame> frames;
        for (const std::uint64_t address : stack.addresses) {
            const std::vector<Frame>& found =
                at(address - 1, ticks); // inside the call, not behind it
            frames.insert(frames.end(), found.begin(), found.end());
        }
        return frames;
    }

private:
    const std::vector<Frame>& at(std::uint64_t address, std::uint64_t ticks)
    {
        const Module* const module = tables_.module_at(address, ticks);
        const auto [entry, added] = known_.try_emplace({module, address});
        if (added && module)
            entry->second = symbolizer_.frames(module->id, address - module->load_bias);
        else if (added)
            entry->second.push_back({.function = {}, .file = {}, .module = {}, .offset = address});
        return entry->second;
    }

    const LogTables& tables_;
    Symbolizer& symbolizer_;
    std::map<std::pair<const Module*, std::uint64_t>, std::vector<Frame>> known_;
};

class LeakTable {
public:
    LeakTable(const LeakSource& source, Symbolizer& symbolizer)
        : source_(source), stacks_(source.tables, symbolizer)
    {
    }

    void add(const LostBlocks& lost)
    {
        Leak leak = describe_stack(lost);
        leak.kind = kind_of(lost.fate, source_.end);
        leak.memory = lost.memory;
        leak.device = lost.device;
        std::string key(1, static_cast<char>(leak.kind));
        key += static_cast<char>(leak.memory);
        key += std::to_string(leak.device) + '\0' + leak.api + '\0' + leak.entry_point + '\0';
        for (const Frame& frame : leak.stack)
            append_place(key, frame);
        const auto [at, added] = rows_.try_emplace(key);
        if (added)
            at->second.leak = std::move(leak);
        join_in(at->second, lost, added);
    }

    std::vector<Leak> take()
    {
        std::vector<Leak> leaks;
        for (auto& [key, row] : rows_) {
            Leak& leak = row.leak;
            leak.process = source_.process;
            leak.phase = join(row.phase);
            leak.pattern = pattern_of(leak, source_.duration_ns);
            leak.thread_count = row.threads.size();
            for (const std::uint32_t index : row.threads) {
                if (leak.threads.size() == kMaxLeakThreads)
                    break;
                LoggedThread thread = source_.tables.thread(index);
                leak.threads.push_back({.tid = thread.tid, .name = std::move(thread.name)});
            }
            leaks.push_back(std::move(leak));
        }
        return leaks;
    }

private:
    struct Row {
        Leak leak;
        std::vector<std::string> phase;
        std::vector<std::uint32_t> threads; // indexes, sorted
    };

    Leak describe_stack(const LostBlocks& lost)
    {
        Leak leak;
        leak.entry_point = source_.tables.apis()[lost.api].name;
        const LoggedStack* const stack = source_.tables.stack(lost.stack);
        std::vector<Frame> frames =
            stack ? stacks_.read(*stack, lost.first_ticks) : std::vector<Frame>{};
        leak.stack_truncated = stack && stack->truncated;
        leak.api = user_api(frames, leak.entry_point);
        if (!source_.all_frames) {
            const FrameRange visible = visible_frames(frames);
            frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(visible.end), frames.end());
            frames.erase(frames.begin(),
                         frames.begin() + static_cast<std::ptrdiff_t>(visible.begin));
        }
        leak.stack = std::move(frames);
        return leak;
    }

    void join_in(Row& row, const LostBlocks& lost, bool first)
    {
        Leak& leak = row.leak;
        const std::uint64_t first_ns = source_.clock.ns(lost.first_ticks);
        leak.bytes += lost.bytes;
        leak.blocks += lost.blocks;
        leak.first_ns = first ? first_ns : std::min(leak.first_ns, first_ns);
        leak.last_ns = std::max(leak.last_ns, source_.clock.ns(lost.last_ticks));
        leak.phases_differ =
            leak.phases_differ || lost.phases_differ || (!first && lost.phase != row.phase);
        if (first)
            row.phase = lost.phase;
        else
            row.phase.erase(std::mismatch(row.phase.begin(), row.phase.end(), lost.phase.begin(),
                                          lost.phase.end())
                                .first,
                            row.phase.end());
        std::vector<std::uint32_t> both;
        std::set_union(row.threads.begin(), row.threads.end(), lost.threads.begin(),
                       lost.threads.end(), std::back_inserter(both));
        row.threads = std::move(both);
    }

    const LeakSource& source_;
    StackReader stacks_;
    std::map<std::string, Row> rows_; // sorted by place: equal input, equal order
};

} // namespace

void append_place(std::string& key, const Frame& frame)
{
    key += frame.module + '\0' + frame.function + '\0';
    if (frame.line > 0)
        key += frame.file + '\0' + std::to_string(frame.line);
    else
        key += std::to_string(frame.offset);
    key += '\0';
}

std::vector<Leak> find_leaks(const std::vector<LostBlocks>& lost, const LeakSource& source,
                             Symbolizer& symbolizer)
{
    LeakTable table(source, symbolizer);
    for (const LostBlocks& blocks : lost) {
        if (is_own_memory(blocks.memory))
            table.add(blocks);
    }
    std::vector<Leak> leaks = table.take();
    sort_by_size(leaks);
    return leaks;
}

void sort_by_size(std::vector<Leak>& leaks)
{
    std::stable_sort(leaks.begin(), leaks.end(), [](const Leak& a, const Leak& b) {
        return std::tie(b.bytes, b.blocks, a.first_ns) < std::tie(a.bytes, a.blocks, b.first_ns);
    });
}

const char* name(LeakKind kind) noexcept
{
    switch (kind) {
    case LeakKind::at_exit:
        return "leaked-at-exit";
    case LeakKind::at_reset:
        return "leaked-at-reset";
    case LeakKind::at_crash:
        return "in-use-at-crash";
    case LeakKind::in_use:
        break;
    }
    return "in-use-now";
}

const char* name(Pattern pattern) noexcept
{
    switch (pattern) {
    case Pattern::once:
        return "once";
    case Pattern::several:
        return "several";
    case Pattern::repeated:
        break;
    }
    return "repeated";
}

const char* name(Memory memory) noexcept
{
    switch (memory) {
    case Memory::device:
        return "device";
    case Memory::pitched:
        return "pitched";
    case Memory::managed:
        return "managed";
    case Memory::async:
        return "async";
    case Memory::graph:
        return "graph";
    case Memory::pinned:
        return "pinned";
    case Memory::registered:
        return "registered";
    case Memory::array:
        return "array";
    case Memory::mipmap:
        return "mipmap";
    case Memory::physical:
        return "physical";
    case Memory::reservation:
        return "reservation";
    case Memory::imported:
        return "imported";
    case Memory::ipc:
        return "ipc";
    case Memory::external:
        return "external";
    case Memory::imported_mipmap:
        return "imported_mipmap";
    case Memory::imported_physical:
        return "imported_physical";
    case Memory::multicast:
        return "multicast";
    case Memory::pool:
        return "pool";
    case Memory::context:
        return "context";
    case Memory::green_context:
        return "green_context";
    case Memory::graph_exec:
        return "graph_exec";
    case Memory::none:
        break;
    }
    return "unknown";
}

} // namespace vramscope::report
