// interpose/gtest/vramscope_gtest.h — GoogleTest's tests by their names in vramscope's logs.
//
// One line in main(), and `vramscope check` judges each test by itself:
//
//     ::testing::InitGoogleTest(&argc, argv);
//     ::testing::UnitTest::GetInstance()->listeners().Append(new vramscope::GTestListener);
//     return RUN_ALL_TESTS();
//
// Needs C++11, GoogleTest 1.10 or later and vramscope.h; nothing is linked, and a
// program that is not traced loses nothing by it. GoogleTest owns the listener. Names are those of
// --gtest_filter: Suite.Test, Instance/Suite.Test/0. What the fixture's SetUp and TearDown allocate
// is the test's; what SetUpTestSuite does, or an Environment, is nobody's.
#ifndef VRAMSCOPE_GTEST_H
#define VRAMSCOPE_GTEST_H

#include <string>
#include <vramscope.h>

#include <gtest/gtest.h>

namespace vramscope {

class GTestListener : public ::testing::EmptyTestEventListener {
public:
    void OnTestStart(const ::testing::TestInfo& test) override
    {
        vramscope_test_begin(name_of(test).c_str());
    }
    void OnTestEnd(const ::testing::TestInfo& test) override
    {
        vramscope_test_end(name_of(test).c_str(), result_of(*test.result()));
    }

private:
    static std::string name_of(const ::testing::TestInfo& test)
    {
        return std::string(test.test_suite_name()) + "." + test.name();
    }
    static vramscope_test_result result_of(const ::testing::TestResult& result)
    {
        if (result.Failed())
            return VRAMSCOPE_TEST_FAILED;
        return result.Skipped() ? VRAMSCOPE_TEST_SKIPPED : VRAMSCOPE_TEST_PASSED;
    }
};

} // namespace vramscope

#endif
