// report/exporters/reduced.cpp — one process after the other, its sites at the end.
#include "report/exporters/reduced.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <tuple>
#include <unordered_map>

#include "report/exporters/json_line.hpp"
#include "report/exporters/reduced_columns.hpp"
#include "report/model/report.hpp"
#include "report/words/frame_words.hpp"
#include "report/words/words.hpp"

namespace vramscope::report {
namespace {

// Spans of a device's timeline are joined until there are no more than these.
constexpr std::size_t kMostSpans = 64;
// A line is read as a whole, so that it has no more rows than these.
constexpr std::size_t kRowsOfALine = 1000;

// Numbers of texts, in the order in which they were first asked for.
class Texts {
public:
    std::size_t number(const std::string& text)
    {
        const auto [at, added] = numbers_.try_emplace(text, texts_.size());
        if (added)
            texts_.push_back(&at->first);
        return at->second;
    }
    const std::vector<const std::string*>& all() const noexcept { return texts_; }

private:
    std::map<std::string, std::size_t> numbers_;
    std::vector<const std::string*> texts_;
};

// Call stacks that share their outer frames.
class FrameTree {
public:
    static constexpr std::size_t kRoot = SIZE_MAX; // nothing called it
    struct Node {
        std::size_t caller; // kRoot: none
        std::size_t function;
        std::size_t file; // or the module, where the file is not known
        int line;
    };

    explicit FrameTree(Texts& texts) : texts_(texts) {}

    // The innermost one; kRoot: there is no frame.
    std::size_t node_of(const std::vector<Frame>& stack)
    {
        std::size_t node = kRoot;
        for (auto frame = stack.rbegin(); frame != stack.rend(); ++frame)
            node = child(node, *frame);
        return node;
    }
    const std::vector<Node>& all() const noexcept { return nodes_; }

private:
    std::size_t child(std::size_t caller, const Frame& frame)
    {
        const Node node{caller, function_number(frame),
                        texts_.number(frame.file.empty() ? frame.module : frame.file), frame.line};
        const auto [at, added] = known_.try_emplace(
            std::tuple(node.caller, node.function, node.file, node.line), nodes_.size());
        if (added)
            nodes_.push_back(node);
        return at->second;
    }

    // Most stacks are of the same functions, and to shorten a name takes long.
    std::size_t function_number(const Frame& frame)
    {
        constexpr std::size_t kColumns = 60; // enough to tell functions apart
        const auto text = [&] {
            return texts_.number(shorten_function(function_of(frame), kColumns));
        };
        if (frame.function.empty())
            return text();
        const auto known = functions_.find(frame.function);
        return known != functions_.end() ? known->second
                                         : functions_.emplace(frame.function, text()).first->second;
    }

    Texts& texts_;
    std::unordered_map<std::string, std::size_t> functions_; // of whole names
    std::map<std::tuple<std::size_t, std::size_t, std::size_t, int>, std::size_t> known_;
    std::vector<Node> nodes_;
};

// Lines of one type that have `columns` and as many rows as there is room for.
class Table {
public:
    Table(std::string& out, std::string_view type, std::span<const ReducedValue> columns)
        : out_(out), type_(type), columns_(columns)
    {
    }
    ~Table() { end(); }
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    // Write its values, and close() it.
    JsonLine& row()
    {
        if (rows_ == kRowsOfALine)
            end();
        if (!line_)
            begin();
        ++rows_;
        return line_->open_array("");
    }

private:
    void begin()
    {
        line_ = std::make_unique<JsonLine>(out_, type_);
        line_->open_array("columns");
        for (const ReducedValue& column : columns_)
            line_->string(column.name);
        line_->close().open_array("rows");
    }
    void end()
    {
        if (line_)
            line_->close().end();
        line_.reset();
        rows_ = 0;
    }

