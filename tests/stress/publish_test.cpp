// tests/stress/publish_test.cpp — what a chunk says is committed was written before.
//
// It reads through the writer's own mapping, where ThreadSanitizer can tell bytes that were
// published from bytes that only happened to be there.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/recording.hpp"
#include "tracker/format/record.hpp"

using namespace vramscope;
using format::Tag;
using test::hooked_alloc;

TEST(Publish, WhatIsCommittedWasWrittenBefore)
{
    constexpr std::uint64_t kEvents = 2000; // less than a chunk: the mapping stays
    constexpr std::uint64_t kAhead = 20;    // at most so far ahead of the reader, so that they meet
    test::run_in_child([] {
        const test::TempDir dir;
        ::setenv("VRAMSCOPE_LOG", dir.file("log.vsl").c_str(), 1);
        ::setenv("VRAMSCOPE_UNWINDER", "none", 1);
        std::atomic<format::ChunkHeader*> chunk{nullptr};
        std::atomic<std::uint64_t> read{0}; // how many events were read
        std::thread writer([&] {
            hooked_alloc(256, 1);
            chunk = log::this_thread.chunk;
            for (std::uint64_t i = 1; i < kEvents; ++i) {
                while (i > read.load(std::memory_order_relaxed) + kAhead)
                    std::this_thread::yield();
                hooked_alloc((i + 1) * 256, i + 1);
            }
            while (read.load(std::memory_order_relaxed) < kEvents)
                std::this_thread::yield();
        });
        while (!chunk)
            std::this_thread::yield();
        const auto* const payload = reinterpret_cast<const std::uint8_t*>(chunk.load() + 1);
        format::DeltaState deltas;
        deltas.ticks = chunk.load()->base_ticks;
        std::uint64_t events = 0;
        for (std::size_t at = 0; events < kEvents;) {
            const std::uint32_t committed =
                std::atomic_ref(chunk.load()->committed).load(std::memory_order_acquire);
            format::Cursor in(payload + at, payload + committed);
            while (!in.at_end()) {
                const std::uint8_t byte = in.u8();
                const Tag tag = format::tag_of(byte);
                if (tag >= Tag::info)
                    in.prefixed_text();
                else if (tag == Tag::place)
                    format::decode_place(in);
                else
                    ASSERT_EQ(format::decode_alloc(in, byte, deltas).bytes, ++events);
                ASSERT_TRUE(in.ok());
            }
            at = committed;
            read.store(events, std::memory_order_relaxed); // no more order than the log's own
        }
        writer.join();
    });
}
