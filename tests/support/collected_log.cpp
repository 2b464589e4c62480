// tests/support/collected_log.cpp — chunks are copied to where the collector left room for them.
#include "tests/support/collected_log.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "report/checkpoint/checkpoint.hpp"
#include "report/checkpoint/collected.hpp"
#include "report/error.hpp"
#include "report/json/documents.hpp"
#include "report/log/given_back.hpp"
#include "tracker/log/outside_checkpoint.hpp"

namespace vramscope::test {
namespace {

constexpr std::size_t kChunk = format::kChunkBytes;

std::uint64_t offset_of(std::uint32_t position)
{
    return format::kHeaderBytes + std::uint64_t{position} * kChunk;
}

// Of memory that is there or was, or a bit behind where it begins.
void add_wrong_frees(std::vector<Step>& steps, std::mt19937& random)
{
    std::vector<std::uint64_t> addresses{0x123};
    for (std::size_t at = 0; at < steps.size(); ++at) {
        if (steps[at].what == Do::alloc)
            addresses.push_back(steps[at].address);
        if (random() % 10 > 0)
            continue;
        Step wrong = steps[at];
        wrong.what = random() % 3 > 0 ? Do::failed_free : Do::damaged;
        wrong.api = random() % 2 > 0 ? "cuMemFree_v2" : "cuMemFreeHost";
        wrong.address = addresses[random() % addresses.size()] + 16 * (random() % 2);
        wrong.bytes = 4;
        wrong.stack = 1 + random() % kStacks;
        steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(++at), wrong);
    }
}

} // namespace

Played program_to_collect(std::uint32_t seed)
{
    // Where memory overlaps that cannot, more lives are cut in pieces where all are followed.
    const bool nonsense = seed % 5 == 0;
    std::mt19937 random(seed);
    std::vector<Step> steps = random_program(seed, {.late_frees = false, .nonsense = nonsense});
    if (!nonsense)
        add_wrong_frees(steps, random);
    return {std::move(steps), {.new_chunks = 5 + seed % 30, .seed = seed}};
}

CollectedLog::CollectedLog() : descriptor_(::memfd_create("collected.vsl", MFD_CLOEXEC)) {}

CollectedLog::~CollectedLog()
{
    ::close(descriptor_);
}

void CollectedLog::grow_to(const Bytes& log)
{
    format::FileHeader header;
    std::memcpy(&header, log.data(), sizeof header);
    const format::FileHeader before = read_header();
    const std::uint32_t chunks = header.chunks;
    header.chunks = before.chunks;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const auto [at, added] = place_.try_emplace(chunk, header.chunks);
        header.chunks += added;
        if (added || is_there(at->second))
            copy_chunk(&log[format::kHeaderBytes + chunk * kChunk], at->second);
    }
    if (before.major != 0) {
        header.major = before.major;
        header.checkpoint = before.checkpoint;
        std::memcpy(header.checkpoint_rows, before.checkpoint_rows, sizeof header.checkpoint_rows);
    }
    write(&header, sizeof header, 0);
}

void CollectedLog::collect(std::uint64_t until_ticks)
{
    std::string checkpoint;
    std::vector<report::EmptyRun> given_back;
    {
        const auto file = report::LogFile::open(path(), report::LogFile::Collected::taken);
        const auto log = report::begin_collection(file, until_ticks);
        log->read();
        checkpoint = report::checkpoint_of(*log);
        report::check_collected_checkpoint(checkpoint, file);
        given_back = report::chunks_to_give_back(file, log->reading.reader().kept());
    }
    ASSERT_TRUE(log::publish_checkpoint(descriptor_, checkpoint));
    for (const report::EmptyRun& run : given_back) {
        ASSERT_TRUE(log::give_back(descriptor_, run.first, run.end));
        chunks_given_back += run.end - run.first;
    }
}

void CollectedLog::play(const Played& program, std::mt19937& random)
{
    const std::vector<Step>& steps = program.steps;
    std::uint64_t last = 0;
    for (std::size_t step = 1 + random() % 50; step < steps.size(); step += 1 + random() % 50) {
        grow_to(written({steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(step)},
                        program.layout)
                    .build());
        const std::uint64_t now = steps[step - 1].ticks;
        const std::uint64_t until = now - std::min<std::uint64_t>(now, random() % 3000);
        if (until > last)
            collect(last = until);
    }
    grow_to(written(steps, program.layout).build());
}

format::FileHeader CollectedLog::read_header() const
{
    format::FileHeader header{};
    if (::pread(descriptor_, &header, sizeof header, 0) < 0)
        ADD_FAILURE();
    return header;
}

std::uint64_t CollectedLog::bytes_on_disk() const
{
    struct stat status;
    return ::fstat(descriptor_, &status) == 0 ? 512u * static_cast<std::size_t>(status.st_blocks)
                                              : 0;
}

void CollectedLog::write(const void* bytes, std::size_t count, std::uint64_t offset)
{
    ASSERT_EQ(::pwrite(descriptor_, bytes, count, static_cast<off_t>(offset)),
              static_cast<ssize_t>(count));
}

bool CollectedLog::is_there(std::uint32_t position) const
{
    std::uint32_t magic = 0;
    return ::pread(descriptor_, &magic, sizeof magic, static_cast<off_t>(offset_of(position))) >
               0 &&
           magic != 0;
}

void CollectedLog::copy_chunk(const std::uint8_t* bytes, std::uint32_t position)
{
    std::vector<std::uint8_t> chunk(bytes, bytes + kChunk);
    format::ChunkHeader header;
    std::memcpy(&header, chunk.data(), sizeof header);
    header.index = position;
    std::memcpy(chunk.data(), &header, sizeof header);
    write(chunk.data(), chunk.size(), offset_of(position));
}

std::string full_report_of(const std::filesystem::path& log)
{
    report::Options options;
    options.all_sites = true;
    report::Report report = report::make_report({log}, options);
    for (report::Process& process : report.processes)
        process.log = "log";
    return report::report_json(report, report::Audience::whole_file).dump(1);
}

std::string refusal_of(const std::filesystem::path& log, const report::Options& options)
{
    try {
        report::make_report({log}, options);
    } catch (const report::Error& error) {
        return error.what();
    }
    return {};
}

} // namespace vramscope::test
