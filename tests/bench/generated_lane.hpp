// tests/bench/generated_lane.hpp — what one thread of a made-up program writes into its log.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <sys/mman.h>
#include <unistd.h>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

// The chunks of one thread, one after the other, mapped as the recorder has them; their numbers come
// from the header.
class Lane {
public:
    Lane(int file, std::uint32_t index, format::FileHeader& header)
        : file_(file), index_(index), header_(header)
    {
    }
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;
    ~Lane() { close_chunk(); }

    // Where a record of at most `bytes` goes.
    std::uint8_t* begin(std::size_t bytes, std::uint64_t ticks)
    {
        if (used_ + bytes > chunk_.size())
            next_chunk(ticks);
        return chunk_.data() + used_;
    }
    void end(const std::uint8_t* at) { used_ = static_cast<std::size_t>(at - chunk_.data()); }

    template <typename R>
    void record(std::uint64_t ticks, const R& fields)
    {
        std::uint8_t* const start = begin(3 + format::most_body_bytes(fields, SIZE_MAX), ticks);
        const std::uint8_t* const at =
            format::put_body(start + 3, {ticks}, fields, deltas, SIZE_MAX);
        const auto length = static_cast<std::size_t>(at - start - 3);
        start[0] = static_cast<std::uint8_t>(R::kLayout.tag);
        start[1] = static_cast<std::uint8_t>((length & 0x7f) | 0x80);
        start[2] = static_cast<std::uint8_t>(length >> 7);
        end(at);
    }

    void write(const format::Alloc& event)
    {
        end(format::encode_alloc(begin(format::kMaxHotBytes, event.ticks), event, deltas));
    }
    void write(const format::Free& event)
    {
        end(format::encode_free(begin(format::kMaxHotBytes, event.ticks), event, deltas));
    }

    // What is in its chunk by now can be read.
    void publish()
    {
        if (!chunk_.empty())
            chunk_header()->committed =
                static_cast<std::uint32_t>(used_ - sizeof(format::ChunkHeader));
    }

    format::DeltaState deltas;

private:
    format::ChunkHeader* chunk_header()
    {
        return reinterpret_cast<format::ChunkHeader*>(chunk_.data());
    }

    void close_chunk()
    {
        publish();
        if (!chunk_.empty())
            ::munmap(chunk_.data(), chunk_.size());
        chunk_ = {};
    }

    // A chunk of zeros that is on the disk.
    void open_chunk(std::uint32_t number)
    {
        static constexpr std::uint8_t kZeros[format::kChunkBytes] = {};
        const auto at =
            static_cast<off_t>(format::kHeaderBytes + std::uint64_t{number} * format::kChunkBytes);
        void* const mapped =
            ::pwrite(file_, kZeros, sizeof kZeros, at) != sizeof kZeros
                ? MAP_FAILED
                : ::mmap(nullptr, sizeof kZeros, PROT_READ | PROT_WRITE, MAP_SHARED, file_, at);
        if (mapped == MAP_FAILED) {
            std::perror("a chunk");
            std::exit(1);
        }
        chunk_ = {static_cast<std::uint8_t*>(mapped), sizeof kZeros};
    }

    void next_chunk(std::uint64_t ticks)
    {
        close_chunk();
        const std::uint32_t number = header_.chunks++;
        ++header_.chunks_begun;
        open_chunk(number);
        format::ChunkHeader& begun = *chunk_header();
        begun.magic = format::kChunkMagic;
        begun.index = number;
        begun.lane = index_;
        begun.ordinal = ordinal_++;
        begun.base_ticks = begun.base_ns = ticks;
        begun.tid = 1000 + index_;
        used_ = sizeof begun;
        deltas = {.ticks = ticks, .address = 0};
        record(ticks, format::Thread{index_, 1000 + index_, "worker"});
        const format::Place place{.context = 1, .device = 0};
        end(format::encode_place(begin(format::kMaxHotBytes, ticks), place));
    }

    int file_;
    std::uint32_t index_;
    format::FileHeader& header_;
    std::span<std::uint8_t> chunk_; // empty before the first record
    std::size_t used_ = 0;
    std::uint32_t ordinal_ = 0;
};

} // namespace vramscope::test
