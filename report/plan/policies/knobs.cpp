// report/plan/policies/knobs.cpp — KEY:VALUE,KEY:VALUE as PYTORCH_CUDA_ALLOC_CONF writes it.
#include "report/plan/policies/knobs.hpp"

#include <bit>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "report/decimal.hpp"
#include "report/error.hpp"
#include "tracker/format/size_text.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kMebibyte = 1u << 20;

// At `mark`, where it is not in brackets.
std::vector<std::string_view> split_at(std::string_view text, char mark)
{
    std::vector<std::string_view> parts;
    std::size_t begin = 0, depth = 0;
    for (std::size_t at = 0; at <= text.size(); ++at) {
        if (at < text.size() && (text[at] == '[' || text[at] == ']')) {
            depth += text[at] == '[' ? 1u : depth ? ~std::size_t{0} : 0u;
        } else if (at == text.size() || (text[at] == mark && depth == 0)) {
            parts.push_back(text.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    return parts;
}

std::string without_spaces(std::string_view text)
{
    std::string kept;
    for (const char letter : text)
        if (letter != ' ')
            kept.push_back(letter);
    return kept;
}

bool read_number(std::string_view text, std::uint64_t& number)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc{} && end == text.data() + text.size();
}

std::uint8_t divisions_of(const Knob& knob, std::string_view text)
{
    std::uint64_t divisions = 0;
    if (!read_number(text, divisions) || divisions > 128 ||
        (divisions != 0 && !std::has_single_bit(divisions)))
        knob.refuse("0 or a power of two up to 128");
    return static_cast<std::uint8_t>(divisions);
}

// [256:1,512:2,>:8]: from so many MiB so many divisions. The first holds for what is smaller too.
// With ">" the last one before it is overwritten: so do PyTorch's versions before 2.9.
void set_divisions(const Knob& knob, pool::Options& options)
{
    auto& divisions = options.roundup_power2_divisions;
    std::string_view list = knob.value;
    if (!list.starts_with('[')) {
        divisions.fill(divisions_of(knob, list));
        return;
    }
    if (!list.ends_with(']'))
        knob.refuse("a list in brackets");
    list = list.substr(1, list.size() - 2);
    std::size_t last = 0;
    bool first = true;
    for (const std::string_view entry : split_at(list, ',')) {
        const std::size_t colon = entry.find(':');
        if (colon == entry.npos)
            knob.refuse("a list of MEBIBYTES:DIVISIONS");
        const std::uint8_t wanted = divisions_of(knob, entry.substr(colon + 1));
        std::uint64_t mebibytes = 0;
        if (entry.substr(0, colon) == ">") {
            std::fill(divisions.begin() + static_cast<long>(last), divisions.end(), wanted);
            continue;
        }
        if (!read_number(entry.substr(0, colon), mebibytes) || !std::has_single_bit(mebibytes))
            knob.refuse("powers of two before the colons of its list");
        last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(mebibytes)) - 1,
                                     divisions.size() - 1);
        if (first)
            std::fill(divisions.begin(), divisions.begin() + static_cast<long>(last), wanted);
        divisions[last] = wanted;
        first = false;
    }
}

} // namespace

void Knob::refuse(const std::string& wanted) const
{
    throw Error(Exit::usage, key + " takes " + wanted + ", not '" + value + "'");
}

void Knob::unknown() const
{
    throw Error(Exit::usage, "this policy has no knob '" + key + "'");
}

std::uint64_t Knob::number() const
{
    std::uint64_t result = 0;
    if (!read_number(value, result))
        refuse("a whole number");
    return result;
}

std::uint64_t Knob::mebibytes() const
{
    const std::uint64_t result = number();
    if (result >= pool::kMostBytes / kMebibyte)
        refuse("a number of MiB");
    return result * kMebibyte;
}

std::uint64_t Knob::bytes_or(std::string_view word, std::uint64_t meaning) const
{
    if (value == word)
        return meaning;
    const std::optional<std::uint64_t> bytes = format::read_size(value);
    if (!bytes)
        refuse(fmt::format("a size such as 512MiB, or {}", word));
    return *bytes;
}

double Knob::part() const
{
    std::string_view rest = value;
    const std::optional<double> result = take_decimal(rest);
    if (!result || !rest.empty() || *result > 1)
        refuse("a number between 0 and 1");
    return *result;
}

bool Knob::flag() const
{
    if (value != "True" && value != "False")
        refuse("True or False");
    return value == "True";
}

std::vector<Knob> parse_knobs(std::string_view text)
{
    std::vector<Knob> knobs;
    const std::string plain = without_spaces(text);
    for (const std::string_view entry : split_at(plain, ',')) {
        if (entry.empty())
            continue;
        const std::size_t mark = entry.find_first_of(":=");
        if (mark == entry.npos || mark == 0 || mark + 1 == entry.size())
            throw Error(Exit::usage,
                        "a knob is KEY:VALUE, and '" + std::string(entry) + "' is not");
        knobs.push_back({std::string(entry.substr(0, mark)), std::string(entry.substr(mark + 1))});
    }
    return knobs;
}

bool set_pool_knob(const Knob& knob, pool::Options& options, std::uint64_t least_split_bytes)
{
    if (knob.key == "max_split_size_mb") {
        options.max_split_bytes = knob.mebibytes();
        if (options.max_split_bytes < least_split_bytes)
            knob.refuse(std::to_string(least_split_bytes / kMebibyte) + " or more");
    } else if (knob.key == "roundup_power2_divisions") {
        set_divisions(knob, options);
    } else if (knob.key == "garbage_collection_threshold") {
        options.garbage_collection_threshold = knob.part();
        if (options.garbage_collection_threshold <= 0 || options.garbage_collection_threshold >= 1)
            knob.refuse("a number between 0 and 1");
    } else {
        return false;
    }
    return true;
}

} // namespace vramscope::report::plan
