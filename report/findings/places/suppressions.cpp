// report/findings/places/suppressions.cpp — rules read, matched and applied.
#include "report/findings/places/suppressions.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/input_text.hpp"
#include "report/model/report.hpp"

namespace vramscope::report {

namespace {

struct BuiltIn {
    std::string_view pattern; // matched against the name of the file, or of a function
    std::string_view library;
    std::string_view why;
};

// Libraries that keep memory for as long as the process lives, by design or where a handle is not
// given back. Not here: libcuda and libcudart, whose own memory no hook sees.
constexpr std::array kBuiltIn = {
    BuiltIn{"^libcublas.so", "cuBLAS", "workspaces of its handles"},
    BuiltIn{"^libcublasLt.so", "cuBLAS", "workspaces of its handles"},
    BuiltIn{"^libnvblas.so", "NVBLAS", "buffers of its own"},
    BuiltIn{"^libcudnn.so", "cuDNN", "workspaces of its handles"},
    BuiltIn{"^libcudnn_*.so", "cuDNN", "workspaces and tables of its parts"},
    BuiltIn{"^libcufft.so", "cuFFT", "tables"},
    BuiltIn{"^libcurand.so", "cuRAND", "tables of its generators"},
    BuiltIn{"^libcusolver.so", "cuSOLVER", "workspaces of its handles"},
    BuiltIn{"^libcusolverMg.so", "cuSOLVER", "workspaces of its handles"},
    BuiltIn{"^libcusparse.so", "cuSPARSE", "workspaces of its handles"},
    BuiltIn{"^libcusparseLt.so", "cuSPARSE", "workspaces of its handles"},
    BuiltIn{"^libcutensor*.so", "cuTENSOR", "workspaces of its handles"},
    BuiltIn{"^libnccl.so", "NCCL", "buffers of its communicators"},
    BuiltIn{"^libnvshmem*.so", "NVSHMEM", "its symmetric heap"},
    BuiltIn{"^libnvinfer*.so", "TensorRT", "tables, and memory of its engines"},
    BuiltIn{"^libnvjpeg*.so", "nvJPEG", "tables and buffers of its handles"},
    BuiltIn{"^libnpp*.so", "NPP", "scratch buffers"},
};

// Libraries that keep pinned memory which the program has freed, to hand it out again: any number
// of blocks. Which of them the program still uses, no hook sees; what grows is told all the same.
constexpr std::array kBuiltInPinned = {
    BuiltIn{"^libtorch_cuda*.so", "PyTorch", "pinned memory, which PyTorch keeps for later"},
};

// Libraries that make a pool of streams as the first one is asked for, and never another.
constexpr std::array kBuiltInStreams = {
    BuiltIn{"^libc10_cuda*.so", "PyTorch", "streams: 32 of each priority, for all that ask"},
};

// Functions that take memory for such a library. PyTorch keeps it for each handle and stream.
constexpr std::array kBuiltInFunctions = {
    BuiltIn{"^at::cuda::getCurrentCUDABlasHandle(", "cuBLAS",
            "cuBLAS's workspaces, which PyTorch allocates"},
    BuiltIn{"^at::cuda::getCUDABlasLtWorkspace(", "cuBLAS",
            "cuBLASLt's workspaces, which PyTorch allocates"},
};

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view line)
{
    const std::size_t begin = line.find_first_not_of(kBlanks);
    if (begin == line.npos)
        return {};
    return line.substr(begin, line.find_last_not_of(kBlanks) - begin + 1);
}

[[noreturn]] void refuse(const std::string& line)
{
    throw Error(Exit::usage, line);
}

constexpr bool is_sign(char c) noexcept
{
    return c == '*' || c == '$';
}

bool pins(std::string_view api)
{
    return api.starts_with("cudaHost") || api.starts_with("cudaMallocHost") ||
           api.starts_with("cuMemHost") || api.starts_with("cuMemAllocHost");
}

bool makes_streams(std::string_view api)
{
    return api.starts_with("cudaStreamCreate") || api.starts_with("cuStreamCreate");
}

bool is_about(KnownTo known, std::string_view api)
{
    return known == KnownTo::keep ? pins(api) : known == KnownTo::share ? makes_streams(api) : true;
}

// What only repeats may grow too, in a run that is too short to show it.
bool is_known(const SuppressionRule& rule, const Leak& leak)
{
    return !rule.built_in() || (leak.leak_class != LeakClass::growing &&
                                (rule.known == KnownTo::keep || leak.pattern != Pattern::repeated));
}

} // namespace

bool matches(std::string_view pattern, std::string_view text) noexcept
{
    if (text.empty())
        return false;
    bool at_beginning = pattern.starts_with('^');
    bool behind_star = false;
    if (at_beginning)
        pattern.remove_prefix(1);
    while (!pattern.empty()) {
        if (pattern.front() == '*') {
            pattern.remove_prefix(1);
            at_beginning = false;
            behind_star = true;
            continue;
        }
        if (pattern.front() == '$') // what follows it has no meaning
            return text.empty() || behind_star;
        if (at_beginning) { // most patterns, and most differ at once
            if (text.empty() || text.front() != pattern.front())
                return false;
            text.remove_prefix(1);
            pattern.remove_prefix(1);
            continue;
        }
        const auto end = std::find_if(pattern.begin(), pattern.end(), is_sign);
        const std::string_view part(pattern.begin(), end);
        const std::size_t at = text.find(part);
        if (at == text.npos)
            return false;
        text.remove_prefix(at + part.size());
        pattern.remove_prefix(part.size());
        behind_star = false;
    }
    return true;
}

