// report/words/file_words.hpp — which files could not be used for names, and what to do.
#pragma once

#include <string>
#include <vector>

#include "report/model/unread_file.hpp"

namespace vramscope::report {

// For programs: one file.
std::string notice_of(const UnreadFile& file);

// For readers: a sentence for each reason, with its files, and the options that find them.
std::vector<std::string> sentences_about(const std::vector<UnreadFile>& files);

} // namespace vramscope::report
