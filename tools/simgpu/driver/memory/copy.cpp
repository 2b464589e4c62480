// tools/simgpu/driver/memory/copy.cpp — check, queue and do copies and fills.
//
// Ranges are checked when the call is made and again when the work runs: memory that is gone by
// then is an illegal address, as on a device. An unpinned source is read during the call, and an
// unpinned target is written before the call returns.
#include "tools/simgpu/driver/memory/copy.hpp"

#include <cstring>
#include <memory>

#include "tools/simgpu/driver/graph/graph.hpp"
#include "tools/simgpu/driver/memory/allocation.hpp"

namespace simgpu {
namespace {

std::size_t span(const Plane& plane, const Extent& extent)
{
    return (extent.depth - 1) * plane.slice + (extent.height - 1) * plane.pitch + extent.width;
}

// Whether rows and slices do not overlap, and no sum wraps round.
bool is_sound(const Plane& plane, const Extent& extent)
{
    std::size_t rows = 0;
    std::size_t slices = 0;
    std::size_t all = 0;
    if (__builtin_mul_overflow(extent.height - 1, plane.pitch, &rows) ||
        __builtin_add_overflow(rows, extent.width, &rows) ||
        __builtin_mul_overflow(extent.depth - 1, plane.slice, &slices) ||
        __builtin_add_overflow(slices, rows, &all) ||
        __builtin_add_overflow(all, plane.start, &all))
        return false;
    return (extent.height == 1 || plane.pitch >= extent.width) &&
           (extent.depth == 1 || plane.slice >= rows);
}

CUresult check(const Plane& plane, const Extent& extent, bool writes)
{
    if (!plane.start || !is_sound(plane, extent))
        return CUDA_ERROR_INVALID_VALUE;
    if (is_planned_graph_range(plane.start, span(plane, extent))) // it is named before it exists
        return CUDA_SUCCESS;
    if (plane.must_be_device && !known_to_driver(plane.start))
        return CUDA_ERROR_INVALID_VALUE;
    return usable(plane.start, span(plane, extent), writes) ? CUDA_SUCCESS
                                                            : CUDA_ERROR_INVALID_VALUE;
}

void run(const Copy& shape)
{
    for (std::size_t z = 0; z < shape.extent.depth; ++z)
        for (std::size_t y = 0; y < shape.extent.height; ++y)
            std::memmove(
                reinterpret_cast<void*>(shape.to.start + z * shape.to.slice + y * shape.to.pitch),
                reinterpret_cast<const void*>(shape.from.start + z * shape.from.slice +
                                              y * shape.from.pitch),
                shape.extent.width);
}

void run(const Fill& shape)
{
    for (std::size_t y = 0; y < shape.extent.height; ++y) {
        auto* const row = reinterpret_cast<unsigned char*>(shape.to.start + y * shape.to.pitch);
        if (shape.value_bytes == 1)
            std::memset(row, static_cast<int>(shape.value), shape.extent.width);
        else
            for (std::size_t x = 0; x < shape.extent.width; x += shape.value_bytes)
                // The value is little-endian, as on a device.
                std::memcpy(row + x, &shape.value, shape.value_bytes);
    }
}

Touch touch_of(const Plane& plane, const Extent& extent, bool writes)
{
    return {plane.start, span(plane, extent), writes};
}

// One dense copy of an unpinned source, so that the program may overwrite it at once.
std::shared_ptr<std::vector<char>> stage(Copy& shape)
{
    const Extent& extent = shape.extent;
    auto bytes = std::make_shared<std::vector<char>>(extent.width * extent.height * extent.depth);
    Copy out = shape;
    out.to = {reinterpret_cast<std::uintptr_t>(bytes->data()), extent.width,
              extent.width * extent.height};
    run(out);
    shape.from = out.to;
    return bytes;
}

} // namespace

CUresult make_work(const Copy& shape, Work& work)
{
    if (const CUresult error = check(shape.to, shape.extent, true))
        return error;
    if (const CUresult error = check(shape.from, shape.extent, false))
        return error;
    work.touches = {touch_of(shape.to, shape.extent, true),
                    touch_of(shape.from, shape.extent, false)};
    work.run = [shape] {
        if (!usable(shape.to.start, span(shape.to, shape.extent), true) ||
            !usable(shape.from.start, span(shape.from, shape.extent), false))
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        run(shape);
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

CUresult make_work(const Fill& shape, Work& work)
{
    if (const CUresult error = check(shape.to, shape.extent, true))
        return error;
    work.touches = {touch_of(shape.to, shape.extent, true)};
    work.run = [shape] {
        if (!usable(shape.to.start, span(shape.to, shape.extent), true))
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        run(shape);
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

CUresult copy(CUstream handle, const Copy& asked, Return when)
{
    Context* context = nullptr;
    if (const CUresult error = current_context(context))
        return error;
    Stream* stream = nullptr;
    if (const CUresult error = resolve_stream(handle, *context, stream))
        return error;
    if (asked.extent.empty())
        return CUDA_SUCCESS;
    Copy shape = asked;
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    if (const CUresult error = make_work(shape, submission.work))
        return error;
    const bool to_program = !known_to_driver(shape.to.start);
    const bool between_devices = on_device(shape.to.start) && on_device(shape.from.start);
    if (when == Return::when_queued && !capturing(*stream) && !known_to_driver(shape.from.start)) {
        const auto staged = stage(shape);
        submission.work.touches = {touch_of(shape.to, shape.extent, true)};
        submission.work.run = [shape, staged] {
            if (!usable(shape.to.start, span(shape.to, shape.extent), true))
                return CUDA_ERROR_ILLEGAL_ADDRESS;
            run(shape);
            return CUDA_SUCCESS;
        };
    }
    Mark mark;
    if (const CUresult error = submit(*stream, std::move(submission), &mark))
        return error;
    if (to_program || (when == Return::when_done && !between_devices)) {
        finish(mark);
        return context->sticky_error;
    }
    return CUDA_SUCCESS;
}

CUresult fill(CUstream handle, const Fill& shape)
{
    Stream* stream = nullptr;
    if (const CUresult error = stream_of_handle(handle, stream))
        return error;
    if (shape.extent.empty())
        return CUDA_SUCCESS;
    if (shape.to.start % shape.value_bytes != 0)
        return CUDA_ERROR_INVALID_VALUE;
    Submission submission;
    submission.type = CU_GRAPH_NODE_TYPE_MEMSET;
    if (const CUresult error = make_work(shape, submission.work))
        return error;
    return submit(*stream, std::move(submission));
}

} // namespace simgpu
