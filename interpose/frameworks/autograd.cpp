// interpose/frameworks/autograd.cpp — which functions of Python made PyTorch's autograd nodes.
//
// libtorch_cpu calls a function of its own for the number of each node that it makes. A preload
// comes first in every look-up, so that these calls arrive here although PyTorch is opened with
// RTLD_LOCAL. In the backward pass PyTorch says which node the thread runs: two numbers in it tell
// where it was made (tracker/log/origins.hpp). Their places in a node are PyTorch's own affair: the
// first node that is looked at must be one that was seen to be made, or none is believed. A node
// that only adds up the gradient of a leaf tensor has a number that no other has.
//
// PyTorch has names that the loader keeps unique in a process, and it never unloads such a library.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>

#include "interpose/hooks/run_as_hook.hpp"
#include "tracker/capture/loaded_objects.hpp"
#include "tracker/capture/loader.hpp"
#include "tracker/capture/lock.hpp"
#include "tracker/log/origins.hpp"
#include "tracker/log/python_recorder.hpp"
#include "tracker/log/recorder.hpp"

namespace at::sequence_number {
__attribute__((visibility("default"))) std::uint64_t get_and_increment();
} // namespace at::sequence_number

namespace {

using namespace vramscope;

constexpr const char* kNumber = "_ZN2at15sequence_number17get_and_incrementEv";
constexpr const char* kThread = "_ZN2at14RecordFunction15currentThreadIdEv";
constexpr const char* kNode = "_ZN5torch8autograd16get_current_nodeEv";

struct Node; // torch::autograd::Node
constexpr std::size_t kNumberInNode = 24;
constexpr std::size_t kThreadInNode = 48;
constexpr std::uint64_t kNotCounted = UINT64_MAX; // a node that only adds up

struct Autograd {
    std::uint64_t (*next_number)() = nullptr;
    std::uint64_t (*thread)() = nullptr;
    std::shared_ptr<Node> (*current_node)() = nullptr;
};

struct Binding {
    capture::Lock lock;
    std::atomic<bool> done;
    Autograd autograd;
    std::atomic<bool> proven; // a node's numbers were where they are looked for
    std::atomic<const char*> why_off;
    std::atomic<std::uint32_t> told; // generation of the log that says why
};
constinit Binding binding{};

int look_into(dl_phdr_info* info, std::size_t, void* data)
{
    const ElfW(Dyn)* const dynamic = capture::dynamic_of(*info);
    const auto find = [&](const char* name) {
        return dynamic ? capture::object_symbol(info->dlpi_addr, dynamic, name) : nullptr;
    };
    void* const number = find(kNumber);
    if (!number || number == reinterpret_cast<void*>(&at::sequence_number::get_and_increment))
        return 0;
    auto& found = *static_cast<Autograd*>(data);
    found.next_number = reinterpret_cast<std::uint64_t (*)()>(number);
    found.thread = reinterpret_cast<std::uint64_t (*)()>(find(kThread));
    found.current_node = reinterpret_cast<std::shared_ptr<Node> (*)()>(find(kNode));
    return 1;
}

// Each log says why, that of a forked child too, and nothing else is asked any more.
[[gnu::cold]] std::uint32_t tell_why(log::Thread& thread, const char* why) noexcept
{
    const std::uint32_t log = log::process->generation;
    if (binding.told.load(std::memory_order_relaxed) != log && binding.told.exchange(log) != log)
        log::write(thread, format::Info{"backward.off", why});
    return 0;
}

[[gnu::cold]] std::uint32_t switch_off(log::Thread& thread, const char* why) noexcept
{
    binding.why_off.store(why, std::memory_order_relaxed);
    return tell_why(thread, why);
}

std::uint64_t word_in(const std::shared_ptr<Node>& node, std::size_t offset) noexcept
{
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(node.get()) + offset, sizeof word);
    return word;
}

// PyTorch reads the node from a variable of the thread's own, which keeps it alive meanwhile.
std::uint32_t origin_of_node(log::Thread& thread) noexcept
{
    if (const char* const why = binding.why_off.load(std::memory_order_relaxed)) [[unlikely]]
        return tell_why(thread, why);
    const std::shared_ptr<Node> node = binding.autograd.current_node();
    if (!node)
        return 0;
    const std::uint64_t number = word_in(node, kNumberInNode);
    if (number == kNotCounted)
        return log::origin_of_leaf(thread);
    const auto origin = log::origins.find(word_in(node, kThreadInNode), number);
    if (!binding.proven.load(std::memory_order_relaxed)) {
        if (!origin)
            return switch_off(thread, "a node does not have its numbers where they are looked for");
        binding.proven.store(true, std::memory_order_relaxed);
    }
    return origin.value_or(0);
}

[[gnu::noinline, gnu::cold]] void bind() noexcept
{
    Autograd found;
    capture::each_object(&look_into, &found);
    const std::lock_guard guard(binding.lock);
    if (binding.done.load(std::memory_order_relaxed))
        return;
    binding.autograd = found;
    if (!found.thread || !found.current_node)
        binding.why_off.store("this PyTorch does not tell which node a thread runs");
    else if (!log::open_origins())
        binding.why_off.store("there is no memory for its table");
    if (found.next_number)
        log::find_origin.store(&origin_of_node, std::memory_order_release);
    binding.done.store(true, std::memory_order_release);
}

// Nobody waits for what is counted, and one number tells of each node: so this costs little.
void count(std::uint32_t origin) noexcept
{
    format::FileHeader& header = *log::process->header;
    std::atomic_ref(origin ? header.nodes_with_origin : header.nodes_without_origin)
        .fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t python_origin(const log::CallSite& site) noexcept
{
    std::uint32_t origin = 0;
    if (log::python_seen.load(std::memory_order_relaxed))
        hooks::run_as_hook(site, [&](log::Thread& thread) {
            origin = log::python_origin(thread);
            count(origin);
        });
    return origin;
}

} // namespace

// The number that the next node of this thread gets. Budget: 80 ns with 30 frames of Python 3.13.
std::uint64_t at::sequence_number::get_and_increment()
{
    static constinit std::atomic<std::uint64_t> own_number{0};
    if (!binding.done.load(std::memory_order_acquire)) [[unlikely]]
        bind();
    const Autograd& autograd = binding.autograd;
    if (!autograd.next_number) [[unlikely]]
        return own_number.fetch_add(1, std::memory_order_relaxed); // they need but differ
    const std::uint64_t number = autograd.next_number();
    if (!binding.why_off.load(std::memory_order_relaxed)) [[likely]] {
        const log::CallSite site = VRAMSCOPE_CALL_SITE;
        log::origins.remember(autograd.thread(), number, python_origin(site));
    }
    return number;
}
