// tests/differential/player/world.hpp — a sequence as it runs: choices, transcript, possessions.
//
// CALL(world, cuName, arguments...) is the only way from an operation to the driver: it picks a
// door, writes down the call, the driver calls below it, the answer, errno and every out-parameter,
// and keeps the contexts of the model true.
#pragma once

#include <cerrno>
#include <map>

#include "tests/differential/player/arguments.hpp"
#include "tests/differential/player/entry.hpp"
#include "tests/differential/player/model.hpp"
#include "tests/differential/player/relay.hpp"
#include "tests/differential/player/rng.hpp"
#include "tests/differential/player/transcript.hpp"

namespace differential {

enum class Thing { context, stream, pool, graph, exec, node, external, green, texture, surface };
constexpr const char* kThingNames[] = {"context", "stream",   "pool",  "graph",   "exec",
                                       "node",    "external", "green", "texture", "surface"};

struct Object {
    Thing thing;
    unsigned number;
    std::uint64_t handle;
    bool live = true;
    bool primary = false;      // a context
    int device = 0;            // a context, or a pool
    std::uint64_t context = 0; // a stream
    unsigned thread = 0;       // where a stream's capture began
    bool capturing = false;    // a stream, as far as we know
    bool is_default = false;   // a pool that must not be destroyed
};

enum class Pool { off, cache, split };

struct Profile {
    Pool pool = Pool::off;        // the traced player's; both leave out what it makes incomparable
    bool runtime = false;         // calls cuda* too
    bool question_faults = false; // what vramscope asks for may fail: no oracle then
};

constexpr std::size_t kScratchBytes = 256 << 10;
constexpr int kDevices = 2;

class World {
public:
    explicit World(const Profile& profile) : profile_(profile) {}

    void begin(std::uint64_t seed);
    void end();

    const Profile& profile() const { return profile_; }
    Rng& rng() { return rng_; }
    Model& model() { return model_; }
    Transcript& text() { return text_; }
    std::vector<Object>& objects() { return objects_; }
    unsigned& thread() { return thread_; }
    // The next operation: its own choices, so that others can be left out without changing it.
    void next(std::uint64_t seed) { rng_ = Rng(seed); }

    // ---- choices ----
    std::size_t size();       // a size of memory, which is impossible now and then
    std::size_t small_size(); // a size that can be had
    CUdevice device() { return rng_.chance(4) ? 7 : static_cast<CUdevice>(rng_.below(kDevices)); }
    // A pointer to memory of these kinds, or one that is wrong in some way.
    std::uint64_t pointer(std::initializer_list<Kind> kinds);
    Block* live_block(std::initializer_list<Kind> kinds);
    Object* live_object(Thing thing);
    Object* known(Thing thing, std::uint64_t handle);
    std::uint64_t handle(Thing thing); // now and then a wrong one
    template <class T>
    T handle_as(Thing thing)
    {
        return reinterpret_cast<T>(handle(thing));
    }
    CUstream stream();
    template <class T>
    void maybe_null(Out<T>& out)
    {
        out.null = rng_.chance(2);
    }
    template <class T>
    static bool written(const Out<T>& out)
    {
        return !out.null && !out.untouched();
    }

    // ---- what came of it ----
    Object& add(Thing thing, std::uint64_t handle);
    template <class T>
    Object& add(Thing thing, T* handle)
    {
        return add(thing, reinterpret_cast<std::uint64_t>(handle));
    }
    // The calling thread's current context, asked without a line; a new one is made known.
    std::uint64_t current_context();
    // Whether others can be given this memory is the pool's to say: a part of a segment they
    // cannot, which is told, and small memory where its address allows it.
    bool shared_by_chance(std::uint64_t pointer);
    Block& allocated(Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t extent);
    Block& allocated(Kind kind, std::uint64_t address, std::uint64_t bytes)
    {
        return allocated(kind, address, bytes, bytes);
    }
    // What a launch of this executable graph leaves, and frees of others: by its graph's nodes.
    void made_executable(CUgraph graph, CUgraphExec exec);
    void launched(CUgraphExec exec);
    // Asked without a line in the transcript.
    bool capturing(CUstream stream, bool per_thread = false);
    // Before a free in stream order: work on that memory, which may be in another stream, is over.
    void settle(std::uint64_t address);
    // Makes memory that was freed in stream order available to any call that asks for it.
    void wait_for_all();
    // The driver took a free of memory that the model does not know: a hole in one of the two.
    void freed(std::uint64_t address, bool (*of_kind)(Kind));
    std::uint64_t unexplained = 0;
    bool abandoned = false; // what follows cannot be compared
    unsigned primary_users[kDevices]{};

