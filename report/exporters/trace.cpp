// report/exporters/trace.cpp — trace events in the JSON that Chrome defined, for Perfetto.
//
// Blocks overlap, so their lives are asynchronous events: `b` and `e` with one name and id. A block
// that is alive when the log ends has an `e` there which says so; without one, Chrome's viewer
// gives it no length. Viewers take about half a million events: beyond that many blocks, later ones
// are counted in otherData and left out, and the counters show them all the same.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "report/exporters/exported_memory.hpp"
#include "report/exporters/json_line.hpp"
#include "report/exporters/open_blocks.hpp"
#include "report/exporters/written_export.hpp"
#include "report/findings/make_report.hpp"
#include "report/model/report.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/own_output.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kMostTracedBlocks = 200'000;
constexpr std::size_t kMostNameColumns = 200;
constexpr double kTraceFirstReadings = 0.5; // share of the time

class TraceFile : public BlockWatch, private WrittenExport {
public:
    TraceFile(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
        : WrittenExport(log, sink, options),
          stacks_(known_.tables, symbolizer_,
                  options.all_frames ? ShownFrames::all : ShownFrames::visible),
          reading_(file_, known_.last_ticks)
    {
        Options first;
        first.symbols = options.symbols;
        first.progress = [this](double part) { progress(kTraceFirstReadings * part); };
        report_ = make_report({log}, first);
    }

    void write()
    {
        text_ = std::string(kOwnJsonHead) + R"("displayTimeUnit":"ms","traceEvents":[)" + "\n";
        const Process& process = report_.processes.front();
        begin("M", "process_name").open_object("args").text("name", process.program).close();
        end();
        write_marks(process);
        for (const MemoryReport& device : process.memory)
            write_counters(device);
        reading_.read(*this, [this](double part) {
            progress(kTraceFirstReadings + (1 - kTraceFirstReadings) * part);
        });
        end_the_living();
        write_tail();
        give_rest();
    }

    void born(const Block& block) override
    {
        if (!is_wanted(block.memory, block.device, options_))
            return;
        if (blocks_ == kMostTracedBlocks) {
            ++left_out_;
            return;
        }
        open_.open(block, ++blocks_);
        JsonLine& line = begin_life("b", block.site, blocks_, block.ticks);
        const Site& site = reading_.replay().sites()[block.site];
        line.open_object("args").number("bytes", block.bytes).hex("address", block.address);
        line.text("api", api_of(site)).text("memory", name(site.memory));
        line.text("stack", stack_of(block.site)).close();
        end();
    }

    void freed(const Block& block, std::uint64_t ticks) override
    {
        if (const auto number = open_.close(block)) {
            begin_life("e", block.site, *number, ticks);
            end();
        }
    }
    void gone(const Block& block, std::uint64_t ticks) override { freed(block, ticks); }

    void context_gone(std::span<const SiteLoss> losses, std::uint64_t ticks) override
    {
        for (const SiteLoss& loss : losses)
            for (const auto& [address, number] : open_.close_site(loss.site)) {
                begin_life("e", loss.site, number, ticks);
                end();
            }
    }

private:
    struct SiteNames {
        std::string headline;
        std::string stack;
    };

    JsonLine& begin(const char* phase, std::string_view event)
    {
        if (std::exchange(begun_, true))
            text_ += ',';
        line_.emplace(text_);
        line_->text("ph", phase).text("name", event).number("pid", file_.header().pid);
        return *line_;
    }

    // Microseconds, with the nanoseconds as their fraction.
    JsonLine& at(std::uint64_t ns) { return line_->decimal("ts", ns / 1000, ns % 1000); }

    JsonLine& begin_life(const char* phase, SiteId site, std::uint64_t id, std::uint64_t ticks)
    {
        begin(phase, names_of(site).headline).number("tid", 0);
        at(reading_.ns(ticks)).hex("id", id);
        const std::int16_t device = reading_.replay().sites()[site].device;
        return line_->text("cat", device < 0 ? "memory" : fmt::format("device {}", device));
    }

    void end()
    {
        line_->end();
        give_piece();
    }

    void write_marks(const Process& process)
    {
        for (const Mark& mark : process.marks) {
            begin("i", mark.name).number("tid", mark.tid).text("s", "p").text("cat", "mark");
            at(mark.ns);
            end();
        }
    }

    void end_the_living()
    {
        std::vector<std::pair<std::uint64_t, SiteId>> living; // by their numbers
        for (const auto& [site, blocks] : open_.sites())
            for (const auto& [address, number] : blocks)
                living.emplace_back(number, site);
        std::sort(living.begin(), living.end());
        for (const auto& [number, site] : living) {
            begin_life("e", site, number, known_.last_ticks).text("cname", "terrible"); // red
            line_->open_object("args").flag("alive_at_end", true).close();
            end();
        }
    }

    // A span's peaks are shown where it begins, its last values in its middle. A counter has one
    // value: of several, Chrome's viewer draws the sum, and zero for one that is not told.
    void write_counters(const MemoryReport& device)
    {
        if (options_.device && device.device != *options_.device)
            return;
        const std::vector<MemoryTime>& times = device.timeline;
        for (std::size_t span = 0; span < times.size(); ++span) {
            const MemoryTime& time = times[span];
            const std::uint64_t next =
                span + 1 < times.size() ? times[span + 1].ns : device.at_end.ns;
            const std::uint64_t middle = time.ns + (std::max(next, time.ns) - time.ns) / 2;
            write_counter(device, "allocated", time.ns, time.peak_allocated);
            write_counter(device, "allocated", middle, time.allocated);
            write_counter(device, "reserved", time.ns, time.peak_reserved);
            write_counter(device, "reserved", middle, time.reserved);
            if (time.used)
                write_counter(device, "used by all processes", time.ns, *time.used);
        }
    }

    void write_counter(const MemoryReport& device, const char* what, std::uint64_t ns,
                       std::uint64_t bytes)
    {
        begin("C", device.device < 0 ? fmt::format("memory {}", what)
                                     : fmt::format("device {} {}", device.device, what));
        at(ns).open_object("args").number("bytes", bytes).close();
        end();
    }

    void write_tail()
    {
        text_ += R"(],"otherData":)";
        JsonLine about(text_);
        about.text("verdict", name(report_.verdict)).number("blocks", blocks_ + left_out_);
        about.number("blocks_left_out", left_out_);
        about.number("marks_left_out",
                     report_.processes.front().mark_count - report_.processes.front().marks.size());
        about.open_array("incomplete");
        for (const std::string& doubt : reading_.doubts())
            about.string(doubt);
        about.close().end();
        text_ += "}\n";
    }

    std::string api_of(const Site& site) { return read_site(stacks_, site).api; }

    const std::string& stack_of(SiteId site) { return names_of(site).stack; }

    const SiteNames& names_of(SiteId number)
    {
        const auto [entry, added] = names_.try_emplace(number);
        SiteNames& names = entry->second;
        if (!added)
            return names;
        const CallPlace place = read_site(stacks_, reading_.replay().sites()[number]);
        const Frame* const own = place.own_frame();
        names.headline = own ? frame_in(*own, kMostNameColumns) : place.api;
        for (const Frame& frame : place.stack)
            names.stack += (names.stack.empty() ? "" : "\n") +
                           shorten_function(function_of(frame), kMostNameColumns) + ' ' +
                           place_of(frame);
        return names;
    }

    StackReader stacks_;
    MemoryReading reading_;
    Report report_;
    std::optional<JsonLine> line_;
    bool begun_ = false;             // an event was written
    OpenBlocks<std::uint64_t> open_; // with their numbers
    std::unordered_map<SiteId, SiteNames> names_;
    std::uint64_t blocks_ = 0;
    std::uint64_t left_out_ = 0;
};

} // namespace

void export_trace(const std::filesystem::path& log, const Sink& sink, const ExportOptions& options)
{
    TraceFile(log, sink, options).write();
}

} // namespace vramscope::report
