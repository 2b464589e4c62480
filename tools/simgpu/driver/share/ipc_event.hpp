// tools/simgpu/driver/share/ipc_event.hpp — the state of an interprocess event: a page that its
// processes share.
#pragma once

#include <cstdint>
#include <memory>

namespace simgpu {

// Records are numbered over all processes; who waits, waits for the newest. Nobody can wake a
// waiter in another process: it looks again every so often.
class SharedEvent {
public:
    // Null if the system has no more memory, or if the file is not an event's.
    static std::shared_ptr<SharedEvent> make();
    static std::shared_ptr<SharedEvent> open(int file); // takes the descriptor over
    ~SharedEvent();
    SharedEvent(const SharedEvent&) = delete;
    SharedEvent& operator=(const SharedEvent&) = delete;

    int file() const { return file_; }
    std::uint64_t record();
    void reach(std::uint64_t ticket);
    std::uint64_t newest() const;
    // Also when the process that recorded it last has ended: then nobody will reach it.
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
