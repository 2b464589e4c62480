// tools/options/row_options.cpp — see row_options.hpp.
#include "tools/options/row_options.hpp"

#include <algorithm>
#include <iterator>
#include <regex>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/error.hpp"
#include "report/words/words.hpp"
#include "tools/options/usage.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope {
namespace {

constexpr const char* kRowsGroup = "Which call stacks the text lists";

std::vector<std::string> order_words(std::size_t orders)
{
    std::vector<std::string> words;
    for (std::size_t at = 0; at < std::min(orders, std::size(kRowOrders)); ++at)
        words.emplace_back(kRowOrders[at].word);
    return words;
}

[[noreturn]] void refuse_choice(const char* option, const std::string& text,
                                const std::string& wanted)
{
    throw report::Error(report::Exit::usage,
                        fmt::format("{} {}: {}", option, report::shell_quoted(text), wanted));
}

} // namespace

void add_row_options(CLI::App& command, RowOptions& options, std::size_t orders)
{
    const std::vector<std::string> words = order_words(orders);
    command
        .add_option("-n", options.most, "at most so many in each list, which says what is left out")
        ->option_text("N")
        ->group(kRowsGroup);
    offer(
        command
            .add_option("--sort", options.order,
                        fmt::format("the most first, or the earliest: {}", fmt::join(words, ", ")))
            ->option_text("BY")
            ->group(kRowsGroup),
        words);
    command.add_option("--min", options.least, "those of so many bytes or more: 1MiB")
        ->option_text("SIZE")
        ->group(kRowsGroup);
    command
        .add_option("--match", options.match,
                    "those in which a function or its place matches: train.cu:1[23]")
        ->option_text("REGEX")
        ->group(kRowsGroup);
}

report::RowChoice read_row_options(const RowOptions& options, std::size_t orders)
{
    report::RowChoice choice;
    if (options.most && *options.most < 0)
        refuse_choice("-n", std::to_string(*options.most), "write how many, 10");
    choice.most = options.most;
    const std::vector<std::string> words = order_words(orders);
    if (!options.order.empty()) {
        const auto word = std::find(words.begin(), words.end(), options.order);
        if (word == words.end())
            refuse_choice("--sort", options.order, fmt::format("write {}", fmt::join(words, ", ")));
        choice.order = kRowOrders[word - words.begin()].order;
    }
    if (!options.least.empty()) {
        const std::optional<std::uint64_t> bytes = format::read_size(options.least);
        if (!bytes)
            refuse_choice("--min", options.least, "write a size such as 1MiB");
        choice.least_bytes = *bytes;
    }
    try {
        if (!options.match.empty())
            choice.matches = report::matching(options.match);
    } catch (const std::regex_error&) {
        refuse_choice("--match", options.match,
                      "this is no regular expression; write a part of a function or a file");
    }
    return choice;
}

} // namespace vramscope
