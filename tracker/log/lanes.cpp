// tracker/log/lanes.cpp — a stack of lanes under a lock.
#include "tracker/log/lanes.hpp"

namespace vramscope::log {

bool Lanes::take(Lane& lane) noexcept
{
    const std::lock_guard guard(lock_);
    Node* const node = waiting_;
    if (!node)
        return false;
    lane = node->lane;
    waiting_ = node->next;
    node->next = unused_;
    unused_ = node;
    return true;
}

void Lanes::give(const Lane& lane) noexcept
{
    const std::lock_guard guard(lock_);
    Node* node = unused_;
    if (node)
        unused_ = node->next;
    else if (!(node = static_cast<Node*>(arena_.allocate(sizeof(Node)))))
        return;
    node->lane = lane;
    node->next = waiting_;
    waiting_ = node;
}

void Lanes::reset_after_fork() noexcept
{
    waiting_ = unused_ = nullptr;
    arena_ = {};
}

} // namespace vramscope::log
