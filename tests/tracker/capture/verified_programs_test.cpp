// tests/tracker/capture/verified_programs_test.cpp — random programs of all shapes of frames.
#include <random>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/tracker/fixture/frames.hpp"
#include "tests/tracker/fixture/prober.hpp"

using namespace vramscope;
using test::probe;
using test::Prober;

namespace {

// A program is a list of frame shapes with sizes; running it calls them one inside the other.
struct Step {
    void (*shape)(test::Work, void*, int);
    int size;
};
using Program = std::vector<Step>;

using Shapes = std::vector<decltype(Step::shape)>;

// Each shape with every set of compiler flags. Those with a frame that cannot be described come
// only if asked for.
Shapes shapes_of_compilers(bool undescribable)
{
    Shapes shapes;
#define VRAMSCOPE_ADD(name)                                                                        \
    if (undescribable || !std::string_view(#name).starts_with("realigned"))                        \
        shapes.insert(shapes.end(), {&test::frames_o0::name, &test::frames_o2::name,               \
                                     &test::frames_pointer::name, &test::frames_push::name});
    VRAMSCOPE_FRAME_SHAPES(VRAMSCOPE_ADD)
#undef VRAMSCOPE_ADD
    return shapes;
}

struct Running {
    const Program* program;
    std::size_t next;
    Prober* prober;
};

void run_step(void* argument)
{
    auto& running = *static_cast<Running*>(argument);
    if (running.next == running.program->size())
        return probe(running.prober);
    const Step step = (*running.program)[running.next++];
    step.shape(&run_step, &running, step.size);
    VRAMSCOPE_TEST_KEEP_FRAME();
}

Program random_program(std::mt19937& random, const Shapes& shapes)
{
    constexpr int kSizes[] = {1, 16, 40, 100, 1000};
    Program program(1 + random() % 12);
    for (Step& step : program)
        step = {shapes[random() % shapes.size()], kSizes[random() % std::size(kSizes)]};
    return program;
}

// Like `program`, but for one step: most of the stack is then the same.
Program changed(std::mt19937& random, Program program, const Shapes& shapes)
{
    const Program other = random_program(random, shapes);
    program[random() % program.size()] = other[0];
    return program;
}

void run_random_programs(unsigned seed, const Shapes& shapes, Prober& prober)
{
    std::mt19937 random(seed);
    std::vector<Program> programs{random_program(random, shapes)};
    while (programs.size() < 400)
        programs.push_back(random() % 3
                               ? changed(random, programs[random() % programs.size()], shapes)
                               : random_program(random, shapes));
    for (int run = 0; run < 20000; ++run) {
        Running running{&programs[random() % programs.size()], 0, &prober};
        run_step(&running);
    }
}

} // namespace

TEST(VerifiedStacks, StayRightInRandomProgramsOfCompiledFrames)
{
    for (unsigned seed = 1; seed <= 5; ++seed) {
        Prober prober;
        run_random_programs(seed, shapes_of_compilers(false), prober);
        EXPECT_EQ(prober.wrong, 0u) << "seed " << seed;
        EXPECT_GT(prober.recognised, 18500u) << "seed " << seed;
        EXPECT_EQ(prober.walked, 20000u) << "seed " << seed;
    }
}

TEST(VerifiedStacks, StayRightInRandomProgramsWithFramesThatCannotBeDescribed)
{
    Shapes shapes = shapes_of_compilers(true);
    shapes.insert(shapes.end(),
                  {&test::frame_with_pointer_in_register, &test::frame_by_other_register,
                   &test::frame_by_expression, &test::frame_on_another_stack});
    for (unsigned seed = 11; seed <= 15; ++seed) {
        Prober prober;
        run_random_programs(seed, shapes, prober);
        EXPECT_EQ(prober.wrong, 0u) << "seed " << seed;
    }
}
