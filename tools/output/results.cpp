// tools/output/results.cpp — show progress, write.
#include "tools/output/results.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>
#include <unistd.h>

#include <fmt/format.h>

#include "report/json/json.hpp"
#include "report/words/file_words.hpp"
#include "report/words/words.hpp"
#include "tools/output/desktop.hpp"
#include "tools/output/interrupt.hpp"
#include "tools/output/messages.hpp"

namespace vramscope {
namespace fs = std::filesystem;

namespace {

// Drawn only after a moment: most logs are read at once.
class ProgressBar {
public:
    ProgressBar()
        : shown_(can_draw(STDERR_FILENO)),
          next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(500))
    {
    }
    ~ProgressBar()
    {
        if (drawn_)
            std::fputs("\r\x1b[K", stderr);
    }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void show(double fraction)
    {
        const auto now = std::chrono::steady_clock::now();
        if (!shown_ || now < next_)
            return;
        next_ = now + std::chrono::milliseconds(100);
        drawn_ = true;
        constexpr double kCells = 30;
        const auto full = static_cast<std::size_t>(kCells * std::clamp(fraction, 0.0, 1.0));
        fmt::print(stderr, "\rreading logs [{:<30}] {:3.0f} %", std::string(full, '#'),
                   100 * fraction);
        std::fflush(stderr);
    }

private:
    bool shown_;
    bool drawn_ = false;
    std::chrono::steady_clock::time_point next_;
};

} // namespace

std::function<void(double)> progress_bar()
{
    return [bar = std::make_shared<ProgressBar>()](double fraction) { bar->show(fraction); };
}

report::Report read_logs(const std::vector<fs::path>& logs, report::Options options)
{
    options.progress = progress_bar();
    options.interrupted = [] { return Interrupt::came(); };
    for (const fs::path& log : logs) {
        std::error_code unknown;
        const std::uintmax_t bytes = fs::file_size(log, unknown);
        detail(fmt::format("reads {}, {}", log.string(), report::human_bytes(unknown ? 0 : bytes)));
    }
    report::Report report = report::make_report(logs, options);
    detail(fmt::format("has read {} of {}", report::counted(report.coverage.events, "event"),
                       report::counted(logs.size(), "log")));
    return report;
}

void warn_of(const std::vector<report::UnreadFile>& files)
{
    for (const std::string& sentence : report::sentences_about(files))
        warn(sentence);
}

report::TextStyle style_for(int descriptor)
{
    report::TextStyle style;
    style.color = wants_color(descriptor);
    style.half_blocks = can_show_blocks(descriptor);
    if (const std::size_t columns = terminal_columns(descriptor))
        style.width = columns;
    return style;
}

WriteJson json_of(const report::Report& report, bool pool_blocks)
{
    return [&report, pool_blocks](std::ostream& out, report::JsonStyle style) {
        style.pool_blocks = pool_blocks;
        report::write_json(out, report, style);
    };
}

void write_json_to(const Output& output, const WriteJson& write_json)
{
    report::JsonStyle style;
    style.indented = output.is_stdout() && ::isatty(STDOUT_FILENO);
    std::ostringstream out;
    write_json(out, style);
    write_text_to(output, out.str());
}

void write_results(const Output& json, const WriteJson& write_json,
                   const std::function<void(std::ostream&)>& write_text)
{
    if (json.wanted())
        write_json_to(json, write_json);
    if (json.is_stdout())
        return;
    std::ostringstream text;
    write_text(text);
    show(text.str());
}

void write_text_to(const Output& output, const std::string& text)
{
    OutputFile file(output);
    file.write(text);
    file.finish();
}

} // namespace vramscope
