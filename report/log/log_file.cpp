// report/log/log_file.cpp — opening a log, and everything that can be wrong with the file.
#include "report/log/log_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <numeric>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/file_bytes.hpp"
#include "report/log/packed_file.hpp"

namespace vramscope::report {

namespace {

template <typename... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values)
{
    throw Error(Exit::bad_input, fmt::format(text, std::forward<Values>(values)...));
}

void refuse_other_than_regular(const std::string& name, const struct stat& status)
{
    if (S_ISDIR(status.st_mode))
        refuse("'{}' is a directory: give the log itself, a file that ends in .vsl", name);
    if (!S_ISREG(status.st_mode))
        refuse("'{}' is no regular file: save its content to a file and give that", name);
}

void check_version(const std::string& name, const format::FileHeader& header,
                   LogFile::Collected collected)
{
    if (header.byte_order != format::kByteOrder)
        refuse("'{}' was written on a machine of another byte order, or its header is damaged",
               name);
    if (header.major == format::kCollectedMajorVersion) {
        if (collected == LogFile::Collected::refused)
            refuse("'{}' was collected: of what happened before that it has sums, and this needs "
                   "each event",
                   name);
        return;
    }
    if (header.major > format::kMajorVersion)
        refuse("'{}' has log format {}, this vramscope reads format {}: use a newer vramscope",
               name, header.major, format::kMajorVersion);
    if (header.major < format::kOldestMajorVersion)
        refuse("'{}' has log format {}, this vramscope reads format {} and newer: use the one that "
               "wrote it",
               name, header.major, format::kOldestMajorVersion);
}

void check_header(const std::string& name, const format::FileHeader& header)
{
    if (header.header_bytes < format::kHeaderBytes || header.header_bytes > kMaxHeaderBytes)
        refuse("'{}' has a damaged header: {} bytes of header cannot be", name,
               header.header_bytes);
    if (header.chunk_bytes < kMinChunkBytes || header.chunk_bytes > kMaxChunkBytes)
        refuse("'{}' has a damaged header: chunks of {} bytes cannot be", name, header.chunk_bytes);
    if (header.clock != format::Clock::monotonic && header.clock != format::Clock::tsc)
        refuse("'{}' has a damaged header: there is no clock {}", name,
               static_cast<std::uint32_t>(header.clock));
}

// A byte for all readers: each has the lock with others, and a collector alone.
struct flock readers_lock() noexcept
{
    struct flock lock {};
    lock.l_whence = SEEK_SET;
    lock.l_start = 1;
    lock.l_len = 1;
    return lock;
}

} // namespace

LogFile LogFile::open(const std::filesystem::path& path, Collected collected)
{
    // O_NONBLOCK: opening a FIFO that has no writer must not wait.
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        refuse("cannot open '{}': {}", path.string(), std::strerror(errno));
    LogFile file(path, fd);
    struct stat status {};
    if (::fstat(fd, &status) != 0)
        refuse("cannot examine '{}': {}", path.string(), std::strerror(errno));
    refuse_other_than_regular(path.string(), status);
    file.hold();
    file.look_for_packing();
    file.read_header(collected);
    file.count_chunks();
    return file;
}

LogFile::LogFile(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}

LogFile::LogFile(LogFile&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)),
      packed_(std::move(other.packed_)), bytes_(other.bytes_), header_(other.header_),
      chunks_(other.chunks_), cut_(other.cut_)
{
}

LogFile::~LogFile()
{
    if (fd_ >= 0)
        ::close(fd_);
}

void LogFile::look_for_packing()
{
    char begin[sizeof(std::uint32_t)];
    if (PackedFile::is_packed(begin, read_at(0, begin, sizeof begin)))
        packed_ = std::make_unique<PackedFile>(fd_);
}

