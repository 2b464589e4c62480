// tests/support/log_builder.hpp — writes logs for tests, valid and invalid ones.
//
// Events go to the thread that was chosen last, at a time that moves on by itself. Entry points are
// defined when they are first used. The builder is independent of the recorder, so that both are
// checked against the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/sizes.hpp"
#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

using Bytes = std::vector<std::uint8_t>;

// A file with these bytes that is gone when the test is.
class TempFile {
public:
    explicit TempFile(const Bytes& bytes);
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    ~TempFile();

    std::filesystem::path path() const;
    void resize(std::size_t bytes);
    void overwrite(std::size_t offset, std::uint8_t byte);

private:
    int fd_;
};

using OutOfMemory = format::OutOfMemory;

class LogBuilder {
public:
    // Starts with thread 0 chosen. By default the program exited with status 0.
    explicit LogBuilder(std::uint32_t chunk_bytes = format::kChunkBytes);

    format::FileHeader& header() { return header_; }

    LogBuilder& thread(std::uint32_t index); // following records are this thread's
    static constexpr std::uint64_t kTicksPerEvent = 1000;
    LogBuilder&
    at(std::uint64_t ticks); // time of the next event; each further one is so much later
    std::uint64_t now() const { return ticks_; }

    LogBuilder& alloc(std::uint64_t address, std::uint64_t bytes, std::uint64_t stack = 0,
                      std::string_view api = "cuMemAlloc_v2");
    LogBuilder& free(std::uint64_t address, std::string_view api = "cuMemFree_v2",
                     std::uint64_t stack = 0);
    LogBuilder& place(const format::Place& place); // stays for the thread, over chunks too

    // Any other record; an event happens now. `api`: of those that name an entry point.
    template <typename R>
    LogBuilder& add(const R& fields, std::string_view api = {})
    {
        return record(fields, api, 0);
    }

