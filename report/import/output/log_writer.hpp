// report/import/output/log_writer.hpp — a log as the tracer writes it, of other recordings.
//
// Each lane is a thread of the log, whose records are written in the order of their times. Chunks
// go to the file as they become full, the header last.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tracker/format/fields.hpp"
#include "tracker/format/layout.hpp"
#include "tracker/format/record.hpp"

namespace vramscope::report {

class LogWriter {
public:
    // An empty regular file. One tick is a nanosecond; the log begins at `start_ticks`.
    LogWriter(int descriptor, std::uint64_t start_ticks);

    format::FileHeader& header() noexcept { return header_; }
    void name_lane(std::uint32_t lane, std::string name);

    void alloc(std::uint32_t lane, const format::Alloc& event, const format::Place& place);
    void free(std::uint32_t lane, const format::Free& event);
    // What happens next in the lane happens there.
    void place(std::uint32_t lane, std::uint64_t ticks, const format::Place& place);
    template <typename R>
    void add(std::uint32_t lane, const format::Moment& moment, const R& fields)
    {
        constexpr std::size_t kPrefix = 1 + format::kMaxVarintBytes;
        std::vector<std::uint8_t> bytes(kPrefix +
                                        format::most_body_bytes(fields, format::kMostTextBytes));
        Lane& to = room(lane, bytes.size(), moment.ticks);
        std::uint8_t* const body = bytes.data() + kPrefix;
        const std::uint8_t* const end =
            format::put_body(body, moment, fields, to.deltas, format::kMostTextBytes);
        prefixed(to, static_cast<std::uint8_t>(R::kLayout.tag),
                 {reinterpret_cast<const char*>(body), static_cast<std::size_t>(end - body)});
    }

    // False: it could not be written, and errno says why.
    bool finish();

private:
    struct Lane {
        std::vector<std::uint8_t> payload;
        format::DeltaState deltas;
        format::Place place;
        std::uint64_t base_ticks = 0;
        std::uint32_t ordinal = 0;
        std::string name;
    };

    Lane& room(std::uint32_t lane, std::size_t bytes, std::uint64_t ticks);
    void flush(std::uint32_t number, Lane& lane);
    static void prefixed(Lane& lane, std::uint8_t tag, std::string_view body);
    void write_at(std::uint64_t offset, const void* bytes, std::size_t count);

    int descriptor_;
    int error_ = 0; // errno of the first write that failed
    format::FileHeader header_{};
    std::map<std::uint32_t, Lane> lanes_;
};

} // namespace vramscope::report
