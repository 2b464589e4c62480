// tests/support/log_builder.cpp — records as tracker/format describes them.
#include "tests/support/log_builder.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace vramscope::test {

using format::Effect;
using format::Memory;

namespace {

constexpr std::uint64_t kStartTicks = 1'000'000;

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
    {"cuGraphLaunch", Effect::alloc, Memory::graph_launch},
    {"cuTexObjectCreate", Effect::alloc, Memory::texture},
    {"cuTexObjectDestroy", Effect::free, Memory::texture},
    {"cuSurfObjectCreate", Effect::alloc, Memory::surface},
    {"cuSurfObjectDestroy", Effect::free, Memory::surface},
    {"cuIpcGetMemHandle", Effect::none, Memory::device},
    {"cuMemExportToShareableHandle", Effect::none, Memory::physical},
    {"cuArray3DCreate_v2", Effect::alloc, Memory::array},
    {"cuModuleLoadData", Effect::none, Memory::device},
    {"cuDevicePrimaryCtxRetain", Effect::none, Memory::none},
    {"cuStreamCreate", Effect::alloc, Memory::stream},
    {"cuStreamDestroy_v2", Effect::free, Memory::stream},
    {"cuEventCreate", Effect::alloc, Memory::event},
    {"cuEventDestroy_v2", Effect::free, Memory::event},
    {"cuGraphCreate", Effect::alloc, Memory::graph_object},
    {"cuGraphDestroy", Effect::free, Memory::graph_object},
    {"cuModuleLoad", Effect::alloc, Memory::module},
    {"cuModuleUnload", Effect::free, Memory::module},
    {"cuLibraryLoadData", Effect::alloc, Memory::library},
    {"cuLibraryUnload", Effect::free, Memory::library},
    {"cuCtxSetLimit", Effect::alloc, Memory::context_limit},
    {"PyTorch", Effect::alloc, Memory::suballocated},
    {"a heap", Effect::alloc, Memory::suballocated},
};

const KnownApi& known_api(std::string_view name)
{
    for (const KnownApi& api : kApis) {
        if (api.name == name)
            return api;
    }
    throw std::invalid_argument("the log builder does not know " + std::string(name));
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
    return add(format::Api{id, api.effect, api.memory, name});
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
    Bytes bytes(kMostPrefixBytes, tag);
    bytes.resize(static_cast<std::size_t>(format::put_varint(&bytes[1], body.size()) - &bytes[0]));
    bytes.insert(bytes.end(), body.begin(), body.end());
    return raw(bytes);
}

LogBuilder& LogBuilder::raw(const Bytes& bytes)
{
    room_for(bytes.size());
    append(bytes.data(), bytes.size());
    return *this;
}

LogBuilder& LogBuilder::stack(std::uint64_t id, const std::vector<std::uint64_t>& addresses,
                              bool truncated)
{
    return add(format::Stack{
        id, truncated ? format::Stack::kTruncated : 0, addresses.size(), {addresses.data(), {}}});
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
    header.chunks_begun = static_cast<std::uint32_t>(std::count_if(
        chunks_.begin(), chunks_.end(), [](const Chunk& chunk) { return chunk.begun; }));
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