    // Call it before the first use of the entry point; otherwise that use defines it.
    LogBuilder& define_api(std::string_view name);
    // Entry points are not defined any more, as if another thread had done it.
    LogBuilder& forget_definitions();
    LogBuilder& stack(std::uint64_t id, const std::vector<std::uint64_t>& addresses,
                      bool truncated = false);
    LogBuilder& info(std::string_view key, std::string_view value)
    {
        return add(format::Info{key, value});
    }
    LogBuilder& thread_name(std::uint32_t tid, std::string_view name)
    {
        return passed_to(current_, tid, name);
    }
    // Another thread goes on in the chunks of the chosen one.
    LogBuilder& passed_to(std::uint32_t index, std::uint32_t tid, std::string_view name)
    {
        return add(format::Thread{index, tid, name});
    }
    LogBuilder& module(std::uint64_t id, std::uint64_t bias, std::uint64_t first, std::uint64_t end,
                       std::string_view path, std::string_view build_id = {})
    {
        return add(format::ModuleLoaded{id, bias, first, end, build_id, path});
    }
    LogBuilder& module_gone(std::uint64_t id) { return add(format::ModuleGone{id}); }
    LogBuilder& context(std::uint64_t id, std::int64_t device = 0) // its handle is 0xc0 + id
    {
        return add(format::Context{id, 0xc0 + id, device, true});
    }
    // `stack` 0: as before format 3.2, without one.
    LogBuilder& context_gone(std::uint64_t id, std::uint64_t stack = 0)
    {
        return record(format::ContextGone{id, stack}, "cuCtxDestroy_v2", stack == 0 ? 1 : 0);
    }
    // By cuDevicePrimaryCtxRetain.
    LogBuilder& context_opened(format::ContextOpened record)
    {
        record.api = api_id("cuDevicePrimaryCtxRetain");
        return add(record);
    }
    LogBuilder& reached(format::Reached record, std::string_view api)
    {
        record.api = api_id(api);
        return add(record);
    }
    LogBuilder& device(std::uint64_t ordinal, std::uint64_t bytes, std::string_view name)
    {
        return add(format::Device{ordinal, bytes, name});
    }
    LogBuilder& push(std::string_view range) { return add(format::RangePush{range}); }
    LogBuilder& pop() { return add(format::RangePop{}); }
    LogBuilder& mark(std::string_view name) { return add(format::Mark{name}); }
    LogBuilder& failed(std::uint64_t result, std::uint64_t bytes,
                       std::string_view api = "cuMemAlloc_v2", std::uint64_t stack = 0)
    {
        return add(format::Failed{result, 0, bytes, stack}, api);
    }
    LogBuilder& failed_free(std::uint64_t address, std::uint64_t stack = 0,
                            std::string_view api = "cuMemFree_v2", std::uint64_t result = 1)
    {
        return add(format::Failed{result, address, 0, stack}, api);
    }
    LogBuilder& map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle)
    {
        return add(format::Map{address, bytes, handle}, "cuMemMap");
    }
    LogBuilder& unmap(std::uint64_t address, std::uint64_t bytes)
    {
        return add(format::Unmap{address, bytes}, "cuMemUnmap");
    }
    LogBuilder& retain(std::uint64_t handle)
    {
        return add(format::Retain{handle}, "cuMemRetainAllocationHandle");
    }
    LogBuilder& pool(std::uint64_t handle, std::int64_t location_type, bool managed = false)
    {
        return add(format::Pool{handle, location_type, 0, managed});
    }
    LogBuilder& shared(std::uint64_t address, std::string_view api = "cuIpcGetMemHandle")
    {
        return add(format::Shared{address}, api);
    }
    LogBuilder& trim(std::uint64_t pool, std::uint64_t keep_bytes)
    {
        return add(format::Trim{pool, keep_bytes}, "cuMemPoolTrimTo");
    }
    // An allocation out of a segment; its block is `slack` bytes larger.
    LogBuilder& pooled(std::uint64_t address, std::uint64_t bytes, std::uint64_t slack = 0,
                       std::uint64_t stack = 0, std::string_view api = "cuMemAlloc_v2");
    LogBuilder& segment(std::uint64_t address, std::uint64_t bytes, std::uint64_t context = 1,
                        std::int64_t device = 0)
    {
        return add(format::Segment{address, bytes, context, device});
    }
    LogBuilder& segment_gone(std::uint64_t address,
                             format::SegmentEnd end = format::SegmentEnd::asked)
    {
        return add(format::SegmentGone{address, end});
    }
    // What was freed up to `age` ticks before it may be handed out again.
    LogBuilder& reusable(std::uint64_t age = 0, bool own = false)
    {
        return add(format::Reusable{age, own});
    }
    LogBuilder& retried(std::uint64_t bytes, std::uint64_t result, std::int64_t device = 0)
    {
        return add(format::Retried{device, bytes, result}, "cuMemAlloc_v2");
    }
    LogBuilder& out_of_memory(const OutOfMemory& state, std::string_view api = "cuMemAlloc_v2")
    {
        return add(state, api);
    }
    LogBuilder& damaged(format::Damage kind, std::uint64_t address, std::int64_t offset,
                        std::uint64_t bytes, std::uint64_t stack = 0)
    {
        return add(format::Damaged{kind, address, offset, bytes, stack});
    }
    // What the driver says of a device.
    LogBuilder& device_memory(std::uint64_t free, std::uint64_t total, std::int64_t device = 0)
    {
        return add(format::DeviceMemory{device, free, total});
    }
    // What it said before and after it made the object of the record before this.
    LogBuilder& object_memory(std::uint64_t address, std::string_view api, std::uint64_t before,
                              std::uint64_t after, std::uint64_t total)
    {
        return add(format::ObjectMemory{
            api_id(api), {address}, 0, kTicksPerEvent * 3 / 2, before, after, total});
    }
    LogBuilder& mempool_memory(std::uint64_t pool, std::uint64_t reserved, std::uint64_t used,
                               std::int64_t device = 0, std::uint64_t maximum = 0)
    {
        return add(format::MempoolMemory{{pool}, device, reserved, used, maximum});
    }
    LogBuilder& driver_time(std::string_view api, std::uint64_t calls, std::uint64_t total,
                            std::uint64_t longest)
    {
        return add(format::DriverTime{api_id(api), calls, total, longest});
    }
    LogBuilder& blocks_gone(std::string_view api, std::uint64_t address, std::uint64_t bytes)
    {
        return add(format::BlocksGone{api_id(api), address, bytes});
    }
    LogBuilder& blocks_pending(std::string_view api, std::uint64_t bytes, std::int64_t device = 0)
    {
        return add(format::BlocksPending{api_id(api), device, bytes});
    }
    LogBuilder& cut_from(std::string_view api, std::uint64_t address, std::uint64_t bytes,
                         format::BlockSize blocks)
    {
        return add(format::CutFrom{api_id(api), address, bytes, blocks});
    }
    LogBuilder& awaited(std::string_view api, std::uint64_t address, bool over)
    {
        return add(format::Awaited{api_id(api), address, over});
    }
    LogBuilder& block_name(std::string_view api, std::uint64_t address, std::string_view name)
    {
        return add(format::BlockName{api_id(api), address, name});
    }
    // A free that never came back: the thread's chunk says so to the end.
    LogBuilder& pending_free(std::uint64_t address, std::uint64_t stack = 0,
                             std::string_view api = "cuMemFree_v2");

    LogBuilder& raw(const Bytes& bytes);                     // as the next record, whatever it is
    LogBuilder& record(std::uint8_t tag, const Bytes& body); // length-prefixed
    LogBuilder& new_chunk();                                 // the thread goes on in another chunk
    LogBuilder& unused_chunk();                              // handed out, never begun

    // The whole file.
    Bytes build() const;
    std::size_t chunks() const { return chunks_.size(); }
    // Where a chunk begins in the file.
    std::size_t chunk_offset(std::size_t chunk) const;

