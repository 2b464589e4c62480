// report/text/lines.cpp — a function for each line or few.
#include "report/text/lines.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "report/words/check_words.hpp"
#include "report/words/file_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {

namespace {

// "devices 0 to 7: NVIDIA H100", "device 0: A, device 1: B".
std::string devices_of(const Process& process)
{
    const std::vector<DeviceInfo>& devices = process.devices;
    std::string text;
    for (std::size_t first = 0, next = 0; first < devices.size(); first = next) {
        const auto follows = [&](std::size_t at) {
            return devices[at].name == devices[first].name &&
                   devices[at].ordinal == devices[at - 1].ordinal + 1;
        };
        for (next = first + 1; next < devices.size() && follows(next);)
            ++next;
        const std::string ordinals = next - first == 1
                                         ? device_name(devices[first].ordinal)
                                         : fmt::format("devices {} to {}", devices[first].ordinal,
                                                       devices[next - 1].ordinal);
        text += fmt::format(", {}: {}", ordinals, terminal_safe(devices[first].name));
    }
    return text;
}

} // namespace

std::string device_name(std::int32_t device)
{
    return device < 0 ? "device ?" : fmt::format("device {}", device);
}

std::string device_title(const Report& report, const Process& process, std::int32_t device,
                         std::uint64_t total_bytes)
{
    std::string title = "D" + device_name(device).substr(1);
    std::string about;
    for (const DeviceInfo& info : process.devices) {
        if (info.ordinal == device)
            about = terminal_safe(info.name);
    }
    if (total_bytes > 0)
        about += (about.empty() ? "" : ", ") + human_bytes(total_bytes);
    if (!about.empty())
        title += ": " + about;
    if (report.processes.size() > 1)
        title += " (" + process_name(report, process) + ")";
    return title;
}

std::string capitals(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
    return text;
}

void write_held_by(TextOutput& out, std::string_view indent, const Leak& row)
{
    out.line(fmt::format("{}{:>10} in {:<11}  {}  ", indent, human_bytes(row.bytes),
                         counted(row.blocks, "block"), terminal_safe(row.api)),
             row);
}

void write_headline(TextOutput& out, std::string_view prefix, const Headline& headline)
{
    const bool doubtful =
        headline.kind == HeadlineKind::failed_calls || headline.kind == HeadlineKind::inconclusive;
    const char* const color = doubtful ? kYellow : headline.is_finding() ? kRed : kGreen;
    out.wrapped(prefix, "", out.painted(capitals(headline.title), color) + headline.rest);
}

void write_drivers(TextOutput& out, const Report& report, std::string_view prefix)
{
    std::vector<std::string> told;
    for (const Process& process : report.processes) {
        const bool simulated = process.info_value("driver.simulated") == "1";
        const std::string path = terminal_safe(process.info_value("driver.path"));
        if (!simulated && path.empty())
            continue;
        const std::string line =
            (simulated ? "ran on the simulated GPU" : "ran on the driver " + path) +
            devices_of(process);
        if (std::find(told.begin(), told.end(), line) == told.end())
            told.push_back(line);
    }
    for (const std::string& line : told)
        out.wrapped(prefix, "", line);
}

void write_doubts(TextOutput& out, const Report& report)
{
    if (!report.reasons.empty())
        out.stream() << '\n';
    for (const std::string& reason : report.reasons)
        out.wrapped("", "Not the whole run: ", terminal_safe(reason));
}

void write_unread_files(TextOutput& out, const Report& report)
{
    for (const std::string& sentence : sentences_about(report.unread_files))
        out.wrapped("", "Note: ", terminal_safe(sentence));
}

std::string arguments_of(const Report& report, std::size_t most_logs)
{
    std::string arguments;
    const auto add = [&](const std::string& argument) {
        arguments += (arguments.empty() ? "" : " ") + argument;
    };
    const std::string* file = nullptr; // a file's rules are together
    for (const RuleUse& use : report.suppressions) {
        if (use.rule.built_in() || (file && *file == use.rule.source))
            continue;
        file = &use.rule.source;
        add("--suppressions " + terminal_safe(shell_quoted(*file)));
    }
    if (!report.sysroot.empty())
        add("--sysroot " + terminal_safe(shell_quoted(report.sysroot)));
    for (const std::string& map : report.path_maps)
        add("--path-map " + terminal_safe(shell_quoted(map)));
    for (const std::string& functions : report.fold)
        add("--fold " + terminal_safe(shell_quoted(functions)));
    const std::size_t shown = std::min(most_logs, report.processes.size());
    for (std::size_t at = 0; at < shown; ++at)
        add(terminal_safe(shell_quoted(report.processes[at].log.string())));
    if (shown < report.processes.size())
        add("...");
    return arguments;
}

void write_next(TextOutput& out, const char* command, const Report& report)
{
    out.stream() << "\nNext: " << command << ' ' << arguments_of(report) << '\n';
}

} // namespace vramscope::report
