// report/exporters/gzip.cpp — see gzip.hpp.
#include "report/exporters/gzip.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include <zlib.h>

#include "report/error.hpp"
#include "report/words/own_output.hpp"

namespace vramscope::report {

struct GzipSink::Stream {
    z_stream z{};
    std::string comment{kOwnMark};
    gz_header header{};
    std::array<char, 64 * 1024> piece;
};

GzipSink::GzipSink(const Sink& out) : out_(out), stream_(std::make_unique<Stream>())
{
    constexpr int kGzip = 16; // zlib's way to ask for a gzip header
    constexpr int kMemory = 8;
    if (::deflateInit2(&stream_->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, kMemory,
                       Z_DEFAULT_STRATEGY) != Z_OK)
        throw Error(Exit::usage, "zlib has no memory to compress with");
    stream_->header.comment = reinterpret_cast<Bytef*>(stream_->comment.data());
    stream_->header.os = 3; // Unix, as without a header of our own
    ::deflateSetHeader(&stream_->z, &stream_->header);
}

GzipSink::~GzipSink()
{
    ::deflateEnd(&stream_->z);
}

void GzipSink::write(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t now =
            std::min<std::size_t>(text.size(), std::numeric_limits<uInt>::max());
        stream_->z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
        stream_->z.avail_in = static_cast<uInt>(now);
        deflate(Z_NO_FLUSH);
        text.remove_prefix(now);
    }
}

void GzipSink::finish()
{
    stream_->z.avail_in = 0;
    deflate(Z_FINISH);
}

void GzipSink::deflate(int how)
{
    do {
        stream_->z.next_out = reinterpret_cast<Bytef*>(stream_->piece.data());
        stream_->z.avail_out = static_cast<uInt>(stream_->piece.size());
        ::deflate(&stream_->z, how); // cannot fail: it is given room
        out_({stream_->piece.data(), stream_->piece.size() - stream_->z.avail_out});
    } while (stream_->z.avail_out == 0);
}

} // namespace vramscope::report