// Where there are no locks there is no collector either: it has none without.
void LogFile::hold()
{
    constexpr int kMostTries = 10'000; // of a millisecond: it waits for the disk meanwhile
    struct flock lock = readers_lock();
    lock.l_type = F_RDLCK;
    for (int attempt = 0; attempt < kMostTries; ++attempt) {
        if (::fcntl(fd_, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES))
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    refuse("'{}' is being collected and cannot be read now: another process has it locked",
           path_.string());
}

void LogFile::release() noexcept
{
    struct flock lock = readers_lock();
    lock.l_type = F_UNLCK;
    ::fcntl(fd_, F_OFD_SETLK, &lock);
}

void LogFile::read_header(Collected collected)
{
    const std::size_t got = read_at(0, &header_, sizeof header_);
    if (packed_ && got == 0)
        refuse("'{}' is packed, and its first frame cannot be read: it is damaged, cut, or was not "
               "packed by `vramscope pack`; what `zstd -d` makes of it may be a log",
               path_.string());
    if (got == 0)
        refuse("'{}' is empty: nothing was recorded in it", path_.string());
    if (got < sizeof header_.magic ||
        std::memcmp(header_.magic, format::kMagic, sizeof header_.magic) != 0)
        refuse("'{}' is no log of vramscope: it does not begin with {}", path_.string(),
               std::string_view(format::kMagic, sizeof format::kMagic));
    if (got < sizeof header_)
        refuse("'{}' is cut inside its header ({} of {} bytes): nothing of it can be read",
               path_.string(), got, sizeof header_);
    check_version(path_.string(), header_, collected);
    check_header(path_.string(), header_);
}

void LogFile::refresh()
{
    format::FileHeader now;
    if (read_at(0, &now, sizeof now) != sizeof now)
        return;
    format::FileHeader expected = header_;
    if (now.major == format::kCollectedMajorVersion) // it was collected since
        expected.major = now.major;
    if (std::memcmp(&now, &expected, offsetof(format::FileHeader, chunks)) != 0)
        return;
    header_ = now;
    count_chunks();
}

// The header was read first: a program that is still writing has at least the chunks it names.
std::uint64_t LogFile::lost_events() const noexcept
{
    return std::accumulate(std::begin(header_.lost), std::end(header_.lost), std::uint64_t{0});
}

void LogFile::count_chunks()
{
    bytes_ = packed_ ? packed_->bytes() : bytes_of_file(fd_);
    const std::uint64_t wanted =
        header_.header_bytes + std::uint64_t{header_.chunks} * header_.chunk_bytes;
    const std::uint64_t payload = bytes_ > header_.header_bytes ? bytes_ - header_.header_bytes : 0;
    // On a full disk a chunk's number is taken, but the chunk is never made: its events are counted
    // as lost events.
    const bool disk_full = header_.lost[static_cast<std::size_t>(format::Lost::no_space)] > 0;
    cut_ = (disk_full ? payload % header_.chunk_bytes != 0 : bytes_ < wanted) ||
           (packed_ && !packed_->complete());
    const std::uint64_t held = (payload + header_.chunk_bytes - 1) / header_.chunk_bytes;
    chunks_ = held < header_.chunks ? static_cast<std::uint32_t>(held) : header_.chunks;
}

std::uint64_t LogFile::chunk_offset(std::uint32_t chunk) const noexcept
{
    return header_.header_bytes + std::uint64_t{chunk} * header_.chunk_bytes;
}

std::uint32_t LogFile::next_chunk_with_data(std::uint32_t chunk) const
{
    const std::uint64_t from = chunk_offset(chunk);
    std::uint64_t data = from;
    if (packed_) {
        data = packed_->next_data(from);
    } else if (const off_t found = ::lseek(fd_, static_cast<off_t>(from), SEEK_DATA); found >= 0) {
        data = static_cast<std::uint64_t>(found);
    } else if (errno == ENXIO) { // there is none
        data = bytes_;
    }
    const std::uint64_t next = (std::max(data, from) - header_.header_bytes) / header_.chunk_bytes;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(next, std::max(chunk, chunks_)));
}

std::size_t LogFile::read_at(std::uint64_t offset, void* out, std::size_t bytes) const
{
    return packed_ ? packed_->read_at(offset, out, bytes) : read_file(fd_, offset, out, bytes);
}

} // namespace vramscope::report
