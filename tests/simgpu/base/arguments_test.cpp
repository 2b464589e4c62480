// tests/simgpu/base/arguments_test.cpp — senseless arguments get an answer, never a crash.
//
// Every entry point is called with arguments made up by type: null, small and largest numbers,
// handles that were never given out, and what earlier calls returned. A pointer to a structure is
// null or leads to scratch memory. Which calls are made follows from the seed alone.
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <sys/mman.h>

#include "tests/support/child.hpp"
#include "tools/simgpu/driver/base/cuda.hpp"
#include "tools/simgpu/simgpu.h"

namespace {

constexpr size_t kPieceBytes = size_t{1} << 16;
constexpr size_t kScratchBytes = size_t{1} << 30;

template <class T>
concept Complete = requires
{
    sizeof(T);
};

class Arguments {
public:
    explicit Arguments(unsigned seed) : random_(seed) {}

    // `is_handle` says that the integer names something.
    template <class T>
    T make(bool is_handle)
    {
        if constexpr (std::is_pointer_v<T>)
            return make_pointer<T>();
        else if constexpr (std::is_enum_v<T>)
            return static_cast<T>(pick() % 20);
        else if constexpr (std::is_integral_v<T>)
            return static_cast<T>(is_handle ? one_of(handles_) : make_number());
        else
            return T{};
    }

    void start() { given_.clear(); }
    // What one call wrote may be an argument of a later one: a number, an address or a handle.
    void remember()
    {
        for (char* out : given_) {
            std::uint64_t value = 0;
            std::memcpy(&value, out, sizeof value);
            CUdeviceptr base = 0;
            size_t bytes = 0;
            const bool is_number = value < (std::uint64_t{1} << 32) ||
                                   cuMemGetAddressRange_v2(&base, &bytes, value) == CUDA_SUCCESS;
            if (value != 0)
                keep(is_number ? numbers_ : handles_, value);
        }
    }

private:
    using Values = std::deque<std::uint64_t>;
    static void keep(Values& values, std::uint64_t value)
    {
        values.push_back(value);
        if (values.size() > 20)
            values.pop_front();
    }
    unsigned pick() { return static_cast<unsigned>(random_()); }
    std::uint64_t one_of(const Values& values)
    {
        return values.empty() ? 0 : values[pick() % values.size()];
    }

    std::uint64_t make_number()
    {
        constexpr std::uint64_t kNumbers[] = {0,
                                              0,
                                              0,
                                              1,
                                              1,
                                              2,
                                              3,
                                              16,
                                              512,
                                              4096,
                                              0x1234,
                                              1 << 21,
                                              1 << 21,
                                              UINT64_MAX / 2,
                                              UINT64_MAX - 511};
        const unsigned choice = pick() % 24;
        return choice < std::size(kNumbers) ? kNumbers[choice] : one_of(numbers_);
    }

    template <class T>
    T make_pointer()
    {
        using Target = std::remove_pointer_t<T>;
        const unsigned choice = pick() % 8;
        if constexpr (std::is_function_v<Target>)
            return nullptr;
        else if constexpr (!Complete<Target> && !std::is_void_v<Target>) // a handle
            return choice == 0   ? nullptr
                   : choice == 1 ? reinterpret_cast<T>(0x1234)
                                 : reinterpret_cast<T>(one_of(handles_));
        else
            return choice == 0 ? nullptr : reinterpret_cast<T>(scratch());
    }

    // One zeroed piece for each pointer of a call, so that a structure asks for nothing. Copies of
    // as many bytes as the numbers say stay inside.
    void* scratch()
    {
        static char* const memory =
            static_cast<char*>(::mmap(nullptr, kScratchBytes, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        char* const piece = memory + given_.size() * kPieceBytes;
        std::memset(piece, 0, 4096);
        given_.push_back(piece);
        return piece;
    }

    std::mt19937 random_;
    Values numbers_;
    Values handles_;
    std::vector<char*> given_;
};

template <unsigned handles, class... Parameters, std::size_t... index>
CUresult call(CUresult (*function)(Parameters...), Arguments& arguments,
              std::index_sequence<index...>)
{
    return function(arguments.make<Parameters>((handles >> index & 1) != 0)...);
}

template <unsigned handles, class... Parameters>
CUresult call(CUresult (*function)(Parameters...), Arguments& arguments)
{
    return call<handles>(function, arguments, std::index_sequence_for<Parameters...>{});
}

struct Row {
    const char* name;
    CUresult (*call)(Arguments&);
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
constexpr Row kRows[] = {
#include "calls.inc"
};
#pragma GCC diagnostic pop

// The last call, for the parent to report if this process dies.
const char** last_call()
{
    static auto* const shared = static_cast<const char**>(
        ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    return shared;
}

void run(unsigned seed, unsigned calls)
{
    Arguments arguments(seed);
    std::mt19937 random(seed);
    CUcontext context = nullptr;
    for (unsigned done = 0; done < calls; ++done) {
        if (done % 200 == 0) { // a call may have ended the context
            EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
            EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
        }
        const Row& row = kRows[random() % std::size(kRows)];
        *last_call() = row.name;
        arguments.start();
        if (row.call(arguments) == CUDA_SUCCESS)
            arguments.remember();
    }
}

} // namespace

TEST(EntryPoints, AllCanBeCountedObservedAndMadeToFail)
{
    vramscope::test::run_in_child([] {
        static unsigned long observed = 0;
        simgpu_set_observer(
            [](const char*, int result) { observed += result == CUDA_ERROR_UNKNOWN ? 1 : 0; });
        Arguments arguments(1);
        for (const Row& row : kRows) {
            ASSERT_EQ(simgpu_set_fault(row.name, 0, CUDA_ERROR_UNKNOWN), 0) << row.name;
            const auto before = simgpu_call_count(row.name);
            arguments.start();
            EXPECT_EQ(row.call(arguments), CUDA_ERROR_UNKNOWN) << row.name;
            EXPECT_EQ(simgpu_call_count(row.name), before + 1) << row.name;
        }
        EXPECT_EQ(observed, std::size(kRows));
    });
}

TEST(Arguments, MayBeAnything)
{
    ::setenv("VRAMSCOPE_SIMULATE", "2x64MiB", 1);
    ::setenv("VRAMSCOPE_SIM_DELAY_US", "3600000000", 1);
    const char* const only = std::getenv("VRAMSCOPE_TEST_SEED"); // repeats a seed that failed
    const unsigned first = only ? static_cast<unsigned>(std::atoi(only)) : 1;
    for (unsigned seed = first; seed <= (only ? first : 20); ++seed) {
        *last_call() = "none";
        const int status = vramscope::test::wait_for(vramscope::test::start_child([seed] {
            ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
            run(seed, 20000);
        }));
        EXPECT_EQ(status, 0) << "seed " << seed << ", last call " << *last_call();
    }
}
