// tests/support/main.cpp — runs a test program: all of its tests, or those of one file.
//
// Usage: PROGRAM [--file FILE] [GoogleTest's options]. A program has the tests of a folder, and
// ctest runs it once for each file, so that a test which fails is told by its name and none leans
// on what another file's tests have left. FILE is the end of a path: "report/findings/leaks_test.cpp".
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace {

bool ends_with_path(std::string_view path, std::string_view end)
{
    return path == end || (path.ends_with(end) && path[path.size() - end.size() - 1] == '/');
}

// A filter of GoogleTest that has all tests of the file; empty if there are none.
std::string tests_of(std::string_view file)
{
    std::string filter;
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        const testing::TestSuite& suite = *all.GetTestSuite(i);
        for (int j = 0; j < suite.total_test_count(); ++j) {
            const testing::TestInfo& test = *suite.GetTestInfo(j);
            if (ends_with_path(test.file(), file))
                filter += std::string(suite.name()) + "." + test.name() + ":";
        }
    }
    return filter;
}

} // namespace

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc == 3 && std::strcmp(argv[1], "--file") == 0) {
        const std::string filter = tests_of(argv[2]);
        if (filter.empty()) {
            std::fprintf(stderr, "%s has no test of %s\n", argv[0], argv[2]);
            return 1;
        }
        // A death test starts this program again, with a filter of its own.
        if (testing::GTEST_FLAG(filter) == "*")
            testing::GTEST_FLAG(filter) = filter;
    }
    return RUN_ALL_TESTS();
}
