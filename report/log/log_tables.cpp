// report/log/log_tables.cpp — decoding of definitions, in the order of fields that record.hpp
// gives.
#include "report/log/log_tables.hpp"

#include <algorithm>

namespace vramscope::report {

using format::Cursor;
using format::Tag;

namespace {

constexpr std::uint64_t kMaxApis = 4096;
constexpr std::size_t kMaxModules = 65536;
constexpr std::size_t kMaxDevices = 1024;
constexpr std::uint64_t kMaxMemory = static_cast<std::uint64_t>(format::Memory::graph_exec);
constexpr std::uint64_t kMaxEffect = static_cast<std::uint64_t>(format::Effect::free);

std::uint64_t distance_in_time(const Module& module, std::uint64_t ticks) noexcept
{
    if (ticks < module.loaded_ticks)
        return module.loaded_ticks - ticks;
    return ticks >= module.gone_ticks ? ticks - module.gone_ticks + 1 : 0;
}

} // namespace

bool LogTables::define(const Record& record)
{
    switch (record.tag) {
    case Tag::info:
        define_info(record.body);
        return true;
    case Tag::api:
        define_api(record.body);
        return true;
    case Tag::thread:
        define_thread(record.thread, record.body);
        return true;
    case Tag::stack:
        define_stack(record);
        return true;
    case Tag::device:
        define_device(record.body);
        return true;
    case Tag::module_loaded:
        load_module(record);
        return true;
    case Tag::module_gone:
        unload_module(record);
        return true;
    default:
        return false;
    }
}

void LogTables::define_info(Cursor in)
{
    const std::string_view key = in.prefixed_text();
    const std::string_view value = in.prefixed_text();
    if (in.ok())
        info_.emplace_back(key, value);
    else
        ++undefined_;
}

void LogTables::define_api(Cursor in)
{
    const std::uint64_t id = in.varint();
    const std::uint64_t effect = in.varint();
    const std::uint64_t memory = in.varint();
    const std::string_view name = in.prefixed_text();
    if (!in.ok() || id >= kMaxApis || effect > kMaxEffect || memory > kMaxMemory) {
        ++undefined_;
        return;
    }
    if (id >= apis_.size())
        apis_.resize(id + 1);
    Api& api = apis_[id];
    api.defined = true;
    api.effect = static_cast<format::Effect>(effect);
    api.memory = static_cast<format::Memory>(memory);
    api.name = name;
}

void LogTables::define_thread(std::uint32_t index, Cursor in)
{
    const std::uint64_t tid = in.varint();
    const std::string_view name = in.prefixed_text();
    if (in.ok())
        threads_[index] = {.tid = static_cast<std::uint32_t>(tid), .name = std::string(name)};
    else
        ++undefined_;
}

void LogTables::define_stack(const Record& record)
{
    Cursor in = record.body;
    const std::uint64_t id = in.varint();
    const std::uint64_t flags = in.varint();
    const std::uint64_t count = in.varint();
    if (!in.ok() || count > in.remaining()) { // an address takes a byte at least
        ++undefined_;
        return;
    }
    LoggedStack stack;
    stack.known_since_ticks = record.ticks;
    stack.truncated = (flags & format::kStackTruncated) != 0;
    stack.addresses.reserve(count);
    std::uint64_t address = 0;
    for (std::uint64_t at = 0; at < count; ++at) {
        address = at == 0 ? in.varint() : address + static_cast<std::uint64_t>(in.signed_varint());
        stack.addresses.push_back(address);
    }
    if (!in.ok())
        ++undefined_;
    else
        stacks_.try_emplace(id, std::move(stack));
}

void LogTables::define_device(Cursor in)
{
    const std::uint64_t ordinal = in.varint();
    const std::uint64_t bytes = in.varint();
    const std::string_view name = in.prefixed_text();
    if (!in.ok() || ordinal >= kMaxDevices) {
        ++undefined_;
        return;
    }
    const auto same = [&](const LoggedDevice& device) {
        return device.ordinal == static_cast<std::int32_t>(ordinal);
    };
    if (std::none_of(devices_.begin(), devices_.end(), same))
        devices_.push_back({.ordinal = static_cast<std::int32_t>(ordinal),
                            .bytes = bytes,
                            .name = std::string(name)});
}

void LogTables::load_module(const Record& record)
{
    Cursor in = record.body;
    Module module;
    module.loaded_ticks = record.ticks;
    module.number = in.varint();
    module.load_bias = in.varint();
    module.first = in.varint();
    module.end = in.varint();
    module.id.build_id = in.prefixed_text();
    module.id.path = in.prefixed_text();
    if (!in.ok() || module.first >= module.end || modules_.size() == kMaxModules) {
        ++undefined_;
        return;
    }
    loaded_[module.number] = modules_.size();
    modules_.push_back(std::move(module));
}

void LogTables::unload_module(const Record& record)
{
    Cursor in = record.body;
    const auto found = loaded_.find(in.varint());
    if (!in.ok() || found == loaded_.end()) {
        ++undefined_;
        return;
    }
    modules_[found->second].gone_ticks = record.ticks;
    loaded_.erase(found);
}

Api* LogTables::api(std::uint64_t id) noexcept
{
    return id < apis_.size() && apis_[id].defined ? &apis_[id] : nullptr;
}

const LoggedStack* LogTables::stack(std::uint64_t id) const noexcept
{
    const auto found = stacks_.find(id);
    return found == stacks_.end() ? nullptr : &found->second;
}

LoggedThread LogTables::thread(std::uint32_t index) const
{
    const auto found = threads_.find(index);
    return found == threads_.end() ? LoggedThread{} : found->second;
}

// A module may be noticed only after the first call out of it, so nearness in time counts, not
// membership.
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

} // namespace vramscope::report
