// report/exporters/events.cpp — a log as JSON lines: a header, every record, a trailer.
//
// Two readings: the first knows all definitions, so that a stack has its names where it is first
// used, wherever its modules were written down; the second writes.
#include "report/exporters/event_lines.hpp"
#include "report/exporters/exporters.hpp"
#include "report/exporters/json_line.hpp"
#include "report/findings/make_report.hpp"
#include "report/findings/process_end.hpp"
#include "report/log/first_reading.hpp"
#include "report/log/log_reader.hpp"

namespace vramscope::report {

namespace {

constexpr const char* kEventsSchemaVersion = "1.1.0";
constexpr std::size_t kEventsPieceBytes = 256 * 1024;
constexpr std::uint64_t kEventsPerProgress = 1 << 16;
constexpr double kEventsFirstReading = 0.2; // share of the time

class EventExport {
public:
    EventExport(const LogFile& file, const Sink& sink, const ExportOptions& options)
        : file_(file), sink_(sink), options_(options), symbolizer_(options.symbols),
          known_(read_definitions(file,
                                  [this](double part) { progress(kEventsFirstReading * part); })),
          definitions_(known_.tables, known_.clock, symbolizer_, text_),
          lines_(known_.tables, known_.clock, definitions_, text_)
    {
    }

    void run()
    {
        LogReader reader(file_);
        reader.hold_back(known_.last_ticks);
        header();
        std::uint64_t records = 0;
        while (const Record* const record = reader.next()) {
            if (!definitions_.write(*record))
                lines_.write(*record);
            events_ += record->timed;
            if (text_.size() >= kEventsPieceBytes)
                flush();
            if (++records % kEventsPerProgress == 0)
                progress(kEventsFirstReading + (1 - kEventsFirstReading) * reader.fraction_read());
        }
        trailer(reader);
        flush();
        if (options_.unread_files)
            options_.unread_files(symbolizer_.unread_files());
    }

private:
    void progress(double fraction) const
    {
        if (options_.progress)
            options_.progress(fraction);
    }

    void flush()
    {
        sink_(text_);
        text_.clear();
    }

    void header()
    {
        const format::FileHeader& log = file_.header();
        JsonLine line(text_, "header");
        line.text("schema_version", kEventsSchemaVersion).number("pid", log.pid);
        line.number("parent_pid", log.parent_pid).text_or_null("started", utc(log.start_real_ns));
        line.text("clock", log.clock == format::Clock::tsc ? "tsc" : "monotonic");
        line.text("log_format", std::to_string(log.major) + "." + std::to_string(log.minor));
        line.open_array("info");
        for (const auto& [key, value] : known_.tables.info())
            line.open_object().text("key", key).text("value", value).close();
        line.close().end();
    }

    void trailer(const LogReader& reader)
    {
        const format::FileHeader& log = file_.header();
        const bool running = is_running(log);
        const ProcessEnd end = judge_end(log, running);
        for (const PendingFree& free : reader.pending_frees()) {
            definitions_.use_api(free.api);
            definitions_.use_stack(free.stack, free.ticks);
        }
        JsonLine line(text_, "trailer");
        line.number("events", events_).text("end", name(end.kind));
        line.text("end_text", describe(end));
        if (log.exit_began_ticks != 0)
            line.number("exit_began_ns", known_.clock.ns(log.exit_began_ticks));
        else
            line.null("exit_began_ns");
        line.open_object("lost");
        for (const auto& [reason, word] : format::kLost)
            line.number(word, log.lost[static_cast<std::size_t>(reason)]);
        line.close().number("lost_events", file_.lost_events());
        line.number("damaged_chunks",
                    reader.damaged_chunks() + known_.tables.undefined() + lines_.malformed());
        line.flag("truncated", reader.cut() && !running);
        line.open_array("pending_frees");
        for (const PendingFree& free : reader.pending_frees())
            line.open_object()
                .number("ns", known_.clock.ns(free.ticks))
                .number("api", free.api)
                .hex("address", free.address)
                .number("stack", free.stack)
                .close();
        line.close().end();
    }

    const LogFile& file_;
    const Sink& sink_;
    const ExportOptions& options_;
    Symbolizer symbolizer_;
    Definitions known_;
    std::string text_; // not given to the sink yet
    EventDefinitions definitions_;
    EventLines lines_;
    std::uint64_t events_ = 0;
};

} // namespace

void export_events(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    const LogFile file = LogFile::open(log);
    EventExport(file, sink, options).run();
}

} // namespace vramscope::report
