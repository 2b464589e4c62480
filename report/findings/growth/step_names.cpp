// report/findings/growth/step_names.cpp — names are read by their words, in lower case.
#include "report/findings/growth/step_names.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace vramscope::report {
namespace {

bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}
bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

// "DataLoaderIter.__next__": data, loader, iter, next.
std::vector<std::string> words_of(std::string_view name)
{
    std::vector<std::string> words;
    char before = ' ';
    for (const char c : name) {
        const bool letter = is_upper(c) || is_lower(c);
        const bool begins =
            !(is_upper(before) || is_lower(before)) || (is_lower(before) && is_upper(c));
        if (letter && begins)
            words.emplace_back();
        if (letter)
            words.back() += is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
        before = c;
    }
    return words;
}

bool has(std::string_view word, std::string_view part)
{
    return word.find(part) != std::string_view::npos;
}

} // namespace

int says_step(std::string_view name)
{
    int says = 0;
    std::string_view before;
    const std::vector<std::string> words = words_of(name);
    for (const std::string& word : words) {
        if (has(word, "step") || has(word, "iteration") || word.starts_with("iter"))
            return 2;
        if (word.ends_with("batch") || word.ends_with("batches") || has(word, "epoch"))
            says = 1;
        else if (word.starts_with("norm") && before.ends_with("batch"))
            says = 0; // a layer
        before = word;
    }
    return says;
}

bool says_preparation(std::string_view name)
{
    static constexpr std::string_view kWords[] = {
        "load",   "loading", "loaded",  "init",       "warm",
        "warmup", "setup",   "warming", "initialize", "initialization"};
    const std::vector<std::string> words = words_of(name);
    return std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
    });
}

bool is_of_cccl(std::string_view name)
{
    return name.starts_with("cub::") || name.starts_with("thrust::");
}

} // namespace vramscope::report
