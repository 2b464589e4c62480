// tests/support/log_builder.cpp — records as tracker/format describes them.
#include "tests/support/log_builder.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace vramscope::test {

using format::Effect;
using format::Memory;
using format::Tag;

namespace {

constexpr std::uint64_t kStartTicks = 1'000'000;
constexpr std::uint64_t kTicksPerEvent = 1000;

struct KnownApi {
    std::string_view name;
    Effect effect;
    Memory memory;
};

constexpr KnownApi kApis[] = {
    {"cuMemAlloc_v2", Effect::alloc, Memory::device},
    {"cuMemFree_v2", Effect::free, Memory::device},
    {"cuMemAllocPitch_v2", Effect::alloc, Memory::pitched},
    {"cuMemAllocManaged", Effect::alloc, Memory::managed},
    {"cuMemAllocAsync", Effect::alloc, Memory::async},
    {"cuMemAllocAsync_ptsz", Effect::alloc, Memory::async},
    {"cuMemFreeAsync", Effect::free, Memory::async},
    {"cuMemHostAlloc", Effect::alloc, Memory::pinned},
    {"cuMemFreeHost", Effect::free, Memory::pinned},
    {"cuMemHostRegister_v2", Effect::alloc, Memory::registered},
    {"cuMemHostUnregister", Effect::free, Memory::registered},
    {"cuArrayCreate_v2", Effect::alloc, Memory::array},
    {"cuArrayDestroy", Effect::free, Memory::array},
    {"cuMipmappedArrayCreate", Effect::alloc, Memory::mipmap},
    {"cuMipmappedArrayDestroy", Effect::free, Memory::mipmap},
    {"cuMemCreate", Effect::alloc, Memory::physical},
    {"cuMemRelease", Effect::free, Memory::physical},
    {"cuMemAddressReserve", Effect::alloc, Memory::reservation},
    {"cuMemAddressFree", Effect::free, Memory::reservation},
    {"cuCtxDestroy_v2", Effect::none, Memory::none},
    {"cuMemMap", Effect::none, Memory::none},
    {"cuMemUnmap", Effect::none, Memory::none},
    {"cuMemRetainAllocationHandle", Effect::none, Memory::none},
    {"cuLaunchKernel", Effect::none, Memory::none},
    {"cuMemAlloc", Effect::alloc, Memory::device},
    {"cuMemFree", Effect::free, Memory::device},
    {"cuDevicePrimaryCtxReset_v2", Effect::none, Memory::none},
    {"cuMemAllocFromPoolAsync", Effect::alloc, Memory::async},
    {"cuMemPoolImportPointer", Effect::alloc, Memory::imported},
    {"cuIpcOpenMemHandle_v2", Effect::alloc, Memory::ipc},
    {"cuIpcCloseMemHandle", Effect::free, Memory::ipc},
    {"cuImportExternalMemory", Effect::alloc, Memory::external},
    {"cuDestroyExternalMemory", Effect::free, Memory::external},
    {"cuExternalMemoryGetMappedBuffer", Effect::alloc, Memory::imported},
    {"cuExternalMemoryGetMappedMipmappedArray", Effect::alloc, Memory::imported_mipmap},
    {"cuMemImportFromShareableHandle", Effect::alloc, Memory::imported_physical},
    {"cuMulticastCreate", Effect::alloc, Memory::multicast},
    {"cuMulticastBindMem", Effect::none, Memory::none},
    {"cuGraphAddMemAllocNode", Effect::alloc, Memory::graph},
    {"cuMemPoolCreate", Effect::alloc, Memory::pool},
    {"cuMemPoolDestroy", Effect::free, Memory::pool},
    {"cuMemPoolTrimTo", Effect::none, Memory::pool},
    {"cuCtxCreate_v2", Effect::alloc, Memory::context},
    {"cuGreenCtxCreate", Effect::alloc, Memory::green_context},
    {"cuGreenCtxDestroy", Effect::free, Memory::green_context},
    {"cuGraphInstantiateWithFlags", Effect::alloc, Memory::graph_exec},
    {"cuGraphExecDestroy", Effect::free, Memory::graph_exec},
    {"cuIpcGetMemHandle", Effect::none, Memory::device},
    {"cuMemExportToShareableHandle", Effect::none, Memory::physical},
    {"cuArray3DCreate_v2", Effect::alloc, Memory::array},
    {"cuModuleLoadData", Effect::none, Memory::device},
};

const KnownApi& known_api(std::string_view name)
{
    for (const KnownApi& api : kApis) {
        if (api.name == name)
            return api;
    }
    throw std::invalid_argument("the log builder does not know " + std::string(name));
}

void add_number(Bytes& out, std::uint64_t value)
{
    std::array<std::uint8_t, format::kMaxVarintBytes> buffer{};
    out.insert(out.end(), buffer.data(), format::put_varint(buffer.data(), value));
}

void add_text(Bytes& out, std::string_view text)
{
    add_number(out, text.size());
    out.insert(out.end(), text.begin(), text.end());
}

Bytes numbers(std::initializer_list<std::uint64_t> values)
{
    Bytes out;
    for (const std::uint64_t value : values)
        add_number(out, value);
    return out;
}

} // namespace

