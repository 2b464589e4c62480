// report/exporters/events.cpp — a log as JSON lines: a header, every record, a trailer.
//
// Two readings: the first knows all definitions, so that a stack has its names where it is first
// used, wherever its modules were written down; the second writes.
#include "report/exporters/event_lines.hpp"
#include "report/exporters/event_rows.hpp"
#include "report/exporters/exporters.hpp"
#include "report/exporters/written_export.hpp"
#include "report/findings/make_report.hpp"
#include "report/findings/process_end.hpp"
#include "report/log/log_reader.hpp"

namespace vramscope::report {

namespace {

constexpr const char* kEventsSchemaVersion = "1.1.0";
constexpr std::uint64_t kEventsPerProgress = 1 << 16;
constexpr double kEventsFirstReading = 0.2; // share of the time

class EventExport : private WrittenExport {
public:
    EventExport(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
        : WrittenExport(log, sink, options, kEventsFirstReading),
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
            give_piece();
            if (++records % kEventsPerProgress == 0)
                progress(kEventsFirstReading + (1 - kEventsFirstReading) * reader.fraction_read());
        }
        trailer(reader);
        give_rest();
    }

private:
    void header()
    {
        write_line(text_, HeaderLine{kEventsSchemaVersion, &file_.header(), &known_.tables.info()});
    }

    void trailer(const LogReader& reader)
    {
        const format::FileHeader& log = file_.header();
        const bool running = is_running(log);
        TrailerLine line{.events = events_, .end = judge_end(log, running)};
        if (log.exit_began_ticks != 0)
            line.exit_began_ns = Ns{known_.clock.ns(log.exit_began_ticks)};
        for (const auto& [reason, word] : format::kLost)
            line.lost.emplace_back(word, log.lost[static_cast<std::size_t>(reason)]);
        line.lost_events = file_.lost_events();
        line.damaged_chunks =
            reader.damaged_chunks() + known_.tables.undefined() + lines_.malformed();
        line.truncated = reader.cut() && !running;
        for (const PendingFree& free : reader.pending_frees()) {
            definitions_.use_api(free.api);
            definitions_.use_stack(free.stack, free.ticks);
            line.pending_frees.push_back(
                {{known_.clock.ns(free.ticks)}, free.api, free.address, free.stack});
        }
        write_line(text_, line);
    }

    EventDefinitions definitions_;
    EventLines lines_;
    std::uint64_t events_ = 0;
};

} // namespace

void export_events(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    EventExport(log, sink, options).run();
}

} // namespace vramscope::report
