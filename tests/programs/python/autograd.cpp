// tests/programs/python/autograd.cpp — nodes with PyTorch's names and manners, for autograd.py.
//
// A node is made by the thread that goes forward, and takes a number that this thread counts up.
// Another thread goes backward: it has a state of Python's, and no frames. With OTHER_LAYOUT a node
// has its numbers elsewhere; with WITHOUT_NODES the library does not tell which one is run.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <memory>
#include <thread>

namespace at {
namespace sequence_number {
std::uint64_t get_and_increment()
{
    static thread_local std::uint64_t next = 0;
    return next++;
}
} // namespace sequence_number

struct RecordFunction {
    static std::uint64_t currentThreadId();
};
#ifndef WITHOUT_NODES
std::uint64_t RecordFunction::currentThreadId()
{
    static std::atomic<std::uint64_t> threads{0};
    static thread_local const std::uint64_t id = ++threads;
    return id;
}
#endif
} // namespace at

namespace torch::autograd {

struct Node : std::enable_shared_from_this<Node> {
    Node(std::uint64_t number, std::uint64_t thread) : sequence_nr(number), thread_id(thread) {}
    virtual ~Node() = default;

#ifdef OTHER_LAYOUT
    std::uint64_t something = 12345;
#endif
    const std::uint64_t sequence_nr;
    std::uint64_t topological_nr = 7;
    bool has_parent = false;
    std::uint64_t thread_id;
};

namespace {
thread_local std::shared_ptr<Node> current_node;
std::atomic<long> wrong_counts{0};
} // namespace

#ifndef WITHOUT_NODES
std::shared_ptr<Node> get_current_node()
{
    return current_node;
}
#endif

} // namespace torch::autograd

namespace {

using torch::autograd::Node;

std::uint64_t this_thread()
{
#ifdef WITHOUT_NODES
    return 1;
#else
    return at::RecordFunction::currentThreadId();
#endif
}

template <class Function>
Function python(const char* name)
{
    return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

using Allocate = int (*)(void**, std::size_t);

void run(const std::shared_ptr<Node>& node, Allocate allocate, std::size_t bytes)
{
    void* memory = nullptr;
    torch::autograd::current_node = node;
    const long before = node.use_count();
    allocate(&memory, bytes);
    torch::autograd::wrong_counts += node.use_count() != before;
    torch::autograd::current_node = nullptr;
}

} // namespace

extern "C" {

// A node that adds up has no number.
std::shared_ptr<Node>* forward(bool adds_up)
{
    const std::uint64_t number = adds_up ? UINT64_MAX : at::sequence_number::get_and_increment();
    return new std::shared_ptr<Node>(std::make_shared<Node>(number, this_thread()));
}

// Runs the nodes on a thread of its own, each of which allocates so many bytes. The last makes
// another node meanwhile, which is run too. Returns on how many nodes a reference was left.
long backward(Allocate allocate, std::shared_ptr<Node>** nodes, const std::size_t* bytes,
              std::size_t count)
{
    std::thread([=] {
        const int state = python<int (*)()>("PyGILState_Ensure")();
        void* const saved = python<void* (*)()>("PyEval_SaveThread")();
        for (std::size_t at = 0; at < count; ++at)
            run(*nodes[at], allocate, bytes[at]);
        torch::autograd::current_node = *nodes[count - 1];
        const std::unique_ptr<std::shared_ptr<Node>> second(forward(false));
        run(*second, allocate, bytes[count]);
        python<void (*)(void*)>("PyEval_RestoreThread")(saved);
        python<void (*)(int)>("PyGILState_Release")(state);
    }).join();
    return torch::autograd::wrong_counts;
}

// As where a backward pass calls Python, which goes forward and backward again: on the thread that
// runs this, a node allocates and makes another one, which allocates too.
void backward_here(Allocate allocate, std::shared_ptr<Node>* node, std::size_t bytes,
                   std::size_t bytes_of_second)
{
    run(*node, allocate, bytes);
    torch::autograd::current_node = *node;
    const std::unique_ptr<std::shared_ptr<Node>> second(forward(false));
    run(*second, allocate, bytes_of_second);
}
}
