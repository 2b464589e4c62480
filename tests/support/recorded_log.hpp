// tests/support/recorded_log.hpp — a log as a list of records, as the recorder wrote it.
//
// It reads by the tables of tracker/format/README.md, and the hot records by record.hpp: what the
// bytes say, without merging or repair. A log that breaks the rules of the format throws
// std::runtime_error, and so fails the test.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::test {

// The fields of one kind of record, in order: a row of the tables in tracker/format/README.md.
struct RecordLayout {
    struct Field {
        std::string name;
        std::string kind; // "", "text", "signed" or "plain"
    };
    format::Tag tag;
    std::string name;
    std::vector<Field> fields;
};
const std::vector<RecordLayout>& record_layouts();

struct DecodedRecord {
    const RecordLayout* layout;
    std::uint32_t chunk; // position in the file
    std::uint32_t thread;
    std::vector<std::uint64_t>
        numbers; // in the order of the layout; signed ones as two's complement
    std::vector<std::string> texts;
    // A stack's frames; a Python stack's have three numbers each: native frame, code and offset.
    std::vector<std::uint64_t> frames;
    format::Place place; // where an allocation happened

    format::Tag tag() const { return layout->tag; }
    std::uint64_t number(std::string_view field) const;
    const std::string& text(std::string_view field) const;
};

// The records of one chunk's payload.
std::vector<DecodedRecord> decode_payload(std::span<const std::uint8_t> payload,
                                          std::uint64_t base_ticks, std::uint32_t thread = 0);

struct RecordedLog {
    format::FileHeader header;
    std::vector<format::ChunkHeader> chunks; // those that were begun
    std::vector<DecodedRecord> records;      // chunk by chunk, in the order of the file
    std::unordered_map<std::uint64_t, std::size_t> stacks; // by id: their place in `records`

    std::vector<DecodedRecord> all(format::Tag tag) const;
    std::size_t count(format::Tag tag) const;
    // The value of an info record; empty if there is none.
    std::string info(std::string_view key) const;
    std::vector<std::uint64_t> frames_of(std::uint64_t stack) const;
};

RecordedLog read_recorded_log(const std::string& path);

} // namespace vramscope::test