    // ---- calls ----
    template <class R, class... P, class... A>
    R call(Entry& entry, R (*)(P...), A&&... arguments)
    {
        const auto door = static_cast<std::size_t>(rng_.below(kDoors));
        const auto function = reinterpret_cast<R (*)(P...)>(entry.address[door]);
        begin_call(entry, door);
        [[maybe_unused]] bool first = true; // a call without arguments has none to part
        ((text_ << (first ? "" : ", "), first = false, describe_argument(arguments)), ...);
        text_ << ")";
        const int before = 1000 + static_cast<int>(++calls_ % 1000);
        errno = before;
        inside_ = &entry;
        own_seen_ = false;
        last_shown_ = {};
        const R result = function(pass(arguments)...);
        inside_ = nullptr;
        const int after = errno;
        text_ << " = " << static_cast<int>(result);
        if (after != before)
            text_ << " errno " << after;
        (describe_after(arguments), ...);
        text_ << "\n";
        end_call(entry, door, static_cast<int>(result) == 0);
        return result;
    }
    // What the simulated driver was asked while a call ran.
    void observed(const char* name, int result);
    bool quiet = false; // it is the model that asks

    void describe(std::uint64_t value);
    void describe_pointer(std::uint64_t value);

private:
    void begin_call(Entry& entry, std::size_t door);
    void end_call(Entry& entry, std::size_t door, bool succeeded);
    void sweep_contexts();
    bool describe_known(std::uint64_t value, bool dead_too = true);
    bool may_use(const Block& block) const;
    bool shows(const char* name);
    void describe_out(Meaning meaning, std::uint64_t value);

    template <class T>
    void describe_argument(const T& argument)
    {
        if constexpr (std::is_same_v<std::decay_t<T>, const char*>)
            text_ << argument;
        else if constexpr (std::is_null_pointer_v<std::decay_t<T>>)
            text_ << "null";
        else if constexpr (std::is_pointer_v<std::decay_t<T>>)
            describe_pointer(reinterpret_cast<std::uint64_t>(argument));
        else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
            describe(static_cast<std::uint64_t>(argument));
        else
            text_ << "{}";
    }
    template <class T>
    void describe_argument(const Out<T>& out)
    {
        text_ << (out.null ? "null" : "&");
    }
    template <class T>
    void describe_argument(const In<T>& in)
    {
        text_ << (in.null ? "null" : "in");
    }
    template <class T>
    void describe_argument(const Hidden<T>&)
    {
        text_ << "hidden";
    }
    template <class T>
    static T pass(Hidden<T>& hidden)
    {
        return hidden.value;
    }
    template <class T>
    static T& pass(T& argument)
    {
        return argument;
    }
    template <class T>
    static T* pass(Out<T>& out)
    {
        return out.null ? nullptr : &out.value;
    }
    template <class T>
    static T* pass(In<T>& in)
    {
        return in.null ? nullptr : &in.value;
    }
    template <class T>
    void describe_after(const T&)
    {
    }
    template <class T>
    void describe_after(const Out<T>& out)
    {
        if (out.damaged())
            text_ << " DAMAGED";
        if (out.null || out.untouched()) {
            text_ << (out.null ? " -" : " untouched");
            return;
        }
        text_ << " ";
        if constexpr (std::is_pointer_v<T>)
            describe_out(out.meaning, reinterpret_cast<std::uint64_t>(out.value));
        else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
            describe_out(out.meaning, static_cast<std::uint64_t>(out.value));
        else
            text_ << "{}";
    }

    Profile profile_;
    Rng rng_{0};
    Model model_;
    struct Launch {
        std::vector<std::pair<std::uint64_t, std::uint64_t>> allocates; // addresses and bytes
        std::vector<std::uint64_t> frees;
    };
    std::map<std::uint64_t, Launch> launches_; // by executable graph
    Transcript text_;
    std::vector<Object> objects_;
    const Entry* inside_ = nullptr;
    bool own_seen_ = false; // whether the running call reached the driver by its own name
    struct Shown {
        const char* name = nullptr;
        int result = 0;
        std::size_t at = 0; // where the call's text begins
    } last_shown_;
    unsigned thread_ = 0;
    unsigned calls_ = 0;
};

#define CALL(world, function, ...)                                                                 \
    (world).call(                                                                                  \
        [&]() -> differential::Entry& {                                                            \
            static differential::Entry& entry =                                                    \
                differential::entry_of(#function, reinterpret_cast<void*>(&::function));           \
            return entry;                                                                          \
        }(),                                                                                       \
        &::function __VA_OPT__(, ) __VA_ARGS__)

// A page-aligned piece of this program, which can be registered.
unsigned char* scratch();

} // namespace differential
