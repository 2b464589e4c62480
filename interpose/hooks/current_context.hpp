// interpose/hooks/current_context.hpp — a context that we make current for a while.
//
// The program's own current one stays below it.
#pragma once

#include "interpose/hooks/driver.hpp"

namespace vramscope::hooks {

class ContextMadeCurrent {
public:
    ContextMadeCurrent(const Driver* driver, CUcontext context) noexcept : driver_(driver)
    {
        CUcontext current = nullptr;
        if (!driver || !driver->context || !driver->push_context || !driver->pop_context)
            return;
        driver->context(&current);
        if (current == context)
            result_ = CUDA_SUCCESS;
        else
            result_ = driver->push_context(context);
        pushed_ = current != context && result_ == CUDA_SUCCESS;
    }
    ~ContextMadeCurrent()
    {
        CUcontext popped = nullptr;
        if (pushed_)
            driver_->pop_context(&popped);
    }
    ContextMadeCurrent(const ContextMadeCurrent&) = delete;
    ContextMadeCurrent& operator=(const ContextMadeCurrent&) = delete;

    CUresult result() const noexcept { return result_; } // if not CUDA_SUCCESS, it is not current

private:
    const Driver* driver_;
    CUresult result_ = CUDA_ERROR_NOT_SUPPORTED;
    bool pushed_ = false;
};

} // namespace vramscope::hooks
