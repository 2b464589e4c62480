// tests/fuzz/chunk_entries.hpp — a chunk of a log taken apart into records, and put together again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

/// A record of a chunk, with all that is needed to write it again.
struct Entry {
    format::Tag tag = format::Tag::end;
    format::Alloc alloc{};
    format::Free free{};
    format::Place place{};
    format::Moment moment;
    std::vector<std::uint8_t> body; // of a length-prefixed record, behind its head
};

/// What can be read of a chunk. `payload`: behind its header, which says how much there is.
std::vector<Entry> read_entries(const std::uint8_t* payload, const format::ChunkHeader& header);

/// As many of them as there is room for behind the header.
void write_chunk(std::uint8_t* chunk, format::ChunkHeader header, const std::vector<Entry>& entries,
                 std::size_t room);

} // namespace vramscope::test
