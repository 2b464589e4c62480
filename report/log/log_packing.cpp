// report/log/log_packing.cpp — frame by frame, and then their table.
#include "report/log/log_packing.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>
#include <zstd.h>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/log/packed_file.hpp"

namespace vramscope::report {
namespace {

class Packer {
public:
    explicit Packer(int level) : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx)
    {
        if (!context_)
            throw std::bad_alloc();
        ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level);
        ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    }

    // Valid until the next call.
    std::string_view frame_of(std::string_view content)
    {
        packed_.resize(ZSTD_compressBound(content.size()));
        const std::size_t bytes = ZSTD_compress2(context_.get(), packed_.data(), packed_.size(),
                                                 content.data(), content.size());
        if (ZSTD_isError(bytes))
            throw std::bad_alloc(); // nothing else can go wrong with room enough
        put(bytes);
        put(content.size());
        ++frames_;
        return {packed_.data(), bytes};
    }

    std::string table()
    {
        std::string entries = std::move(entries_);
        entries_.clear();
        put(kSkippableMagic);
        put(entries.size() + kTableFootBytes);
        entries_ += entries;
        put(frames_);
        entries_ += '\0'; // no checksums here: each frame has its own
        put(kSeekableMagic);
        return std::move(entries_);
    }

private:
    void put(std::size_t number)
    {
        const auto value = static_cast<std::uint32_t>(number);
        entries_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }

    std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context_;
    std::vector<char> packed_;
    std::string entries_;
    std::size_t frames_ = 0;
};

} // namespace

void pack_log(const LogBytes& log, const Packing& packing,
              const std::function<void(std::string_view)>& write)
{
    Packer packer(packing.level);
    std::vector<char> content(packing.frame_bytes);
    const std::uint64_t bytes = log.bytes;
    if (bytes > kMostFrames * packing.frame_bytes)
        throw Error(Exit::bad_input, fmt::format("'{}' is too large to be packed: {} bytes",
                                                 log.path.string(), bytes));
    for (std::uint64_t offset = 0; offset < bytes; offset += content.size()) {
        content.resize(std::min<std::uint64_t>(packing.frame_bytes, bytes - offset));
        if (log.read_at(offset, content.data(), content.size()) != content.size())
            throw Error(Exit::bad_input, fmt::format("'{}' cannot be read to its end: {} of {} "
                                                     "bytes, and nothing was packed",
                                                     log.path.string(), offset, bytes));
        write(packer.frame_of({content.data(), content.size()}));
    }
    write(packer.table());
}

void pack_log(const LogFile& log, const Packing& packing,
              const std::function<void(std::string_view)>& write)
{
    const auto read_at = [&log](std::uint64_t offset, void* out, std::size_t bytes) {
        return log.read_at(offset, out, bytes);
    };
    pack_log(LogBytes{log.path(), log.bytes(), read_at}, packing, write);
}

} // namespace vramscope::report
