// tests/support/written_log.cpp — the log of a random program, in the layout that is asked for.
#include <random>

#include "tests/support/random_program.hpp"

namespace vramscope::test {
namespace {

void define(LogBuilder& log)
{
    log.info("program", "train").info("pool.mode", "cache");
    log.device(0, kDeviceBytes, "GPU").device(1, kDeviceBytes, "GPU");
    log.at(1'000'000).module(1, 0x400000, 0x400000, 0x500000, "/gone/train", "build");
    for (std::uint64_t id = 1; id <= kStacks; ++id)
        log.stack(id, {0x400001 + id * 0x1000});
    for (std::uint64_t id = 1; id <= kContexts; ++id)
        log.context(id, device_of(id));
    log.pool(kHostPool, 2).pool(kManagedPool, 1, true);
}

void write(LogBuilder& log, const Step& step)
{
    static constexpr std::string_view kNames[] = {"epoch", "step", "step 7", "evaluate"};
    log.at(step.ticks).place(step.place);
    switch (step.what) {
    case Do::alloc:
        if (step.pooled)
            log.pooled(step.address, step.bytes, step.slack, step.stack, step.api);
        else
            log.alloc(step.address, step.bytes, step.stack, step.api);
        return;
    case Do::free:
        log.free(step.address, step.api, step.stack);
        return;
    case Do::map:
        log.map(step.address, step.bytes, step.handle);
        return;
    case Do::unmap:
        log.unmap(step.address, step.bytes);
        return;
    case Do::retain:
        log.retain(step.handle);
        return;
    case Do::context_gone:
        log.context_gone(step.handle);
        return;
    case Do::segment:
        log.segment(step.address, step.bytes, step.place.context, step.place.device);
        return;
    case Do::segment_gone:
        log.segment_gone(step.address);
        return;
    case Do::reusable:
        log.reusable(step.age);
        return;
    case Do::push:
        log.push(kNames[step.handle]);
        return;
    case Do::pop:
        log.pop();
        return;
    case Do::mark:
        log.mark("here");
        return;
    case Do::failed_free:
        log.failed_free(step.address, step.stack, step.api);
        return;
    case Do::damaged:
        log.damaged(format::Damage::use_after_free, step.address, 8, step.bytes, step.stack);
        return;
    case Do::failed:
        log.failed(2, step.bytes, "cuMemAlloc_v2", step.stack);
        return;
    case Do::share:
        log.shared(step.address);
        return;
    case Do::sample:
        log.device_memory(step.bytes, kDeviceBytes, step.place.device);
        return;
    }
}

} // namespace

LogBuilder written(const std::vector<Step>& steps, const Layout& layout)
{
    LogBuilder log(layout.chunk_bytes);
    std::mt19937 random(layout.seed);
    define(log);
    for (const Step& step : steps) {
        log.thread(layout.one_thread ? 0 : step.thread).at(step.ticks);
        if (random() % 100 < layout.new_chunks)
            log.new_chunk();
        write(log, step);
    }
    return log;
}

} // namespace vramscope::test