    std::string& out_;
    std::string_view type_;
    std::span<const ReducedValue> columns_;
    std::unique_ptr<JsonLine> line_; // null: none is open
    std::size_t rows_ = 0;
};

void number_or_null(JsonLine& line, std::string_view key, const std::string& digits)
{
    const bool number = !digits.empty() && digits.size() < 10 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
    if (number)
        line.number(key, std::stoull(digits));
    else
        line.null(key);
}

void add_process(std::string& out, const Report& report)
{
    const Process& process = report.processes.front();
    JsonLine line(out, "process");
    line.text("log", process.log.string()).number("pid", process.pid);
    line.number("parent_pid", process.parent_pid);
    line.text_or_null("program", process.program).text_or_null("command", process.command);
    line.text_or_null("host", process.info_value("host"));
    line.text_or_null("job", process.info_value("job"));
    line.text_or_null("launcher", process.info_value("launcher"));
    for (const char* key : {"rank", "local_rank", "world_size"})
        number_or_null(line, key, process.info_value(key));
    line.text_or_null("started", process.started).number("started_ns", process.started_ns);
    line.number("duration_ns", process.duration_ns);
    line.text("end", describe(process.end));
    if (process.end.has_status())
        line.number("exit_status", process.end.status);
    else
        line.null("exit_status");
    line.flag("crashed", process.end.crashed());
    line.flag("replaced", process.end.kind == ProcessEnd::Kind::replaced);
    line.text("verdict", name(report.verdict));
    line.open_array("verdict_reasons");
    for (const std::string& reason : report.reasons)
        line.string(reason);
    line.close().open_array("findings");
    for (const Headline& headline : report.headlines)
        line.string(headline.sentence());
    line.close().open_array("finding_kinds");
    for (const Headline& headline : report.headlines)
        line.string(name(headline.kind));
    line.close().open_array("finding_titles");
    for (const Headline& headline : report.headlines)
        line.string(headline.title);
    line.close();
    const Totals& totals = process.totals;
    line.number("allocations", totals.allocations).number("frees", totals.frees);
    line.number("leaked_bytes", totals.leaked_bytes).number("leaked_blocks", totals.leaked_blocks);
    line.number("peak_device_bytes", totals.peak_device_bytes);
    line.number("out_of_memory_count", process.shortage_count);
    line.number("lost_events", process.coverage.lost_events());
    line.end();
}

void add_device(std::string& out, const Process& process, const MemoryReport& device)
{
    JsonLine line(out, "device");
    if (device.device < 0)
        line.null("device");
    else
        line.number("device", device.device);
    std::string model;
    for (const DeviceInfo& known : process.devices)
        if (known.ordinal == device.device)
            model = known.name;
    line.text_or_null("name", model);
    line.text_or_null("uuid",
                      process.info_value("device." + std::to_string(device.device) + ".uuid"));
    line.number("total_bytes", device.total_bytes);
    line.number("peak_allocated_bytes", device.peak_allocated());
    line.number("peak_reserved_bytes", device.peak_reserved());
    line.number("peak_requested_bytes", device.requested.peak);
    line.end();
}

// Each row is the end of a span, with the most of it.
void add_timeline(std::string& out, const std::vector<MemoryReport>& devices)
{
    Table table(out, "timeline", kReducedTimeline);
    for (const MemoryReport& device : devices) {
        const std::size_t spans = device.timeline.size();
        const std::size_t joined = (spans + kMostSpans - 1) / kMostSpans;
        for (std::size_t first = 0; first < spans; first += joined) {
            const std::size_t last = std::min(first + joined, spans) - 1;
            std::uint64_t allocated = 0;
            std::uint64_t reserved = 0;
            for (std::size_t at = first; at <= last; ++at) {
                allocated = std::max(allocated, device.timeline[at].peak_allocated);
                reserved = std::max(reserved, device.timeline[at].peak_reserved);
            }
            table.row()
                .number("", device.device)
                .number("", device.timeline[last].ns)
                .number("", allocated)
                .number("", reserved)
                .close();
        }
    }
}

struct NumberedSite {
    const SiteSums* site;
    std::size_t frame;
    std::size_t api;
    std::size_t memory;
    std::size_t step;
    std::size_t same; // the first site that has its fingerprint
};

void add_texts_and_frames(std::string& out, const Texts& texts, const FrameTree& frames)
{
    {
        Table table(out, "texts", kReducedTexts);
        for (const std::string* const text : texts.all())
            table.row().string(*text).close();
    }
    Table table(out, "frames", kReducedFrames);
    const std::vector<FrameTree::Node>& all = frames.all();
    for (std::size_t at = 0; at < all.size(); ++at) {
        const FrameTree::Node& node = all[at];
        const bool called = node.caller != FrameTree::kRoot;
        JsonLine& row = table.row();
        row.number("", called ? at - node.caller : 0);
        row.number("", node.function).number("", node.line);
        if (!called || node.file != all[node.caller].file)
            row.number("", node.file);
        row.close();
    }
}

std::uint64_t whole(double bytes)
{
    return static_cast<std::uint64_t>(std::max(0.0, bytes + 0.5));
}

// What most sites have not, which leaves nothing at its end, is left out.
void add_site(Table& table, const NumberedSite& numbered, std::size_t number)
{
    const SiteSums& site = *numbered.site;
    JsonLine& row = table.row();
    if (numbered.same < number)
        row.number("", numbered.same);
    else
        row.text_or_null("", site.fingerprint);
    if (numbered.frame == FrameTree::kRoot)
        row.null("");
    else
        row.number("", numbered.frame);
    row.number("", site.own_in_stack()).number("", numbered.api).number("", numbered.memory);
    row.number("", site.device).number("", site.allocations);
    row.number("", site.allocated_bytes).number("", site.peak_bytes);
    row.number("", site.at_peak_bytes);
    const bool leaks_or_grows = site.leaked_blocks > 0 || site.growth.grows();
    const std::uint64_t unfreed = site.allocations - std::min(site.frees, site.allocations);
    if (unfreed > 0 || site.live_blocks > 0 || leaks_or_grows)
        row.number("", unfreed).number("", site.live_bytes).number("", site.live_blocks);
    if (leaks_or_grows) {
        row.number("", site.leaked_bytes).number("", site.leaked_blocks);
        row.text_or_null("", site.leaked_blocks > 0 ? name(site.leak_class) : "");
    }
    if (site.growth.grows())
        row.number("", whole(site.growth.bytes_per_step)).number("", numbered.step);
    if (site.growth.grows() && site.growth.has_speed())
        row.number("", whole(site.growth.bytes_per_second));
    row.close();
}

void add_sites(std::string& out, const Process& process)
{
    Texts texts;
    FrameTree frames(texts);
    for (const SiteSums& site : process.sites) { // first, as each row has them: short numbers
        texts.number(site.api);
        texts.number(name(site.memory));
    }
    std::vector<NumberedSite> sites;
    std::unordered_map<std::string, std::size_t> first_of; // a fingerprint
    for (const SiteSums& site : process.sites)
        sites.push_back({&site, frames.node_of(site.stack), texts.number(site.api),
                         texts.number(name(site.memory)),
                         site.growth.grows() ? texts.number(std::string(site.growth.step())) : 0,
                         first_of.try_emplace(site.fingerprint, sites.size()).first->second});
    add_texts_and_frames(out, texts, frames);
    Table table(out, "sites", kReducedSites);
    for (std::size_t number = 0; number < sites.size(); ++number)
        add_site(table, sites[number], number);
}

// Of lines of ours, each of which begins with its type.
ReducedCounts count_lines(std::string_view lines)
{
    constexpr std::string_view kBegin = R"({"type":")";
    ReducedCounts counts;
    while (!lines.empty()) {
        const std::string_view type = lines.substr(kBegin.size());
        ++counts[std::string(type.substr(0, type.find('"')))];
        lines.remove_prefix(lines.find('\n') + 1);
    }
    return counts;
}

} // namespace

void begin_reduced(std::ostream& out)
{
    std::string text;
    JsonLine(text, "reduced").number("version", kReducedVersion).end();
    out << text;
}

void end_reduced(std::ostream& out, const ReducedCounts& lines)
{
    std::string text;
    JsonLine line(text, "end");
    line.open_object("lines");
    for (const auto& [type, count] : lines)
        line.number(type, count);
    line.close().end();
    out << text;
}

void write_reduced(std::ostream& out, const Report& report)
{
    const Process& process = report.processes.front();
    std::string text;
    add_process(text, report);
    for (const MemoryReport& device : process.memory)
        add_device(text, process, device);
    add_timeline(text, process.memory);
    add_sites(text, process);
    begin_reduced(out);
    out << text;
    end_reduced(out, count_lines(text));
}

} // namespace vramscope::report
