// report/replay/reading/read_ahead.hpp — reads a log and replays its pool, on a thread of its own.
//
// The thread is some batches ahead of the caller, which replays the rest.
//
// The pool's replay is the dearest one and asks nothing of the others; all that they ask of it,
// while both go on, is its sums behind each record. Where this process has one processor, or no
// thread is to be had, next() does that work itself. Memory: kBatches of records and their bodies.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "report/log/log_reader.hpp"
#include "report/log/log_tables.hpp"
#include "report/model/memory/pool_stats.hpp"
#include "report/replay/pool/segment_replay.hpp"

namespace vramscope::report {

// Consecutive records of a LogReader.
class RecordBatch {
public:
    std::span<const Record> records() const noexcept { return {records_.data(), size_}; }
    // What the records changed in the pool, in their order; each names its record by its index.
    std::span<const PoolChange> pool_changes() const noexcept { return pool_changes_; }
    // How much of the log had been read with its last record.
    double fraction_read() const noexcept { return fraction_read_; }

private:
    friend class ReadAhead;
    struct Body {
        std::size_t record;
        std::size_t offset;
        std::size_t bytes;
    };

    static constexpr std::size_t kMostRecords = 1024;
    static constexpr std::size_t kMostBodyBytes = 1 << 18; // one record's may go beyond that

    void clear();
    bool full() const noexcept;
    void add(const Record& record);
    // Where records are put that have no body; then how many were.
    std::span<Record> room() noexcept { return std::span(records_).subspan(size_); }
    void added(std::size_t records) noexcept { size_ += records; }
    void settle_bodies();

    std::vector<Record> records_ = std::vector<Record>(kMostRecords); // size_ of them are there
    std::size_t size_ = 0;
    std::vector<PoolChange> pool_changes_;
    std::vector<Body> bodies_;
    std::vector<std::uint8_t> body_bytes_;
    double fraction_read_ = 0;
};

class ReadAhead {
public:
    // `reader` outlives this and is this one's alone until next() gave nullptr. `find_apis` is
    // called by the thread.
    ReadAhead(LogReader& reader, LogTables::FindApis find_apis);
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;
    ~ReadAhead();

    // nullptr at the end. Valid until the next call. Throws what the reading threw.
    const RecordBatch* next();
    // In place of next(), of a log that grows: by this thread alone, and behind a nullptr it may go
    // on after LogReader::refresh().
    const RecordBatch* next_here() { return fill(batches_.front()) ? &batches_.front() : nullptr; }
    // Reads no further: next() still gives what was read.
    void stop();

    // The pool as it is behind the last record of the batch: to be looked at when that record is
    // an out_of_memory, or when next() gave nullptr.
    const SegmentReplay& segments() const noexcept { return segments_; }

    // See report/checkpoint: before next(), or when it gave nullptr.
    auto state() noexcept { return std::tie(tables_, segments_); }

private:
    static constexpr std::size_t kBatches = 4;

    void work() noexcept;
    bool wait_for_turn(bool alone);
    bool fill(RecordBatch& batch);
    void replay(RecordBatch& batch);
    void define(const Record& record);
    RecordBatch& batch(std::uint64_t number) noexcept { return batches_[number % kBatches]; }

    LogReader& reader_;
    LogTables tables_; // the thread's own: entry points and settings alone
    SegmentReplay segments_{tables_};
    std::array<RecordBatch, kBatches> batches_; // each is either side's alone

    std::mutex mutex_; // guards what stands between it and thread_
    std::condition_variable changed_;
    std::uint64_t filled_ = 0; // batches; written by the thread alone
    std::uint64_t taken_ = 0;  // batches that next() took; at most filled_
    std::uint64_t done_ = 0;   // batches that the caller is done with
    bool stop_ = false;
    bool ended_ = false;
    std::exception_ptr error_; // what the reading threw; read once ended_ is set
    std::thread thread_;
    bool started_ = false;
};

} // namespace vramscope::report
