// tests/fuzz/import_fuzzer.cpp — any bytes are a recording or an Error, and what is made is a log.
//
// The corpus is snapshots that our own export writes, and a log of RMM.
#include <cstdint>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

#include "report/error.hpp"
#include "report/exporters/exporters.hpp"
#include "report/findings/make_report.hpp"
#include "report/import/import.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/support/log_builder.hpp"

using namespace vramscope;
using test::Bytes;
using test::LogBuilder;
using namespace test; // sizes

namespace {

Bytes bytes_of(std::string_view text)
{
    return {text.begin(), text.end()};
}

// With blocks, segments that can grow, annotations and a shortage.
Bytes snapshot(std::uint64_t rounds)
{
    LogBuilder log;
    log.info("imported", "fuzz").info("torch.max_split_size", "-1").stack(1, {0x401000});
    log.add(format::PythonCode{1, format::LineTable::none, 0, "a.py", "f", {}});
    log.header().suballocated = 1;
    for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint64_t base = 0x7f0000000000 + round * 64_MiB;
        log.place({.device = static_cast<std::int64_t>(round % 2), .stream = round % 3});
        log.push("step").alloc(base, 20_MiB, 1).alloc(base, 1_MiB, 1, "PyTorch");
        log.alloc(base + 2_MiB, 1000 * round + 1, 1, "PyTorch").free(base, "PyTorch").pop();
        log.alloc(round + 1, 2_MiB, 1, "cuMemCreate").map(base + 32_MiB, 2_MiB, round + 1);
        log.alloc(base + 32_MiB, 512, 1, "PyTorch").free(round + 1, "cuMemRelease");
        log.failed(2, 1_GiB, "PyTorch", 1).out_of_memory({.requested = 1_GiB, .free = 5});
        if (round % 4 == 3)
            log.free(base + 2_MiB, "PyTorch").unmap(base + 32_MiB, 2_MiB);
    }
    const TempFile file(log.build());
    std::string text;
    report::export_torch_snapshot(file.path(), [&](std::string_view piece) { text += piece; });
    return bytes_of(text);
}

} // namespace

const FuzzTarget fuzz_target = {"import_fuzzer", 2}; // the protocol

std::vector<Bytes> fuzz_corpus()
{
    return {snapshot(1), snapshot(3), snapshot(20),
            bytes_of("Thread,Time,Action,Pointer,Size,Stream\n"
                     "1,23:59:59.999999,allocate,0x7f0000000000,1000,0x5a\n"
                     "2,00:00:00.000001,free,0x7f0000000000,1000,0\n"
                     "2,00:00:00.000002,free,0x7f0000000400,10,(nil)\n"
                     "2,00:00:01.000000,allocate failure,(nil),99999,0\n")};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const TempFile recording(Bytes(data, data + size));
    const TempFile log({});
    const int descriptor = ::open(log.path().c_str(), O_RDWR | O_CLOEXEC);
    bool written = false;
    try {
        report::import_recording(recording.path(), descriptor);
        written = true;
    } catch (const report::Error& error) {
        if (std::string_view(error.what()).find('\n') != std::string_view::npos)
            throw std::logic_error("an error has more than one line");
    }
    ::close(descriptor);
    if (written) // what was made is a log, whatever it is of
        report::make_report({log.path()}, {});
    return 0;
}
