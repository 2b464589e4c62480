// tests/stress/ledger.hpp — what a reader is told, against what the program did.
//
// Each event says which writer recorded it, and how many that writer had recorded before: the
// ledger knows what must come next. Faults are few and in words, since one leads to a thousand.
#pragma once

#include <charconv>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "report/log/chunk_cursor.hpp"

namespace vramscope::test {

// The size of an allocation, and the name of a range.
constexpr std::uint64_t event_id(std::uint64_t writer, std::uint64_t sequence)
{
    return (writer + 1) << 24 | sequence;
}

class Ledger {
public:
    // Marks are numbered through: each marker has `marks_of_each` numbers.
    explicit Ledger(std::uint64_t marks_of_each) : marks_of_each_(marks_of_each) {}

    void apply(const report::Record& record)
    {
        using format::Tag;
        format::Cursor body = record.body;
        if (record.tag == Tag::alloc) {
            expect(live_.insert(record.address).second, "allocated while it lives", record.address);
            next_of(record, record.bytes);
            ++allocs_;
        } else if (record.tag == Tag::free) {
            expect(live_.erase(record.address) == 1, "freed while it does not live",
                   record.address);
        } else if (record.tag == Tag::range_push) {
            const std::uint64_t id = number(body.prefixed_text());
            expect(writers_[id >> 24].events == (id & 0xffffff), "a range out of order", id);
            ++ranges_;
        } else if (record.tag == Tag::range_pop) {
            ++pops_;
        } else if (record.tag == Tag::mark) {
            const std::uint64_t mark = number(body.prefixed_text());
            expect(marks_[mark / marks_of_each_]++ == mark % marks_of_each_, "a mark out of order",
                   mark);
        }
    }

    const std::vector<std::string>& faults() const { return faults_; }
    std::size_t writers() const { return writers_.size(); }
    std::uint64_t allocs() const { return allocs_; }
    std::size_t blocks_alive() const { return live_.size(); }
    std::uint64_t ranges() const { return ranges_; }
    std::uint64_t pops() const { return pops_; }
    std::uint64_t marks() const
    {
        std::uint64_t sum = 0;
        for (const auto& [marker, count] : marks_)
            sum += count;
        return sum;
    }

private:
    struct Writer {
        std::uint32_t thread = 0;
        std::uint64_t events = 0;
    };

    void next_of(const report::Record& record, std::uint64_t id)
    {
        Writer& writer = writers_[id >> 24];
        if (writer.events == 0) {
            writer.thread = record.thread;
            expect(threads_.insert(record.thread).second, "two writers are one thread", id);
        }
        expect(writer.thread == record.thread, "recorded as another thread", id);
        expect(writer.events++ == (id & 0xffffff), "an event out of order", id);
    }
    void expect(bool right, const char* what, std::uint64_t which)
    {
        if (!right && faults_.size() < 10)
            faults_.push_back(std::string(what) + ": " + std::to_string(which));
    }
    static std::uint64_t number(std::string_view text)
    {
        std::uint64_t value = UINT64_MAX;
        std::from_chars(text.data(), text.data() + text.size(), value);
        return value;
    }

    const std::uint64_t marks_of_each_;
    std::map<std::uint64_t, Writer> writers_; // by the number in their events
    std::set<std::uint32_t> threads_;
    std::set<std::uint64_t> live_;
    std::map<std::uint64_t, std::uint64_t> marks_; // counts, by marker
    std::uint64_t allocs_ = 0, ranges_ = 0, pops_ = 0;
    std::vector<std::string> faults_;
};

} // namespace vramscope::test
