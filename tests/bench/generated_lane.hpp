// tests/bench/generated_lane.hpp — what one thread of a made-up program writes into its log.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

// The chunks of one thread, one after the other; their numbers come from the header.
class Lane {
public:
    Lane(int file, std::uint32_t index, format::FileHeader& header)
        : file_(file), index_(index), header_(header), chunk_(format::kChunkBytes)
    {
    }

    // Where a record of at most `bytes` goes; end() publishes it.
    std::uint8_t* begin(std::size_t bytes, std::uint64_t ticks)
    {
        if (!open_ || used_ + bytes > chunk_.size())
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

    void flush()
    {
        publish();
        open_ = false;
    }

    // What is in its chunk by now can be read.
    void publish()
    {
        if (!open_)
            return;
        header_of_chunk_.committed =
            static_cast<std::uint32_t>(used_ - sizeof(format::ChunkHeader));
        std::memcpy(chunk_.data(), &header_of_chunk_, sizeof header_of_chunk_);
        const auto at = static_cast<off_t>(format::kHeaderBytes +
                                           std::uint64_t{header_of_chunk_.index} * chunk_.size());
        if (::pwrite(file_, chunk_.data(), chunk_.size(), at) !=
            static_cast<ssize_t>(chunk_.size())) {
            std::perror("a chunk");
            std::exit(1);
        }
    }

    format::DeltaState deltas;

private:
    void next_chunk(std::uint64_t ticks)
    {
        flush();
        std::memset(chunk_.data(), 0, chunk_.size());
        header_of_chunk_ = {};
        header_of_chunk_.magic = format::kChunkMagic;
        header_of_chunk_.index = header_.chunks++;
        ++header_.chunks_begun;
        header_of_chunk_.lane = index_;
        header_of_chunk_.ordinal = ordinal_++;
        header_of_chunk_.base_ticks = header_of_chunk_.base_ns = ticks;
        header_of_chunk_.tid = 1000 + index_;
        used_ = sizeof(format::ChunkHeader);
        open_ = true;
        deltas = {.ticks = ticks, .address = 0};
        record(ticks, format::Thread{index_, 1000 + index_, "worker"});
        const format::Place place{.context = 1, .device = 0};
        end(format::encode_place(begin(format::kMaxHotBytes, ticks), place));
    }

    int file_;
    std::uint32_t index_;
    format::FileHeader& header_;
    format::ChunkHeader header_of_chunk_{};
    std::vector<std::uint8_t> chunk_;
    std::size_t used_ = 0;
    std::uint32_t ordinal_ = 0;
    bool open_ = false;
};

} // namespace vramscope::test
