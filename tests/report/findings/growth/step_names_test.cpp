// tests/report/findings/growth/step_names_test.cpp — names as programs and frameworks have them.
#include "report/findings/growth/step_names.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

TEST(StepNames, SayStepByTheirWords)
{
    for (const char* const name :
         {"step #", "train_step", "trainstep", "ProfilerStep#", "Optimizer.step#SGD.step",
          "timestep", "iter #", "Iteration", "cg-iterations",
          "enumerate(DataLoader)#_DataLoaderIter.__next__"})
        EXPECT_EQ(says_step(name), 2) << name;
    for (const char* const name :
         {"batch", "val batch", "minibatch #", "batches", "epoch#", "Epochs"})
        EXPECT_EQ(says_step(name), 1) << name;
    for (const char* const name :
         {"writer", "criterion", "literal", "aten::batch_norm", "BatchNorm2d", "batchnorm",
          "NativeBatchNormBackward0", "request", "", "#", "sub_batch_normalize"})
        EXPECT_EQ(says_step(name), 0) << name;
}

TEST(StepNames, SayPreparationByWholeWords)
{
    for (const char* const name : {"load layer #", "loadWeights", "Warmup", "warm up", "model.init",
                                   "setup", "warmup_step", "layer loaded"})
        EXPECT_TRUE(says_preparation(name)) << name;
    for (const char* const name : {"DataLoader", "upload", "payload", "step", "initial guess", ""})
        EXPECT_FALSE(says_preparation(name)) << name;
}

} // namespace
} // namespace vramscope::report
