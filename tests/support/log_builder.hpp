// tests/support/log_builder.hpp — writes logs for tests: valid ones, and ones that no recorder
// would write.
//
// Events go to the thread that was chosen last, at a time that moves on by itself. Entry points are
// defined when they are first used. Independent of the recorder, so that both are checked against
// the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t operator""_KiB(unsigned long long value)
{
    return value * 1024;
}
constexpr std::uint64_t operator""_MiB(unsigned long long value)
{
    return value * 1024 * 1024;
}
constexpr std::uint64_t operator""_GiB(unsigned long long value)
{
    return value * 1024 * 1024 * 1024;
}

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

// As in a record out_of_memory.
struct OutOfMemory {
    std::int64_t device = 0;
    std::uint64_t requested = 0;
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    std::uint64_t allocated = 0;
    std::uint64_t reserved = 0;
    std::uint64_t largest_gap = 0;
};

class LogBuilder {
public:
    // Starts with thread 0 chosen. By default the program exited with status 0.
    explicit LogBuilder(std::uint32_t chunk_bytes = format::kChunkBytes);

    format::FileHeader& header() { return header_; }

    LogBuilder& thread(std::uint32_t index); // following records are its
    LogBuilder& at(std::uint64_t ticks); // time of the next event; each further one is 1000 later
    std::uint64_t now() const { return ticks_; }

    LogBuilder& alloc(std::uint64_t address, std::uint64_t bytes, std::uint64_t stack = 0,
                      std::string_view api = "cuMemAlloc_v2");
    LogBuilder& free(std::uint64_t address, std::string_view api = "cuMemFree_v2",
                     std::uint64_t stack = 0);
    LogBuilder& place(const format::Place& place); // stays for the thread, over chunks too

    LogBuilder& info(std::string_view key, std::string_view value);
    LogBuilder& define_api(std::string_view name); // before its first use; else by itself
    LogBuilder&
    forget_definitions(); // entry points are not defined any more, as if another thread had done it
    LogBuilder& thread_name(std::uint32_t tid, std::string_view name);
    // Another thread goes on in the chunks of the chosen one.
    LogBuilder& passed_to(std::uint32_t index, std::uint32_t tid, std::string_view name);
    LogBuilder& module(std::uint64_t id, std::uint64_t bias, std::uint64_t first, std::uint64_t end,
                       std::string_view path, std::string_view build_id = {});
    LogBuilder& module_gone(std::uint64_t id);
    LogBuilder& stack(std::uint64_t id, std::vector<std::uint64_t> addresses,
                      bool truncated = false);
    LogBuilder& context(std::uint64_t id, std::int64_t device = 0); // its handle is 0xc0 + id
    LogBuilder& context_gone(std::uint64_t id,
                             std::uint64_t stack = 0); // 0: as before format 3.2, without one
    LogBuilder& device(std::uint64_t ordinal, std::uint64_t bytes, std::string_view name);
    LogBuilder& push(std::string_view range);
    LogBuilder& pop();
    LogBuilder& mark(std::string_view name);
    LogBuilder& failed(std::uint64_t result, std::uint64_t bytes,
                       std::string_view api = "cuMemAlloc_v2", std::uint64_t stack = 0);
    LogBuilder& failed_free(std::uint64_t address, std::uint64_t stack = 0,
                            std::string_view api = "cuMemFree_v2", std::uint64_t result = 1);
    LogBuilder& map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
    LogBuilder& unmap(std::uint64_t address, std::uint64_t bytes);
    LogBuilder& retain(std::uint64_t handle);
    LogBuilder& pool(std::uint64_t handle, std::int64_t location_type, bool managed = false);
    LogBuilder& shared(std::uint64_t address, std::string_view api = "cuIpcGetMemHandle");
    LogBuilder& trim(std::uint64_t pool, std::uint64_t keep_bytes);
    // An allocation out of a segment; its block is `slack` bytes larger.
    LogBuilder& pooled(std::uint64_t address, std::uint64_t bytes, std::uint64_t slack = 0,
                       std::uint64_t stack = 0, std::string_view api = "cuMemAlloc_v2");
    LogBuilder& segment(std::uint64_t address, std::uint64_t bytes, std::uint64_t context = 1,
                        std::int64_t device = 0);
    LogBuilder& segment_gone(std::uint64_t address,
                             format::SegmentEnd end = format::SegmentEnd::asked);
    // What was freed up to `age` ticks before it may be handed out again.
    LogBuilder& reusable(std::uint64_t age = 0, bool own = false);
    LogBuilder& retried(std::uint64_t bytes, std::uint64_t result, std::int64_t device = 0);
    LogBuilder& out_of_memory(const OutOfMemory& state, std::string_view api = "cuMemAlloc_v2");
    LogBuilder& damaged(format::Damage kind, std::uint64_t address, std::int64_t offset,
                        std::uint64_t bytes, std::uint64_t stack = 0);
    // What the driver says of a device.
    LogBuilder& device_memory(std::uint64_t free, std::uint64_t total, std::int64_t device = 0);
    LogBuilder& driver_time(std::string_view api, std::uint64_t calls, std::uint64_t total,
                            std::uint64_t longest);
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
    void event(format::Tag tag, bool with_api, std::uint64_t api, const Bytes& rest);
    void plain_event(format::Tag tag, const Bytes& rest);

    format::FileHeader header_{};
    std::vector<Chunk> chunks_;
    std::map<std::uint32_t, Thread> threads_;
    std::uint32_t current_ = 0;
    std::map<std::string, std::uint64_t, std::less<>> apis_;
    std::map<std::string, std::uint64_t, std::less<>> ids_;
    std::uint64_t ticks_;
};

} // namespace vramscope::test
