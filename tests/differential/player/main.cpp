// tests/differential/player/main.cpp — plays sequences and tells of each what came of it.
//
// Usage: differential_player --seed S --first I --count N --length L [--runtime]
// [--question-faults] [--pool cache|split] [--keep I,J,...] [--text] > RESULTS
// A line for each sequence: its hash, or with --text its whole transcript. Then one line of JSON:
// what the model counted, and how often each row of the hook table was called. The same arguments
// give the same output, with vramscope or without: that is the test.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime_api.h>

#include "tests/differential/player/operations.hpp"

namespace differential {
namespace {

struct Options {
    std::uint64_t seed = 1;
    std::uint64_t first = 0;
    std::uint64_t count = 1;
    unsigned length = 30;
    Profile profile;
    bool text = false;
    bool choosing = false;
    std::vector<unsigned> keep;
};

World* observed_world = nullptr;

void observe(const char* name, int result)
{
    if (observed_world)
        observed_world->observed(name, result);
}

struct Family {
    std::span<const Operation> operations;
    unsigned weight; // the sum of their weights
};

const std::vector<Family>& families(const Profile& profile)
{
    static const auto* all = [&] {
        auto* made = new std::vector<Family>;
        const auto take = [made](std::span<const Operation> some) {
            unsigned weight = 0;
            for (const Operation& operation : some)
                weight += operation.weight;
            made->push_back({some, weight});
        };
        take(memory_operations());
        take(host_operations());
        take(array_operations());
        take(stream_operations());
        take(physical_operations());
        take(context_operations());
        take(graph_operations());
        take(foreign_operations());
        take(green_operations());
        take(query_operations());
        take(fallback_operations());
        if (profile.runtime)
            take(runtime_operations());
        return made;
    }();
    return *all;
}

// What a sequence does more than others do: calls that belong together must come together.
struct Theme {
    std::size_t favourite;
    unsigned favour;
};

void run_some_operation(World& world, const Theme& theme)
{
    const auto& all = families(world.profile());
    const auto weight = [&](std::size_t family) {
        return all[family].weight * (family == theme.favourite ? theme.favour : 1);
    };
    std::size_t sum = 0;
    for (std::size_t family = 0; family < all.size(); ++family)
        sum += weight(family);
    std::size_t choice = world.rng().below(sum);
    std::size_t family = 0;
    for (; choice >= weight(family); ++family)
        choice -= weight(family);
    choice %= all[family].weight;
    for (const Operation& operation : all[family].operations) {
        if (choice < operation.weight)
            return operation.run(world);
        choice -= operation.weight;
    }
}

void enter_context(World& world)
{
    const CUdevice device = static_cast<CUdevice>(world.rng().below(kDevices));
    Out<CUcontext> context;
    if (world.rng().chance(50)) {
        if (CALL(world, cuCtxCreate_v2, context, 0U, device) == CUDA_SUCCESS)
            world.add(Thing::context, context.value).device = device;
        return;
    }
    if (CALL(world, cuDevicePrimaryCtxRetain, context, device) != CUDA_SUCCESS)
        return;
    ++world.primary_users[device];
    if (!world.known(Thing::context, reinterpret_cast<std::uint64_t>(context.value))) {
        Object& made = world.add(Thing::context, context.value);
        made.primary = true;
        made.device = device;
    }
    CALL(world, cuCtxSetCurrent, context.value);
}

// Most sequences begin as programs do: with a context, and many with a stream and a pool.
void begin(World& world)
{
    if (world.rng().chance(8))
        return;
    enter_context(world);
    Out<CUstream> stream;
    if (world.rng().chance(60) && CALL(world, cuStreamCreate, stream, 1U) == CUDA_SUCCESS) {
        const std::uint64_t context = world.current_context();
        world.add(Thing::stream, stream.value).context = context;
    }
    Out<CUmemoryPool> pool;
    if (world.rng().chance(40) && CALL(world, cuDeviceGetDefaultMemPool, pool, 0) == CUDA_SUCCESS)
        world.add(Thing::pool, pool.value).is_default = true;
}

void step_once(World& world, const Theme& theme)
{
    // Without a context little succeeds: mostly that state is left soon.
    const std::uint64_t current = world.current_context();
    if (!world.known(Thing::context, current) && world.rng().chance(40))
        enter_context(world);
    run_some_operation(world, theme);
}

// Which of these runs, and with what, depends on the seed alone, not on which others are left out.
void play(World& world, const Options& options, std::uint64_t index)
{
    const std::uint64_t seed = mix(options.seed, index);
    Relay relay;
    world.begin(mix(seed, ~0ULL));
    const unsigned threads =
        world.rng().chance(75) ? 1 : 2 + static_cast<unsigned>(world.rng().below(2));
    const bool faults = world.rng().chance(15);
    const Theme theme{world.rng().below(families(world.profile()).size()),
                      world.rng().one_of<unsigned>({1, 8, 30})};
    begin(world);
    for (unsigned step = 0; step < options.length && !world.abandoned; ++step) {
        if (options.choosing && !std::binary_search(options.keep.begin(), options.keep.end(), step))
            continue;
        world.next(mix(seed, step));
        world.text() << std::uint64_t{step} << "\n";
        if (faults && world.rng().chance(10))
            arm_fault(world);
        if (threads > 1 && world.rng().chance(30))
            world.thread() = static_cast<unsigned>(world.rng().below(threads));
        relay.run(world.thread(), [&] { step_once(world, theme); });
    }
    world.text() << "end\n";
    clean_up(world, mix(seed, ~1ULL), relay);
    world.end();
}

bool parse(int argc, char** argv, Options& options)
{
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        if (name == "--runtime")
            options.profile.runtime = true;
        else if (name == "--question-faults")
            options.profile.question_faults = true;
        else if (name == "--text")
            options.text = true;
        else if (i + 1 == argc)
            return false;
        else if (name == "--pool") {
            const std::string_view mode = argv[++i];
            options.profile.pool = mode == "cache"   ? Pool::cache
                                   : mode == "split" ? Pool::split
                                                     : Pool::off;
        } else if (name == "--seed")
            options.seed = std::strtoull(argv[++i], nullptr, 0);
        else if (name == "--first")
            options.first = std::strtoull(argv[++i], nullptr, 0);
        else if (name == "--count")
            options.count = std::strtoull(argv[++i], nullptr, 0);
        else if (name == "--length")
            options.length = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 0));
        else if (name == "--keep") {
            options.choosing = true;
            for (char* at = argv[++i]; *at;) {
                options.keep.push_back(static_cast<unsigned>(std::strtoul(at, &at, 10)));
                at += *at == ',';
            }
        } else
            return false;
    }
    return true;
}

} // namespace

