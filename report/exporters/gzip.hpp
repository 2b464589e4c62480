// report/exporters/gzip.hpp — a sink that compresses for another one.
#pragma once

#include <memory>
#include <string_view>

#include "report/exporters/exporters.hpp"

namespace vramscope::report {

class GzipSink {
public:
    explicit GzipSink(const Sink& out); // `out` outlives this
    GzipSink(const GzipSink&) = delete;
    GzipSink& operator=(const GzipSink&) = delete;
    ~GzipSink();

    void write(std::string_view text);
    void finish(); // nothing may be written after it

private:
    void deflate(int how);

    struct Stream;
    const Sink& out_;
    std::unique_ptr<Stream> stream_;
};

} // namespace vramscope::report
