// report/findings/places/library_frames.cpp — frames told apart by namespace, header and module.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>

#include "report/findings/places/frames.hpp"

namespace vramscope::report {

namespace {

using Scopes = std::vector<std::string_view>;

bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "cuda-13.0" is a numbered "cuda-".
bool is_numbered(std::string_view text, std::string_view word)
{
    return text.size() > word.size() && text.starts_with(word) && is_digit(text[word.size()]);
}

bool is_part_of_a_name(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

template <std::size_t count>
bool is_one_of(std::string_view text, const std::array<std::string_view, count>& all)
{
    return std::find(all.begin(), all.end(), text) != all.end();
}

constexpr std::string_view kOpening = "([{<";
constexpr std::string_view kClosing = ")]}>";

using IsSign = std::array<bool, 256>;

constexpr IsSign signs(std::string_view some, std::string_view others)
{
    IsSign is_sign{};
    for (const std::string_view signs : {some, others})
        for (const char sign : signs)
            is_sign[static_cast<unsigned char>(sign)] = true;
    return is_sign;
}

// The first position from `at` on that has a sign, or the end.
std::size_t next_sign(std::string_view text, std::size_t at, const IsSign& is_sign)
{
    while (at < text.size() && !is_sign[static_cast<unsigned char>(text[at])])
        ++at;
    return at;
}

// The position behind the bracket that closes the one at `at`, or the end of the text. Comparisons
// of two numbers stand in parentheses, whose end closes a `<` too.
std::size_t behind_bracket(std::string_view text, std::size_t at)
{
    static constexpr IsSign kBrackets = signs(kOpening, kClosing);
    std::string open;
    std::array<std::size_t, kOpening.size()> count{}; // how many of each kind are in `open`
    for (; (at = next_sign(text, at, kBrackets)) < text.size(); ++at) {
        if (const std::size_t kind = kOpening.find(text[at]); kind != kOpening.npos) {
            open += text[at];
            ++count[kind];
            continue;
        }
        const std::size_t kind = kClosing.find(text[at]);
        const bool closes_nothing = text[at] == '>' && (open.back() != '<' || text[at - 1] == '-');
        if (kind == kClosing.npos || closes_nothing || count[kind] == 0)
            continue;
        for (char closed = 0; closed != kOpening[kind]; open.pop_back()) {
            closed = open.back();
            --count[kOpening.find(closed)];
        }
        if (open.empty())
            return at + 1;
    }
    return text.size();
}

bool is_operator(std::string_view part)
{
    constexpr std::string_view kOperator = "operator";
    return part.starts_with(kOperator) &&
           (part.size() == kOperator.size() || !is_part_of_a_name(part[kOperator.size()]));
}

// "/usr" of "/usr/include".
std::string_view parent_of(std::string_view path)
{
    const std::size_t slash = path.rfind('/');
    return path.substr(0, slash == path.npos ? 0 : slash);
}

// CCCL has the version in a namespace of its own, and lets users wrap all in one of theirs.
bool is_cccl(const Scopes& scopes)
{
    constexpr std::array<std::string_view, 2> kRoots = {"thrust", "cub"};
    constexpr std::array<std::string_view, 4> kOfCuda = {"std", "mr", "ptx", "experimental"};
    if (scopes.empty())
        return false;
    if (is_one_of(scopes[0], kRoots))
        return true;
    for (std::size_t at = 1; at + 1 < scopes.size(); ++at)
        if (is_one_of(scopes[at], kRoots) &&
            (is_numbered(scopes[at + 1], "THRUST_") || is_numbered(scopes[at + 1], "CUB_")))
            return true;
    return scopes[0] == "cuda" && scopes.size() > 1 &&
           (is_one_of(scopes[1], kOfCuda) || scopes[1].starts_with("__"));
}

// ".../include/c++/12/vector", ".../include/x86_64-linux-gnu/c++/12/bits/...", ".../c++/v1/vector";
// or where libstdc++ itself was built.
bool is_standard_header(std::string_view path)
{
    if (path.find("/libstdc++-v3/") != path.npos)
        return true;
    constexpr std::string_view kFolder = "/c++/";
    for (std::size_t at = 0; (at = path.find(kFolder, at)) != path.npos; ++at) {
        const std::string_view before = path.substr(0, at + 1);
        std::string_view version = path.substr(at + kFolder.size());
        version = version.substr(0, version.find('/'));
        const bool numbers = !version.empty() && is_digit(version[0]) &&
                             version.find_first_not_of("0123456789.") == version.npos;
        if ((numbers || version == "v1") &&
            (before.starts_with("include/") || before.find("/include/") != before.npos))
            return true;
    }
    return false;
}

bool is_standard_library(const Frame& frame, const Scopes& scopes)
{
    constexpr std::array<std::string_view, 6> kNamespaces = {
        "std", "__gnu_cxx", "__cxxabiv1", "__gnu_parallel", "__gnu_debug", "__pstl"};
    constexpr std::array<std::string_view, 4> kModules = {"libstdc++.so", "libc++.so",
                                                          "libc++abi.so", "libgcc_s.so"};
    const std::string_view module = file_name(frame.module);
    if (std::any_of(kModules.begin(), kModules.end(),
                    [&](std::string_view name) { return module.starts_with(name); }))
        return true;
    if (scopes.empty()) // such as operator new, or a thread's own function
        return is_standard_header(frame.file);
    // Users specialise templates of namespace std in files of their own.
    return is_one_of(scopes[0], kNamespaces) &&
           (frame.file.empty() || is_standard_header(frame.file));
}

// "/usr/local/cuda-13.0/targets/x86_64-linux", "/opt/nvidia/hpc_sdk/.../cuda/12.4",
// "/usr/local/cuda", or ".../site-packages/nvidia/cuda_runtime" as Python has it.
bool is_toolkit(std::string_view folder)
{
    constexpr std::array<std::string_view, 3> kFolders = {"/usr/local/cuda", "/opt/cuda",
                                                          "/usr/lib/cuda"};
    const std::string_view name = file_name(folder);
    const std::string_view parent = file_name(parent_of(folder));
    return is_one_of(folder, kFolders) || is_numbered(name, "cuda-") ||
           (parent == "targets" && name.find("-linux") != name.npos) ||
           (parent == "cuda" && is_numbered(name, "")) ||
           (parent == "nvidia" && (name.starts_with("cuda_") || is_numbered(name, "cu")));
}

bool is_toolkit_header(std::string_view path)
{
    constexpr std::string_view kFolder = "/include/";
    for (std::size_t at = 0; (at = path.find(kFolder, at)) != path.npos; ++at)
        if (is_toolkit(path.substr(0, at)) || path.substr(at + kFolder.size()).starts_with("cccl/"))
            return true;
    return false;
}

} // namespace

std::vector<std::string_view> scopes_of(std::string_view function)
{
    static constexpr IsSign kSigns = signs(" :", kOpening);
    Scopes scopes;
    std::size_t begin = 0; // where the part begins that `at` is in
    std::size_t at = 0;
    while (at < function.size()) {
        if (at == begin && is_operator(function.substr(at)))
            break;
        at = next_sign(function, at, kSigns);
        if (at == function.size())
            break;
        const std::string_view part = function.substr(begin, at - begin);
        if (function[at] == ' ') { // what came so far was the type of the result
            scopes.clear();
            begin = ++at;
        } else if (function.substr(at).starts_with("::")) {
            scopes.push_back(part.starts_with('{') ? part
                                                   : part.substr(0, part.find_first_of("<[")));
            begin = at += 2;
        } else if (function[at] == '(' && !part.empty() && part != "decltype") {
            break; // the parameters
        } else if (kOpening.find(function[at]) != kOpening.npos) {
            at = behind_bracket(function, at);
        } else {
            ++at;
        }
    }
    return scopes;
}

bool is_library(const Frame& frame)
{
    const Scopes scopes = scopes_of(frame.function);
    const bool made_by_nvcc = !scopes.empty() && scopes[0].starts_with("__nv_");
    return is_cccl(scopes) || made_by_nvcc || is_standard_library(frame, scopes) ||
           is_toolkit_header(frame.file);
}

} // namespace vramscope::report