int run(int argc, char** argv)
{
    if (argc == 2 && std::strcmp(argv[1], "--export-memory") == 0)
        return export_memory();
    Options options;
    if (!parse(argc, argv, options)) {
        std::fprintf(stderr, "differential_player: see the top of player/main.cpp\n");
        return 2;
    }
    if (!find_controls(&observe)) {
        std::fprintf(stderr, "differential_player: needs the simulated GPU's libcuda.so.1\n");
        return 2;
    }
    cuInit(0);
    look_up_rows();
    if (options.profile.runtime)
        cudaFree(nullptr); // it looks up all that it needs
    World world(options.profile);
    observed_world = &world;
    // The context that the runtime made is left, as at the end of a sequence.
    if (options.profile.runtime) {
        world.begin(options.seed);
        Relay relay;
        clean_up(world, options.seed, relay);
        world.end();
    }
    for (std::uint64_t index = options.first; index < options.first + options.count; ++index) {
        play(world, options, index);
        if (options.text)
            std::printf("%s", world.text().text().c_str());
        else
            std::printf("%016llx\n", static_cast<unsigned long long>(world.text().hash()));
    }
    observed_world = nullptr;
    std::printf("{\"totals\": ");
    world.model().totals().write(stdout);
    std::printf(", \"unexplained\": %llu, \"rows\": ",
                static_cast<unsigned long long>(world.unexplained));
    write_row_counts(stdout);
    std::printf("}\n");
    return 0;
}

} // namespace differential

int main(int argc, char** argv)
{
    return differential::run(argc, argv);
}
