// tests/report/exporters/export_sums.hpp — what readers of exported memory add up.
//
// Each reads by the rules of its format: of heaptrack's, of the lines of blocks, of pprof's.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zlib.h>

#include "report/exporters/exporters.hpp"
#include "tests/support/report_of.hpp"

namespace vramscope::report {

using test::LogBuilder;
using test::TempFile;

using Export = void (*)(const std::filesystem::path&, const Sink&, const ExportOptions&);

inline std::string exported(Export write, const LogBuilder& log, const ExportOptions& options = {})
{
    const TempFile file(log.build());
    std::string text;
    write(
        file.path(), [&](std::string_view piece) { text += piece; }, options);
    return text;
}

// What heaptrack_print makes of the file, by its rules and in its order.
struct HeaptrackSums {
    std::uint64_t allocations = 0;
    std::uint64_t temporary = 0;
    std::uint64_t leaked = 0;
    std::uint64_t peak = 0;
    std::uint64_t ms = 0;

    explicit HeaptrackSums(const std::string& text)
    {
        std::istringstream lines(text);
        std::vector<std::uint64_t> sizes;
        std::uint64_t last = 0;
        for (std::string line; std::getline(lines, line);) {
            std::istringstream fields(line.substr(1));
            std::uint64_t number = 0;
            fields >> std::hex >> number;
            if (line[0] == 'a') {
                sizes.push_back(number);
            } else if (line[0] == '+') {
                ++allocations;
                leaked += sizes.at(number);
                peak = std::max(peak, leaked);
                last = number;
            } else if (line[0] == '-') {
                leaked -= sizes.at(number);
                temporary += last == number;
                last = 0;
            } else if (line[0] == 'c') {
                EXPECT_GT(number, ms);
                ms = number;
            }
        }
    }
};

// What a reader of the lines adds up, and what device memory there was at most.
struct BlockSums {
    std::array<std::uint64_t, 4> sums{}; // as sums_of()
    std::uint64_t peak = 0;

    explicit BlockSums(const std::string& text)
    {
        std::istringstream lines(text);
        std::map<std::uint64_t, std::int64_t> changes; // by time
        std::string line;
        for (std::getline(lines, line); std::getline(lines, line);) {
            std::vector<std::string> fields(1);
            for (const char c : line.substr(0, line.find('"')))
                c == ',' ? fields.emplace_back() : fields.back() += c;
            const std::uint64_t bytes = std::stoull(fields.at(3));
            const bool leaked = fields.at(2) == "alive" || fields.at(2) == "context";
            sums = {sums[0] + 1, sums[1] + bytes, sums[2] + leaked, sums[3] + (leaked ? bytes : 0)};
            EXPECT_EQ(fields.at(1).empty(), fields.at(2) == "alive") << line;
            if (fields.at(5) == "pinned")
                continue;
            changes[std::stoull(fields.at(0))] += static_cast<std::int64_t>(bytes);
            if (!fields.at(1).empty())
                changes[std::stoull(fields.at(1))] -= static_cast<std::int64_t>(bytes);
        }
        std::int64_t now = 0;
        for (const auto& [ns, change] : changes)
            peak = std::max(peak, static_cast<std::uint64_t>(now += change));
    }
};

inline std::string unzipped(const std::string& text)
{
    z_stream z{};
    EXPECT_EQ(::inflateInit2(&z, MAX_WBITS + 16), Z_OK);
    std::string out;
    std::array<char, 4096> piece;
    z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    z.avail_in = static_cast<uInt>(text.size());
    int result = Z_OK;
    while (result == Z_OK) {
        z.next_out = reinterpret_cast<Bytef*>(piece.data());
        z.avail_out = piece.size();
        result = ::inflate(&z, Z_NO_FLUSH);
        out.append(piece.data(), piece.size() - z.avail_out);
    }
    EXPECT_EQ(result, Z_STREAM_END);
    ::inflateEnd(&z);
    return out;
}

// The fields of a message: numbers and bytes, in their order.
struct ProtobufField {
    std::uint64_t number = 0;
    std::uint64_t value = 0;
    std::string bytes;
};
inline std::vector<ProtobufField> fields_of(const std::string& message)
{
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(message.data());
    format::Cursor in(begin, begin + message.size());
    std::vector<ProtobufField> fields;
    while (!in.at_end()) {
        const std::uint64_t key = in.varint();
        ProtobufField field{key >> 3, 0, {}};
        if ((key & 7) == 0)
            field.value = in.varint();
        else
            field.bytes = in.prefixed_text();
        EXPECT_TRUE(in.ok() && ((key & 7) == 0 || (key & 7) == 2));
        fields.push_back(std::move(field));
    }
    return fields;
}

inline std::array<std::uint64_t, 4> pprof_sums(const std::string& file)
{
    std::array<std::uint64_t, 4> sums{};
    for (const ProtobufField& field : fields_of(unzipped(file))) {
        if (field.number != 2)
            continue;
        const std::vector<ProtobufField> sample = fields_of(field.bytes);
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(sample.at(1).bytes.data());
        format::Cursor values(begin, begin + sample.at(1).bytes.size());
        for (std::uint64_t& sum : sums)
            sum += values.varint();
    }
    return sums;
}

inline std::vector<std::string> pprof_texts(const std::string& file)
{
    std::vector<std::string> texts;
    for (const ProtobufField& field : fields_of(unzipped(file))) {
        if (field.number == 6)
            texts.push_back(field.bytes);
    }
    return texts;
}

inline std::array<std::uint64_t, 4> sums_of(const Totals& totals)
{
    return {totals.allocations, totals.allocated_bytes, totals.leaked_blocks, totals.leaked_bytes};
}

} // namespace vramscope::report
