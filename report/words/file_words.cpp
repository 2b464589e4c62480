// report/words/file_words.cpp — a container's log names files by the dozen: they share a sentence.
#include "report/words/file_words.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

constexpr std::size_t kMostFiles = 4; // named in a sentence

std::string sentence_about(const std::vector<const UnreadFile*>& files)
{
    std::string names;
    for (std::size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) {
        const UnreadFile& file = *files[i];
        names += (i == 0 ? "" : ", ") + file.path;
        if (!file.looked_at.empty())
            names += fmt::format(" ({})", file.looked_at);
    }
    if (files.size() > kMostFiles)
        names += fmt::format(" and {} more", grouped(files.size() - kMostFiles));
    return fmt::format("{}: {}; {} frames are shown as module+offset", names, files.front()->why,
                       files.size() == 1 ? "its" : "their");
}

} // namespace

std::string notice_of(const UnreadFile& file)
{
    return fmt::format("{}: {}; its frames are shown as module+offset", file.path, file.why);
}

std::vector<std::string> sentences_about(const std::vector<UnreadFile>& files)
{
    std::vector<std::string> reasons;
    for (const UnreadFile& file : files)
        if (std::find(reasons.begin(), reasons.end(), file.why) == reasons.end())
            reasons.push_back(file.why);
    std::vector<std::string> sentences;
    for (const std::string& why : reasons) {
        std::vector<const UnreadFile*> alike;
        for (const UnreadFile& file : files)
            if (file.why == why)
                alike.push_back(&file);
        sentences.push_back(sentence_about(alike));
    }
    if (!sentences.empty())
        sentences.back() += "; for a log from a container or another machine, --sysroot DIR and "
                            "--path-map OLD=NEW say where its files are";
    return sentences;
}

} // namespace vramscope::report
