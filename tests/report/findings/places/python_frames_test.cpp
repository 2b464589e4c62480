// tests/report/findings/places/python_frames_test.cpp — what a reader sees of Python in a stack.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "report/findings/places/fingerprint.hpp"
#include "report/findings/places/frames.hpp"

using namespace vramscope;
using namespace vramscope::report;

namespace {

Frame python(std::string function, std::string file)
{
    return python_frame({.table = format::LineTable::locations,
                         .first_line = 3,
                         .file = std::move(file),
                         .name = std::move(function),
                         .lines = {}},
                        0);
}

Frame native(std::string module, std::string function = {}, int line = 0)
{
    return {.function = std::move(function), .file = {}, .line = line, .module = std::move(module)};
}

std::vector<bool> folded(std::vector<Frame> stack)
{
    fold_around_python(stack, {0, stack.size()});
    std::vector<bool> result;
    for (const Frame& frame : stack)
        result.push_back(frame.library);
    return result;
}

} // namespace

TEST(PythonFrames, AreOfLibrariesByTheirFiles)
{
    for (const char* library :
         {"/usr/lib/python3.11/asyncio/events.py",
          "/home/ann/.pyenv/versions/3.8.1/lib/python3.8/x.py",
          "/venv/lib/python3.13/site-packages/torch/nn/modules/module.py", "<frozen importlib>",
          "/usr/lib/vramscope/python/vramscope/_notebook.py",
          "/usr/lib/python3/dist-packages/numba/core.py", "/opt/python313.zip/json/decoder.py"})
        EXPECT_TRUE(python("f", library).library) << library;
    for (const char* own : {"train.py", "/home/me/python3/train.py", "<string>", "<stdin>", "",
                            "/srv/lib/python3_tools/a.py", "/tmp/ipykernel_1/2.py"})
        EXPECT_FALSE(python("f", own).library) << own;
}

TEST(PythonFrames, FoldAllThatTheUserDidNotWrite)
{
    EXPECT_EQ(folded({native("/lib/libffi.so.8"), native("/x/ext.so", "leak", 7),
                      python("forward", "/v/site-packages/torch/a.py"), python("step", "train.py"),
                      native("/usr/lib/libpython3.11.so.1.0", "call", 5), native("/x/stripped.so"),
                      python("main", "train.py"), native("/x/app", "main", 30)}),
              (std::vector{true, true, true, false, true, true, false, false}));
}

TEST(PythonFrames, FoldWhatARecordingWithoutLibrariesTellsByItsName)
{
    const auto told = [](std::string function, std::string file) {
        Frame frame = native("PyTorch snapshot", std::move(function), 46);
        frame.file = std::move(file);
        return frame;
    };
    EXPECT_EQ(folded({python("step", "train.py"),
                      told("_PyEval_EvalFrame", "/src/python-3.10.14/Include/pycore_ceval.h"),
                      told("at::native::empty_cuda()", "Empty.cpp"),
                      told("mine::step()", "/home/me/net.cpp"), native("/x/app", "at::mine", 3)}),
              (std::vector{false, true, true, false, false}));
}

TEST(PythonFrames, OfLibrariesAreShownWhereTheUserHasNone)
{
    EXPECT_EQ(folded({native("/x/ext.so"), python("run", "/usr/lib/python3.11/threading.py"),
                      native("/usr/bin/python3.11"), python("f", "/v/site-packages/torch/a.py")}),
              (std::vector{true, false, true, false}));
    EXPECT_EQ(folded({native("/x/ext.so"), native("/usr/bin/python3.11")}),
              (std::vector{false, false}));
}

TEST(PythonFrames, AreNamedByFileAndFunction)
{
    std::vector<Frame> stack{native("/lib/libffi.so.8"), python("step", "/a/train.py"),
                             native("/usr/lib/libpython3.11.so.1.0")};
    fold_around_python(stack, {0, stack.size()});
    const auto name = [&] { return fingerprint("cudaMalloc", named_frames(stack, {0, 3})); };
    const std::string before = name();
    stack[1].file = "/b/train.py";
    stack[2].module = "/usr/lib/libpython3.12.so.1.0";
    EXPECT_EQ(name(), before);
    stack[1].file = "/a/other.py";
    EXPECT_NE(name(), before);
}