private:
    static constexpr std::size_t kMostPrefixBytes = 1 + format::kMaxVarintBytes;

    struct Chunk {
        bool begun = false;
        format::ChunkHeader header{};
        Bytes payload;
    };
    struct Thread {
        std::size_t chunk = SIZE_MAX;
        std::uint32_t chunks = 0;
        format::DeltaState delta;
        format::Place place;
        bool place_written = false;
    };

    std::uint64_t tick();
    std::uint64_t api_id(std::string_view name);
    Chunk& room_for(std::size_t bytes);
    void begin_chunk();
    void append(const std::uint8_t* bytes, std::size_t count);
    void write_place();
    LogBuilder& add_alloc(const format::Alloc& event);
    // `less` bytes are left out at its end.
    template <typename R>
    LogBuilder& record(const R& fields, std::string_view api, std::size_t less)
    {
        constexpr format::Layout kLayout = R::kLayout;
        format::Moment moment;
        if (!api.empty())
            moment.api = api_id(api);
        Bytes body(format::most_body_bytes(fields, SIZE_MAX));
        if constexpr (kLayout.head != format::Head::definition) {
            room_for(body.size() + kMostPrefixBytes); // in the chunk whose deltas are used
            moment.ticks = tick();
        }
        const std::uint8_t* const end =
            format::put_body(body.data(), moment, fields, threads_[current_].delta, SIZE_MAX);
        body.resize(static_cast<std::size_t>(end - body.data()) - less);
        return record(static_cast<std::uint8_t>(kLayout.tag), body);
    }

    format::FileHeader header_{};
    std::vector<Chunk> chunks_;
    std::map<std::uint32_t, Thread> threads_;
    std::uint32_t current_ = 0;
    std::map<std::string, std::uint64_t, std::less<>> apis_;
    std::map<std::string, std::uint64_t, std::less<>> ids_;
    std::uint64_t ticks_;
};

} // namespace vramscope::test