TempFile::TempFile(const Bytes& bytes) : fd_(::memfd_create("vramscope-test", MFD_CLOEXEC))
{
    if (fd_ < 0 || ::write(fd_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
        throw std::runtime_error("cannot write a temporary file");
}

TempFile::~TempFile()
{
    ::close(fd_);
}

std::filesystem::path TempFile::path() const
{
    return "/proc/self/fd/" + std::to_string(fd_);
}

void TempFile::resize(std::size_t bytes)
{
    if (::ftruncate(fd_, static_cast<off_t>(bytes)) != 0)
        throw std::runtime_error("cannot resize a temporary file");
}

void TempFile::overwrite(std::size_t offset, std::uint8_t byte)
{
    if (::pwrite(fd_, &byte, 1, static_cast<off_t>(offset)) != 1)
        throw std::runtime_error("cannot overwrite a temporary file");
}

LogBuilder::LogBuilder(std::uint32_t chunk_bytes) : ticks_(kStartTicks)
{
    std::memcpy(header_.magic, format::kMagic, sizeof header_.magic);
    header_.major = format::kMajorVersion;
    header_.minor = format::kMinorVersion;
    header_.byte_order = format::kByteOrder;
    header_.header_bytes = format::kHeaderBytes;
    header_.chunk_bytes = chunk_bytes;
    header_.pid = 4242;
    header_.parent_pid = 4241;
    header_.clock = format::Clock::monotonic;
    header_.start_ticks = header_.start_ns = kStartTicks;
    header_.end = format::End::exit;
}

LogBuilder& LogBuilder::thread(std::uint32_t index)
{
    current_ = index;
    return *this;
}

LogBuilder& LogBuilder::at(std::uint64_t ticks)
{
    ticks_ = ticks;
    return *this;
}

std::uint64_t LogBuilder::tick()
{
    return std::exchange(ticks_, ticks_ + kTicksPerEvent);
}

std::uint64_t LogBuilder::api_id(std::string_view name)
{
    if (const auto found = apis_.find(name); found != apis_.end())
        return found->second;
    define_api(name);
    return apis_.find(name)->second;
}

LogBuilder& LogBuilder::define_api(std::string_view name)
{
    const KnownApi& api = known_api(name);
    const std::uint64_t id = ids_.emplace(name, ids_.size() + 1).first->second;
    apis_.emplace(name, id);
    Bytes body = numbers(
        {id, static_cast<std::uint64_t>(api.effect), static_cast<std::uint64_t>(api.memory)});
    add_text(body, name);
    return record(static_cast<std::uint8_t>(Tag::api), body);
}

LogBuilder& LogBuilder::forget_definitions()
{
    apis_.clear();
    return *this;
}

void LogBuilder::begin_chunk()
{
    Thread& thread = threads_[current_];
    Chunk chunk;
    chunk.begun = true;
    chunk.header.magic = format::kChunkMagic;
    chunk.header.index = static_cast<std::uint32_t>(chunks_.size());
    chunk.header.lane = current_;
    chunk.header.ordinal = thread.chunks++;
    chunk.header.base_ticks = chunk.header.base_ns = ticks_;
    chunk.header.tid = 5000 + current_;
    thread.chunk = chunks_.size();
    thread.delta = {.ticks = ticks_, .address = 0};
    thread.place_written = thread.place == format::Place{};
    chunks_.push_back(std::move(chunk));
}

LogBuilder::Chunk& LogBuilder::room_for(std::size_t bytes)
{
    const std::size_t payload = header_.chunk_bytes - sizeof(format::ChunkHeader);
    Thread& thread = threads_[current_];
    if (thread.chunk == SIZE_MAX || chunks_[thread.chunk].payload.size() + bytes > payload)
        begin_chunk();
    return chunks_[thread.chunk];
}

void LogBuilder::append(const std::uint8_t* bytes, std::size_t count)
{
    Chunk& chunk = chunks_[threads_[current_].chunk];
    chunk.payload.insert(chunk.payload.end(), bytes, bytes + count);
    chunk.header.committed = static_cast<std::uint32_t>(chunk.payload.size());
}

void LogBuilder::write_place()
{
    Thread& thread = threads_[current_];
    if (thread.place_written)
        return;
    std::array<std::uint8_t, format::kMaxHotBytes> buffer{};
    append(buffer.data(), static_cast<std::size_t>(
                              format::encode_place(buffer.data(), thread.place) - buffer.data()));
    thread.place_written = true;
}

LogBuilder& LogBuilder::place(const format::Place& place)
{
    Thread& thread = threads_[current_];
    thread.place_written = thread.place_written && thread.place == place;
    thread.place = place;
    return *this;
}

LogBuilder& LogBuilder::alloc(std::uint64_t address, std::uint64_t bytes, std::uint64_t stack,
                              std::string_view api)
{
    const format::Alloc event{.api = api_id(api),
                              .ticks = tick(),
                              .address = address,
                              .bytes = bytes,
                              .stack = stack,
                              .memory = Memory::none};
    return add_alloc(event);
}

LogBuilder& LogBuilder::pooled(std::uint64_t address, std::uint64_t bytes, std::uint64_t slack,
                               std::uint64_t stack, std::string_view api)
{
    const format::Alloc event{.api = api_id(api),
                              .ticks = tick(),
                              .address = address,
                              .bytes = bytes,
                              .stack = stack,
                              .memory = Memory::none,
                              .pooled = true,
                              .slack = slack};
    return add_alloc(event);
}

LogBuilder& LogBuilder::add_alloc(const format::Alloc& event)
{
    room_for(2 * format::kMaxHotBytes);
    write_place();
    std::array<std::uint8_t, format::kMaxHotBytes> buffer{};
    std::uint8_t* const end = format::encode_alloc(buffer.data(), event, threads_[current_].delta);
    append(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    return *this;
}

LogBuilder& LogBuilder::free(std::uint64_t address, std::string_view api, std::uint64_t stack)
{
    const format::Free event{
        .api = api_id(api), .ticks = tick(), .address = address, .stack = stack};
    room_for(format::kMaxHotBytes);
    std::array<std::uint8_t, format::kMaxHotBytes> buffer{};
    std::uint8_t* const end = format::encode_free(buffer.data(), event, threads_[current_].delta);
    append(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    return *this;
}

LogBuilder& LogBuilder::record(std::uint8_t tag, const Bytes& body)
{
    Bytes bytes{tag};
    add_number(bytes, body.size());
    bytes.insert(bytes.end(), body.begin(), body.end());
    return raw(bytes);
}

LogBuilder& LogBuilder::raw(const Bytes& bytes)
{
    room_for(bytes.size());
    append(bytes.data(), bytes.size());
    return *this;
}

// A record whose body is [api] ticks rest.
void LogBuilder::event(Tag tag, bool with_api, std::uint64_t api, const Bytes& rest)
{
    room_for(rest.size() + 40); // the chunk must be the one whose deltas are used
    Bytes body;
    if (with_api)
        add_number(body, api);
    std::array<std::uint8_t, format::kMaxVarintBytes> buffer{};
    body.insert(body.end(), buffer.data(),
                format::put_ticks(buffer.data(), tick(), threads_[current_].delta));
    body.insert(body.end(), rest.begin(), rest.end());
    record(static_cast<std::uint8_t>(tag), body);
}

// A record whose time stands for itself.
void LogBuilder::plain_event(Tag tag, const Bytes& rest)
{
    Bytes body = numbers({tick()});
    body.insert(body.end(), rest.begin(), rest.end());
    record(static_cast<std::uint8_t>(tag), body);
}

LogBuilder& LogBuilder::info(std::string_view key, std::string_view value)
{
    Bytes body;
    add_text(body, key);
    add_text(body, value);
    return record(static_cast<std::uint8_t>(Tag::info), body);
}

LogBuilder& LogBuilder::thread_name(std::uint32_t tid, std::string_view name)
{
    return passed_to(current_, tid, name);
}

LogBuilder& LogBuilder::passed_to(std::uint32_t index, std::uint32_t tid, std::string_view name)
{
    Bytes body = numbers({index, tid});
    add_text(body, name);
    return record(static_cast<std::uint8_t>(Tag::thread), body);
}

LogBuilder& LogBuilder::module(std::uint64_t id, std::uint64_t bias, std::uint64_t first,
                               std::uint64_t end, std::string_view path, std::string_view build_id)
{
    Bytes rest = numbers({id, bias, first, end});
    add_text(rest, build_id);
    add_text(rest, path);
    event(Tag::module_loaded, false, 0, rest);
    return *this;
}

LogBuilder& LogBuilder::module_gone(std::uint64_t id)
{
    event(Tag::module_gone, false, 0, numbers({id}));
    return *this;
}

LogBuilder& LogBuilder::stack(std::uint64_t id, std::vector<std::uint64_t> addresses,
                              bool truncated)
{
    Bytes body =
        numbers({id, truncated ? std::uint64_t{format::kStackTruncated} : 0, addresses.size()});
    for (std::size_t at = 0; at < addresses.size(); ++at) {
        const std::uint64_t before = at == 0 ? 0 : addresses[at - 1];
        const auto delta = static_cast<std::int64_t>(addresses[at] - before);
        add_number(body, at == 0 ? addresses[at] : format::zigzag(delta));
    }
    return record(static_cast<std::uint8_t>(Tag::stack), body);
}

LogBuilder& LogBuilder::context(std::uint64_t id, std::int64_t device)
{
    return record(static_cast<std::uint8_t>(Tag::context),
                  numbers({id, 0xc0 + id, format::zigzag(device), 1}));
}

LogBuilder& LogBuilder::context_gone(std::uint64_t id, std::uint64_t stack)
{
    const Bytes body = stack == 0 ? numbers({id}) : numbers({id, stack});
    event(Tag::context_gone, true, api_id("cuCtxDestroy_v2"), body);
    return *this;
}

LogBuilder& LogBuilder::device(std::uint64_t ordinal, std::uint64_t bytes, std::string_view name)
{
    Bytes body = numbers({ordinal, bytes});
    add_text(body, name);
    return record(static_cast<std::uint8_t>(Tag::device), body);
}

LogBuilder& LogBuilder::push(std::string_view range)
{
    Bytes rest;
    add_text(rest, range);
    event(Tag::range_push, false, 0, rest);
    return *this;
}

LogBuilder& LogBuilder::pop()
{
    event(Tag::range_pop, false, 0, {});
    return *this;
}

LogBuilder& LogBuilder::mark(std::string_view name)
{
    Bytes rest;
    add_text(rest, name);
    event(Tag::mark, false, 0, rest);
    return *this;
}

LogBuilder& LogBuilder::failed(std::uint64_t result, std::uint64_t bytes, std::string_view api,
                               std::uint64_t stack)
{
    event(Tag::failed, true, api_id(api), numbers({result, 0, bytes, stack}));
    return *this;
}

LogBuilder& LogBuilder::failed_free(std::uint64_t address, std::uint64_t stack,
                                    std::string_view api, std::uint64_t result)
{
    event(Tag::failed, true, api_id(api), numbers({result, address, 0, stack}));
    return *this;
}

LogBuilder& LogBuilder::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle)
{
    event(Tag::map, true, api_id("cuMemMap"), numbers({address, bytes, handle, 0}));
    return *this;
}

LogBuilder& LogBuilder::pool(std::uint64_t handle, std::int64_t location_type, bool managed)
{
    return record(static_cast<std::uint8_t>(Tag::pool),
                  numbers({handle, format::zigzag(location_type), format::zigzag(0),
                           std::uint64_t{managed}}));
}

LogBuilder& LogBuilder::shared(std::uint64_t address, std::string_view api)
{
    event(Tag::shared, true, api_id(api), numbers({address, 0}));
    return *this;
}

LogBuilder& LogBuilder::trim(std::uint64_t pool, std::uint64_t keep_bytes)
{
    event(Tag::trim, true, api_id("cuMemPoolTrimTo"), numbers({pool, keep_bytes, 0}));
    return *this;
}

LogBuilder& LogBuilder::segment(std::uint64_t address, std::uint64_t bytes, std::uint64_t context,
                                std::int64_t device)
{
    event(Tag::segment, false, 0, numbers({address, bytes, context, format::zigzag(device)}));
    return *this;
}

LogBuilder& LogBuilder::segment_gone(std::uint64_t address, format::SegmentEnd end)
{
    event(Tag::segment_gone, false, 0, numbers({address, static_cast<std::uint64_t>(end)}));
    return *this;
}

LogBuilder& LogBuilder::reusable(std::uint64_t age, bool own)
{
    event(Tag::reusable, false, 0, numbers({age, std::uint64_t{own}}));
    return *this;
}

LogBuilder& LogBuilder::retried(std::uint64_t bytes, std::uint64_t result, std::int64_t device)
{
    event(Tag::retried, true, api_id("cuMemAlloc_v2"),
          numbers({format::zigzag(device), bytes, result}));
    return *this;
}

LogBuilder& LogBuilder::out_of_memory(const OutOfMemory& state, std::string_view api)
{
    event(Tag::out_of_memory, true, api_id(api),
          numbers({format::zigzag(state.device), state.requested, state.free, state.total,
                   state.allocated, state.reserved, state.largest_gap}));
    return *this;
}

LogBuilder& LogBuilder::damaged(format::Damage kind, std::uint64_t address, std::int64_t offset,
                                std::uint64_t bytes, std::uint64_t stack)
{
    event(
        Tag::damaged, false, 0,
        numbers({static_cast<std::uint64_t>(kind), address, format::zigzag(offset), bytes, stack}));
    return *this;
}

LogBuilder& LogBuilder::device_memory(std::uint64_t free, std::uint64_t total, std::int64_t device)
{
    plain_event(Tag::device_memory, numbers({format::zigzag(device), free, total}));
    return *this;
}

LogBuilder& LogBuilder::driver_time(std::string_view api, std::uint64_t calls, std::uint64_t total,
                                    std::uint64_t longest)
{
    plain_event(Tag::driver_time, numbers({api_id(api), calls, total, longest}));
    return *this;
}

LogBuilder& LogBuilder::pending_free(std::uint64_t address, std::uint64_t stack,
                                     std::string_view api)
{
    const std::uint64_t id = api_id(api);
    room_for(1);
    format::ChunkHeader& header = chunks_[threads_[current_].chunk].header;
    header.pending_address = address;
    header.pending_ticks = tick();
    header.pending_stack = static_cast<std::uint32_t>(stack);
    header.pending_api = static_cast<std::uint32_t>(id + 1);
    return *this;
}

LogBuilder& LogBuilder::unmap(std::uint64_t address, std::uint64_t bytes)
{
    event(Tag::unmap, true, api_id("cuMemUnmap"), numbers({address, bytes}));
    return *this;
}

LogBuilder& LogBuilder::retain(std::uint64_t handle)
{
    event(Tag::retain, true, api_id("cuMemRetainAllocationHandle"), numbers({handle}));
    return *this;
}

LogBuilder& LogBuilder::new_chunk()
{
    begin_chunk();
    return *this;
}

LogBuilder& LogBuilder::unused_chunk()
{
    chunks_.emplace_back();
    return *this;
}

std::size_t LogBuilder::chunk_offset(std::size_t chunk) const
{
    return header_.header_bytes + chunk * header_.chunk_bytes;
}

Bytes LogBuilder::build() const
{
    Bytes bytes(chunk_offset(chunks_.size()));
    format::FileHeader header = header_;
    header.chunks = static_cast<std::uint32_t>(chunks_.size());
    header.threads = static_cast<std::uint32_t>(threads_.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    for (std::size_t at = 0; at < chunks_.size(); ++at) {
        if (!chunks_[at].begun)
            continue;
        std::uint8_t* const out = bytes.data() + chunk_offset(at);
        std::memcpy(out, &chunks_[at].header, sizeof(format::ChunkHeader));
        std::memcpy(out + sizeof(format::ChunkHeader), chunks_[at].payload.data(),
                    chunks_[at].payload.size());
    }
    return bytes;
}

} // namespace vramscope::test