void Suppressions::add_file(const std::filesystem::path& path)
{
    constexpr std::size_t kMostBytes = 4 << 20; // a larger file is not one of rules
    const auto from_here = [&](const SuppressionRule& rule) { return rule.source == path; };
    if (std::any_of(rules_.begin(), rules_.end(), from_here))
        return;
    add_text(read_input_text(path, "the suppressions", kMostBytes), path.string());
}

void Suppressions::add_text(std::string_view text, const std::string& source)
{
    constexpr std::string_view kType = "leak:";
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('#'))
            continue;
        if (!line.starts_with(kType))
            refuse(fmt::format("{}:{}: this is no suppression: write leak:PATTERN, such as "
                               "leak:load_labels, or a # before a comment",
                               source, number)); // it may be another file, which is nobody's to see
        const std::string_view pattern = line.substr(kType.size());
        if (pattern.empty())
            refuse(fmt::format("{}:{}: an empty pattern would suppress every leak: if that is "
                               "meant, write leak:*",
                               source, number));
        rules_.insert(rules_.begin() + static_cast<std::ptrdiff_t>(user_rules_++),
                      {std::string(pattern), source, number, {}});
    }
}

void Suppressions::add_built_in()
{
    const auto add_all = [this](const auto& rules, KnownTo known) {
        for (const BuiltIn& rule : rules)
            rules_.push_back({std::string(rule.pattern), {}, 0, std::string(rule.why), known});
    };
    add_all(kBuiltIn, KnownTo::need);
    add_all(kBuiltInFunctions, KnownTo::need);
    add_all(kBuiltInPinned, KnownTo::keep);
    add_all(kBuiltInStreams, KnownTo::share);
}

std::optional<Suppressions::Rule> Suppressions::match(std::string_view function) const
{
    for (Rule rule = 0; rule < user_rules_; ++rule) {
        if (matches(rules_[rule].pattern, function))
            return rule;
    }
    return std::nullopt;
}

std::optional<Suppressions::Rule> Suppressions::match(const std::vector<Frame>& frames) const
{
    for (const Frame& frame : frames) {
        for (const std::string* const text :
             {&frame.module, &frame.function, &frame.short_name, &frame.file}) {
            if (const auto rule = match(*text))
                return rule;
        }
    }
    return std::nullopt;
}

std::optional<Suppressions::Rule> Suppressions::match_built_in(const Frame& frame,
                                                               std::string_view api) const
{
    const std::string_view module = file_name(frame.module);
    for (Rule rule = user_rules_; rule < rules_.size(); ++rule) {
        if (is_about(rules_[rule].known, api) && matches(rules_[rule].pattern, module))
            return rule;
    }
    return std::nullopt;
}

std::optional<Suppressions::Rule>
Suppressions::match_built_in_function(const std::vector<Frame>& frames) const
{
    for (const Frame& frame : frames) {
        for (Rule rule = user_rules_; rule < rules_.size(); ++rule) {
            if (matches(rules_[rule].pattern, frame.function))
                return rule;
        }
    }
    return std::nullopt;
}

std::string_view library_of(std::string_view module) noexcept
{
    for (const BuiltIn& known : kBuiltIn)
        if (matches(known.pattern, file_name(module)))
            return known.library;
    return {};
}

std::string_view library_taken_for(const std::vector<Frame>& frames) noexcept
{
    for (const Frame& frame : frames)
        for (const BuiltIn& known : kBuiltInFunctions)
            if (matches(known.pattern, frame.function))
                return known.library;
    return {};
}

void suppress(Report& report, const Suppressions& suppressions)
{
    const std::vector<SuppressionRule>& rules = suppressions.rules();
    std::vector<RuleUse> uses;
    for (const SuppressionRule& rule : rules)
        uses.push_back({rule});
    for (std::vector<Leak>* const rows : {&report.leaks, &report.imports}) {
        const auto known = [&](const Leak& leak) {
            return leak.suppression && is_known(rules[*leak.suppression], leak);
        };
        const auto first = std::stable_partition(rows->begin(), rows->end(),
                                                 [&](const Leak& leak) { return !known(leak); });
        for (auto row = first; row != rows->end(); ++row) {
            RuleUse& use = uses[*row->suppression];
            ++use.rows;
            use.blocks += row->blocks;
            use.bytes += row->bytes;
        }
        std::move(first, rows->end(), std::back_inserter(report.suppressed));
        rows->erase(first, rows->end());
    }
    sort_by_size(report.suppressed);
    std::erase_if(report.growth, [&](const Growth& row) {
        const bool known = row.suppression && !rules[*row.suppression].built_in();
        if (known && row.freed) // else it is one of the leaks
            ++uses[*row.suppression].rows;
        return known;
    });
    for (ObjectRow& row : report.objects) {
        if (!row.suppression)
            continue;
        const SuppressionRule& rule = rules[*row.suppression];
        row.known = !rule.built_in() || rule.known == KnownTo::share;
        uses[*row.suppression].rows += row.known;
        uses[*row.suppression].objects += row.known ? row.most_known() : 0;
        report.processes[row.process].known_objects += row.known ? row.blocks : 0;
    }
    std::vector<std::size_t> told(uses.size());
    for (std::size_t rule = 0; rule < uses.size(); ++rule) {
        told[rule] = report.suppressions.size();
        if (!uses[rule].rule.built_in() || uses[rule].rows > 0)
            report.suppressions.push_back(std::move(uses[rule]));
    }
    for (Leak& leak : report.suppressed)
        leak.suppression = told[*leak.suppression];
}

} // namespace vramscope::report
