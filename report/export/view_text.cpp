// report/export/view_text.cpp — a few lines each.
#include "report/export/view_text.hpp"

#include <fmt/format.h>

#include "report/export/words.hpp"

namespace vramscope::report {

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
        title += fmt::format(" (process {})", process.pid);
    return title;
}

void write_doubts(TextOutput& out, const Report& report)
{
    if (!report.reasons.empty())
        out.stream() << '\n';
    for (const std::string& reason : report.reasons)
        out.wrapped("", "Not the whole run: ", terminal_safe(reason));
}

std::string logs_of(const Report& report)
{
    std::string logs;
    for (const Process& process : report.processes)
        logs += (logs.empty() ? "" : " ") + terminal_safe(shell_quoted(process.log.string()));
    return logs;
}

void write_next(TextOutput& out, const char* command, const Report& report)
{
    out.stream() << "\nNext: " << command << ' ' << logs_of(report) << '\n';
}

} // namespace vramscope::report
