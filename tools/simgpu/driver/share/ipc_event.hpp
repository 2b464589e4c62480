// tools/simgpu/driver/share/ipc_event.hpp — the state that processes with one event share.
#pragma once

#include <cstdint>
#include <memory>

namespace simgpu {

// It is a page that the processes map. Records are numbered over all processes, and a wait is for
// the newest. Nothing can wake a waiter in another process, so it looks again every so often.
class SharedEvent {
public:
    // Null if the system has no more memory or the file is not an event's.
    static std::shared_ptr<SharedEvent> make();
    static std::shared_ptr<SharedEvent> open(int file); // it owns the descriptor now
    ~SharedEvent();
    SharedEvent(const SharedEvent&) = delete;
    SharedEvent& operator=(const SharedEvent&) = delete;

    int file() const { return file_; }
    std::uint64_t record();
    void reach(std::uint64_t ticket);
    std::uint64_t newest() const;
    // True also if the process that recorded it last has ended, as it would never be reached.
    bool reached(std::uint64_t ticket) const;
    void wait(std::uint64_t ticket) const;

private:
    struct Page;
    static std::shared_ptr<SharedEvent> map(int file);
    SharedEvent(int file, Page* page) : file_(file), page_(page) {}

    int file_;
    Page* page_;
};

} // namespace simgpu
