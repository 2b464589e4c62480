// report/page/source_lines.cpp — see source_lines.hpp.
#include "report/page/source_lines.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace vramscope::report {
namespace {

namespace fs = std::filesystem;

constexpr int kAround = 2; // lines before it, and after it
constexpr std::size_t kMostFiles = 200;
constexpr std::size_t kMostBytes = 400'000; // of all lines
constexpr std::size_t kMostLineBytes = 200;
constexpr std::size_t kMostFileBytes = 8 << 20;
constexpr std::int64_t kMostLine = kMostFileBytes;
constexpr std::size_t kTab = 4;

constexpr std::string_view kEndings[] = {
    ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".cu",  ".cuh", ".h",  ".hh", ".hpp",
    ".hxx", ".inl", ".ipp", ".tpp", ".py",  ".pyx", ".rs",  ".go", ".jl", ".f",
    ".f90", ".f95", ".f03", ".f08", ".d",   ".zig", ".nim", ".m",  ".mm", ".swift"};

// The files in the order in which they are named first.
struct Wanted {
    std::vector<std::string> files;
    std::map<std::string, std::set<int>, std::less<>> lines;

    void add(const std::string& file, int line)
    {
        const auto [at, added] = lines.try_emplace(file);
        if (added)
            files.push_back(file);
        for (int near = std::max(line - kAround, 1); near <= line + kAround; ++near)
            at->second.insert(near);
    }
};

// The line of a frame of the program's; 0: it is none, or has none.
int line_of(const Json& frame)
{
    const auto line = frame.find("line");
    const auto library = frame.find("library");
    if (line == frame.end() || !line->is_number_integer() ||
        (library != frame.end() && library->is_boolean() && library->get<bool>()))
        return 0;
    const auto number = line->get<std::int64_t>();
    return number > 0 && number < kMostLine ? static_cast<int>(number) : 0;
}

// The frames of a document, in any of its members.
void collect(const Json& value, Wanted& wanted)
{
    if (value.is_object()) {
        const auto file = value.find("file");
        if (const int line = line_of(value); line > 0 && file != value.end() && file->is_string())
            wanted.add(file->get<std::string>(), line);
    }
    if (value.is_structured())
        for (const Json& member : value)
            collect(member, wanted);
}

// Nothing: it is not here, or no source.
std::optional<std::string> text_of(const fs::path& file)
{
    const std::string ending = file.extension().string();
    if (std::find(std::begin(kEndings), std::end(kEndings), ending) == std::end(kEndings))
        return std::nullopt;
    const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0)
        return std::nullopt;
    struct stat status {};
    std::optional<std::string> text;
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        static_cast<std::size_t>(status.st_size) <= kMostFileBytes) {
        text.emplace(static_cast<std::size_t>(status.st_size), '\0');
        std::size_t done = 0;
        for (ssize_t got = 0; done < text->size(); done += static_cast<std::size_t>(got)) {
            got = ::read(descriptor, text->data() + done, text->size() - done);
            if (got < 0 && errno == EINTR)
                got = 0;
            else if (got <= 0)
                break;
        }
        text->resize(done);
    }
    ::close(descriptor);
    return text;
}

std::string shown(std::string_view line)
{
    std::string text;
    for (const char c : line.substr(0, line.find('\r'))) {
        if (text.size() >= kMostLineBytes)
            return text + "…";
        text.append(c == '\t' ? kTab - text.size() % kTab : 1, c == '\t' ? ' ' : c);
    }
    return text;
}

// `bytes`: how many lines may still have; it is lowered.
Json lines_of(const std::string& file, std::string_view text, const std::set<int>& numbers,
              std::size_t& bytes)
{
    Json at = Json::array();
    Json lines = Json::array();
    int number = 1;
    for (const int wanted : numbers) {
        for (; number < wanted && !text.empty(); ++number)
            text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
        if (text.empty())
            break;
        std::string line = shown(text.substr(0, text.find('\n')));
        if (line.size() > bytes)
            break;
        bytes -= line.size();
        at.push_back(wanted);
        lines.push_back(std::move(line));
    }
    return {{"file", file}, {"at", std::move(at)}, {"lines", std::move(lines)}};
}

} // namespace

Json source_lines_json(const std::vector<const Json*>& documents, const FilePlaces& places)
{
    Wanted wanted;
    for (const Json* const document : documents)
        collect(*document, wanted);
    Json files = Json::array();
    std::size_t bytes = kMostBytes;
    for (const std::string& file : wanted.files) {
        if (files.size() == kMostFiles)
            break;
        const auto text = text_of(places.confined(places.of(file)));
        if (!text)
            continue;
        Json known = lines_of(file, *text, wanted.lines.at(file), bytes);
        if (!known["at"].empty())
            files.push_back(std::move(known));
    }
    return files;
}

} // namespace vramscope::report
