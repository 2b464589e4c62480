// tools/simgpu/driver/base/slots.hpp — the objects that handles name, recycled and never unmapped.
//
// Slots are recycled last in, first out: handle values are soon reused, as a driver's are. A stale
// handle is recognised, never read after a free.
#pragma once

#include <mutex>
#include <unordered_set>
#include <vector>

namespace simgpu {

// T has a member `alive`, which is written under the lock only.
template <class T>
class Slots {
public:
    T* make()
    {
        const std::lock_guard lock(mutex_);
        T* object = nullptr;
        if (spare_.empty()) {
            object = new T;
            known_.insert(object);
            in_order_.push_back(object);
        } else {
            object = spare_.back();
            spare_.pop_back();
        }
        object->alive = true;
        return object;
    }
    // The object stays readable; its owner has reset what must not outlive it.
    void retire(T* object)
    {
        const std::lock_guard lock(mutex_);
        object->alive = false;
        spare_.push_back(object);
    }
    // Null for a handle that was never given out or is retired.
    T* find(const void* handle)
    {
        const std::lock_guard lock(mutex_);
        auto* const object = static_cast<T*>(const_cast<void*>(handle));
        return known_.contains(object) && object->alive ? object : nullptr;
    }
    // In the order in which they were first made, so that every run treats them in the same order.
    std::vector<T*> all()
    {
        const std::lock_guard lock(mutex_);
        std::vector<T*> living;
        for (T* object : in_order_)
            if (object->alive)
                living.push_back(object);
        return living;
    }

private:
    std::mutex mutex_;
    std::unordered_set<T*> known_;
    std::vector<T*> in_order_;
    std::vector<T*> spare_;
};

// All objects of a type, never destroyed: late destructors of the program still call in.
template <class T>
Slots<T>& slots()
{
    static auto* all = new Slots<T>;
    return *all;
}

} // namespace simgpu
