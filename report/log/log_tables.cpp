// report/log/log_tables.cpp — definitions, where they make sense.
#include "report/log/log_tables.hpp"

#include <algorithm>
#include <climits>

namespace vramscope::report {

using format::Tag;

namespace {

constexpr std::uint64_t kMaxApis = 4096;
constexpr std::size_t kMaxModules = 65536;
constexpr std::size_t kMaxDevices = 1024;
constexpr std::size_t kMaxFramesOfAddress = 256; // inlined into each other

std::uint64_t distance_in_time(const Module& module, std::uint64_t ticks) noexcept
{
    if (ticks < module.loaded_ticks)
        return module.loaded_ticks - ticks;
    return ticks >= module.gone_ticks ? ticks - module.gone_ticks + 1 : 0;
}

int line_number(std::uint64_t logged) noexcept
{
    return logged <= INT_MAX ? static_cast<int>(logged) : 0;
}

} // namespace

bool LogTables::define(const Record& record)
{
    switch (record.tag) {
    case Tag::info:
        return take<format::Info>(record);
    case Tag::api:
        return take<format::Api>(record);
    case Tag::thread:
        return take<format::Thread>(record);
    case Tag::stack:
        return take<format::Stack>(record);
    case Tag::device:
        return take<format::Device>(record);
    case Tag::module_loaded:
        return take<format::ModuleLoaded>(record);
    case Tag::module_gone:
        return take<format::ModuleGone>(record);
    case Tag::python_code:
        return take<format::PythonCode>(record);
    case Tag::python_stack:
        return take<format::PythonStack>(record);
    case Tag::frame_name:
        return take<format::FrameName>(record);
    default:
        return false;
    }
}

std::vector<std::uint64_t> LoggedStack::addresses() const
{
    std::vector<std::uint64_t> all;
    if (!of_python)
        format::Addresses{.coded = coded}.visit(
            count, [&](std::uint64_t address) { all.push_back(address); });
    return all;
}

std::vector<format::PythonFrame> LoggedStack::python() const
{
    std::vector<format::PythonFrame> all;
    if (of_python)
        format::PythonFrames{.coded = coded}.visit(
            count, [&](const format::PythonFrame& frame) { all.push_back(frame); });
    return all;
}

// True even if its content is bad: the record is a definition.
template <typename R>
bool LogTables::take(const Record& record)
{
    const std::optional<R> fields = record.as<R>();
    if (!fields || !add(*fields, record.ticks))
        ++undefined_;
    return true;
}

bool LogTables::add(const format::Info& info, std::uint64_t)
{
    if (info.key == kNamesNotice)
        names_notices_.emplace_back(info.value);
    else
        info_.emplace_back(info.key, info.value);
    return true;
}

bool LogTables::add(const format::Api& logged, std::uint64_t)
{
    if (logged.id >= kMaxApis || !is_known(logged.effect) || !is_known(logged.memory))
        return false;
    if (logged.id >= apis_.size())
        apis_.resize(logged.id + 1);
    Api& api = apis_[logged.id];
    api.defined = true;
    api.effect = logged.effect;
    api.memory = logged.memory;
    api.name = logged.name;
    return true;
}

bool LogTables::add(const format::Thread& thread, std::uint64_t)
{
    threads_[static_cast<std::uint32_t>(thread.index)] = {
        .tid = static_cast<std::uint32_t>(thread.tid), .name = std::string(thread.name)};
    return true;
}

bool LogTables::add(const format::Stack& logged, std::uint64_t ticks)
{
    if (logged.count > logged.addresses.coded.size()) // an address takes a byte at least
        return false;
    if (!logged.addresses.visit(logged.count, [](std::uint64_t) {}))
        return false;
    LoggedStack stack;
    stack.coded = logged.addresses.coded;
    stack.count = static_cast<std::uint32_t>(logged.count);
    stack.known_since_ticks = ticks;
    stack.truncated = (logged.flags & format::Stack::kTruncated) != 0;
    stacks_.try_emplace(logged.id, std::move(stack));
    return true;
}

// The first one defines it, further ones go on with its line table.
bool LogTables::add(const format::PythonCode& logged, std::uint64_t)
{
    if (!is_known(logged.table))
        return false;
    const auto [code, added] = python_codes_.try_emplace(logged.id);
    if (added)
        code->second = {.table = logged.table,
                        .first_line = logged.first_line,
                        .file = std::string(logged.file),
                        .name = std::string(logged.name),
                        .lines = {}};
    code->second.lines += logged.lines;
    return true;
}

bool LogTables::add(const format::PythonStack& logged, std::uint64_t ticks)
{
    constexpr std::size_t kLeastBytes = 3; // that a frame takes
    if (logged.stack == logged.id || (logged.origin && logged.origin >= logged.id) ||
        logged.count > logged.frames.coded.size() / kLeastBytes)
        return false;
    if (!logged.frames.visit(logged.count, [](const format::PythonFrame&) {}))
        return false;
    LoggedStack stack;
    stack.coded = logged.frames.coded;
    stack.count = static_cast<std::uint32_t>(logged.count);
    stack.of_python = true;
    stack.known_since_ticks = ticks;
    stack.truncated = (logged.flags & format::PythonStack::kTruncated) != 0;
    stack.inner = logged.stack;
    stack.origin = logged.origin;
    stack.leaf = (logged.flags & format::PythonStack::kLeaf) != 0;
    stack.placed = (logged.flags & format::PythonStack::kUnplaced) == 0;
    stacks_.try_emplace(logged.id, std::move(stack));
    return true;
}

// Those of one address follow each other, until one was not inlined.
bool LogTables::add(const format::FrameName& logged, std::uint64_t)
{
    auto& [frames, no_unwind_table] = frames_[{logged.module, logged.offset}];
    if (frames.size() == kMaxFramesOfAddress || (!frames.empty() && !frames.back().inlined))
        return false;
    no_unwind_table = (logged.flags & format::FrameName::kNoUnwindTable) != 0;
    Frame& frame = frames.emplace_back();
    frame.function = logged.function;
    frame.short_name = logged.short_name;
    frame.file = logged.file;
    frame.line = line_number(logged.line);
    frame.function_line = line_number(logged.function_line);
    frame.offset = logged.offset;
    frame.inlined = (logged.flags & format::FrameName::kInlined) != 0;
    return true;
}

bool LogTables::add(const format::Device& logged, std::uint64_t)
{
    if (logged.ordinal >= kMaxDevices)
        return false;
    const auto ordinal = static_cast<std::int32_t>(logged.ordinal);
    if (std::none_of(devices_.begin(), devices_.end(),
                     [&](const LoggedDevice& device) { return device.ordinal == ordinal; }))
        devices_.push_back(
            {.ordinal = ordinal, .bytes = logged.bytes, .name = std::string(logged.name)});
    return true;
}

bool LogTables::add(const format::ModuleLoaded& logged, std::uint64_t ticks)
{
    if (logged.first >= logged.end || modules_.size() == kMaxModules)
        return false;
    loaded_[logged.id] = modules_.size();
    modules_.push_back(
        {.number = logged.id,
         .load_bias = logged.bias,
         .first = logged.first,
         .end = logged.end,
         .loaded_ticks = ticks,
         .id = {.path = std::string(logged.path), .build_id = std::string(logged.build_id)}});
    return true;
}

bool LogTables::add(const format::ModuleGone& gone, std::uint64_t ticks)
{
    const auto found = loaded_.find(gone.module);
    if (found == loaded_.end())
        return false;
    modules_[found->second].gone_ticks = ticks;
    loaded_.erase(found);
    return true;
}

Api* LogTables::look_ahead_for(std::uint64_t id)
{
    std::exchange(find_apis_, nullptr)(*this);
    return api(id);
}

const LoggedStack* LogTables::stack(std::uint64_t id) const noexcept
{
    const auto found = stacks_.find(id);
    return found == stacks_.end() ? nullptr : &found->second;
}

std::string_view LogTables::info_value(std::string_view key) const noexcept
{
    const auto found = std::find_if(info_.begin(), info_.end(),
                                    [&](const auto& fact) { return fact.first == key; });
    return found == info_.end() ? std::string_view() : found->second;
}

const LoggedPythonCode* LogTables::python_code(std::uint64_t id) const noexcept
{
    const auto found = python_codes_.find(id);
    return found == python_codes_.end() ? nullptr : &found->second;
}

const LoggedFrames* LogTables::frames(const Module& module, std::uint64_t offset) const noexcept
{
    const auto found = frames_.find({module.number, offset});
    return found == frames_.end() ? nullptr : &found->second;
}

LoggedThread LogTables::thread(std::uint32_t index) const
{
    const auto found = threads_.find(index);
    return found == threads_.end() ? LoggedThread{} : found->second;
}

// A module may be noticed only after the first call out of it, so the one that is nearest in time
// is taken, whether or not it was known by then.
const Module* LogTables::module_at(std::uint64_t address, std::uint64_t ticks) const noexcept
{
    const Module* best = nullptr;
    for (const Module& module : modules_) {
        if (address < module.first || address >= module.end)
            continue;
        if (!best || distance_in_time(module, ticks) < distance_in_time(*best, ticks))
            best = &module;
    }
    return best;
}

const Module* LogTables::module_with_path(std::string_view path) const noexcept
{
    const auto found = std::find_if(modules_.begin(), modules_.end(),
                                    [&](const Module& module) { return module.id.path == path; });
    return found == modules_.end() ? nullptr : &*found;
}

// What add() asks of each definition.
bool LogTables::rebuild()
{
    const auto is_whole = [](const auto& one) {
        const auto& [id, stack] = one;
        if (stack.inner == id || (stack.origin != 0 && stack.origin >= id))
            return false;
        return stack.of_python ? format::PythonFrames{.coded = stack.coded}.visit(
                                     stack.count, [](const format::PythonFrame&) {})
                               : format::Addresses{.coded = stack.coded}.visit(
                                     stack.count, [](std::uint64_t) {});
    };
    const auto is_there = [this](const auto& one) { return one.second < modules_.size(); };
    return apis_.size() <= kMaxApis && std::all_of(stacks_.begin(), stacks_.end(), is_whole) &&
           std::all_of(loaded_.begin(), loaded_.end(), is_there);
}

} // namespace vramscope::report
