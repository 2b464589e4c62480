// tests/report/words/file_words_test.cpp — files without names: one sentence for each reason.
#include "report/words/file_words.hpp"

#include <gtest/gtest.h>

namespace vramscope::report {
namespace {

constexpr const char* kNext = "; for a log from a container or another machine, --sysroot DIR and "
                              "--path-map OLD=NEW say where its files are";

TEST(UnreadFiles, OneForAProgramIsALine)
{
    EXPECT_EQ(notice_of({"/app/a", "no such file", "/tree/app/a"}),
              "/app/a: no such file; its frames are shown as module+offset");
}

TEST(UnreadFiles, NoneNeedNoWords)
{
    EXPECT_TRUE(sentences_about({}).empty());
}

TEST(UnreadFiles, ShareASentenceAndTheNextStepIsSaidOnce)
{
    const std::vector<UnreadFile> files{{"/a", "no such file", ""},
                                        {"/b", "another build", "/tree/b: build-id 01"},
                                        {"/c", "no such file", "/tree/c"}};
    EXPECT_EQ(sentences_about(files),
              (std::vector<std::string>{
                  "/a, /c (/tree/c): no such file; their frames are shown as module+offset",
                  std::string("/b (/tree/b: build-id 01): another build; its frames are shown as "
                              "module+offset") +
                      kNext}));
}

TEST(UnreadFiles, AreCountedWhereTheyAreMany)
{
    std::vector<UnreadFile> files;
    for (int i = 0; i < 40; ++i)
        files.push_back({"/lib/" + std::to_string(i), "no such file", ""});
    EXPECT_EQ(sentences_about(files),
              std::vector<std::string>{"/lib/0, /lib/1, /lib/2, /lib/3 and 36 more: no such file; "
                                       "their frames are shown as module+offset" +
                                       std::string(kNext)});
}

} // namespace
} // namespace vramscope::report
