// report/replay/reading/read_ahead.cpp — a ring of batches between two threads.
#include "report/replay/reading/read_ahead.hpp"

#include <algorithm>
#include <sched.h>
#include <system_error>
#include <utility>

#include "report/replay/lookup/prefetch.hpp"

namespace vramscope::report {

using format::Tag;

namespace {

// Whether this process may run on several processors. std::thread::hardware_concurrency() counts
// those of the machine.
bool has_several_processors() noexcept
{
    cpu_set_t processors;
    const bool known = ::sched_getaffinity(0, sizeof processors, &processors) == 0;
    return !known || CPU_COUNT(&processors) > 1; // it fails where there are more than fit
}

} // namespace

void RecordBatch::clear()
{
    size_ = 0;
    pool_changes_.clear();
    bodies_.clear();
    body_bytes_.clear();
}

bool RecordBatch::full() const noexcept
{
    return size_ >= kMostRecords || body_bytes_.size() >= kMostBodyBytes;
}

void RecordBatch::add(const Record& record)
{
    records_[size_++] = record;
    if (is_hot(record.tag))
        return;
    const std::uint8_t* const body = record.body.position();
    bodies_.push_back({size_ - 1, body_bytes_.size(), record.body.remaining()});
    body_bytes_.insert(body_bytes_.end(), body, body + record.body.remaining());
}

// When they move no more.
void RecordBatch::settle_bodies()
{
    for (const Body& body : bodies_) {
        const std::uint8_t* const begin = body_bytes_.data() + body.offset;
        records_[body.record].body = format::Cursor(begin, begin + body.bytes);
    }
}

ReadAhead::ReadAhead(LogReader& reader, LogTables::FindApis find_apis)
    : reader_(reader), tables_(std::move(find_apis))
{
}

ReadAhead::~ReadAhead()
{
    stop();
    if (thread_.joinable())
        thread_.join();
}

void ReadAhead::stop()
{
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
}

const RecordBatch* ReadAhead::next()
{
    const bool begins = !std::exchange(started_, true);
    if (begins && has_several_processors()) {
        try {
            thread_ = std::thread([this] { work(); });
        } catch (const std::system_error&) { // there are too many threads
        }
    }
    if (!thread_.joinable())
        return !stop_ && fill(batches_.front()) ? &batches_.front() : nullptr;
    std::unique_lock lock(mutex_);
    done_ = taken_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return filled_ > taken_ || ended_; });
    if (filled_ > taken_)
        return &batch(taken_++);
    if (error_)
        std::rethrow_exception(std::exchange(error_, nullptr));
    return nullptr;
}

void ReadAhead::work() noexcept
{
    try {
        bool alone = false; // the caller must be idle while the next batch is filled
        while (wait_for_turn(alone)) {
            RecordBatch& next = batch(filled_);
            if (!fill(next))
                break;
            alone = next.records().back().tag == Tag::out_of_memory;
            const std::lock_guard lock(mutex_);
            ++filled_;
            changed_.notify_all();
        }
    } catch (...) {
        error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
}

// False: there is no more to be read.
bool ReadAhead::wait_for_turn(bool alone)
{
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
        const std::uint64_t left = filled_ - done_;
        return stop_ || left == 0 || (!alone && left < kBatches);
    });
    return !stop_;
}

// False: there are no more records.
bool ReadAhead::fill(RecordBatch& batch)
{
    batch.clear();
    while (!batch.full()) {
        const Record* const record = reader_.next();
        if (!record)
            break;
        batch.add(*record);
        if (record->tag == Tag::out_of_memory)
            break;
        batch.added(reader_.next_hot(batch.room()));
    }
    batch.settle_bodies();
    batch.fraction_read_ = reader_.fraction_read();
    replay(batch);
    return !batch.records().empty();
}

void ReadAhead::replay(RecordBatch& batch)
{
    const std::span<const Record> records = batch.records();
    for (std::size_t at = 0; at < records.size(); ++at) {
        if (at % kMostAhead == 0)
            segments_.prefetch(records.subspan(at, std::min(kMostAhead, records.size() - at)));
        define(records[at]);
        segments_.apply(records[at]);
        segments_.take_changes(static_cast<std::uint32_t>(at), batch.pool_changes_);
    }
}

void ReadAhead::define(const Record& record)
{
    if (record.tag == Tag::api || record.tag == Tag::info)
        tables_.define(record);
    else if (record.tag == Tag::free && segments_.segments() > 0)
        tables_.find_api(record.api);
}

} // namespace vramscope::report
