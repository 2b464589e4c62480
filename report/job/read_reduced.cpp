// report/job/read_reduced.cpp — what a join needs of each line.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/job/reduced_lines.hpp"
#include "report/job/reduced_table.hpp"

namespace vramscope::report {
namespace {

template <typename Value>
std::optional<Value> word_in(const Json& json)
{
    for (const auto& [value, word] : Words<Value>::kAll)
        if (json == word)
            return value;
    return std::nullopt;
}

std::vector<Headline> headlines_in(const Json& line)
{
    std::vector<Headline> headlines;
    const Json& kinds = member_of(line, "finding_kinds");
    const Json& titles = member_of(line, "finding_titles");
    const Json& sentences = member_of(line, "findings");
    if (!kinds.is_array() || !titles.is_array() || !sentences.is_array())
        return headlines;
    const std::size_t count = std::min({kinds.size(), titles.size(), sentences.size()});
    for (std::size_t at = 0; at < count; ++at) {
        const std::optional<HeadlineKind> kind = word_in<HeadlineKind>(kinds[at]);
        const std::string title = text_in(titles[at]);
        const std::string sentence = text_in(sentences[at]);
        if (kind && sentence.starts_with(title))
            headlines.push_back({*kind, title, sentence.substr(title.size()), {}});
    }
    return headlines;
}

format::Memory memory_named(const std::string& name)
{
    for (const format::MemoryKind& kind : format::kMemoryKinds)
        if (name == kind.name)
            return kind.memory;
    return format::Memory::none;
}

std::int32_t ordinal_in(const Json& value)
{
    const std::optional<std::uint32_t> ordinal = small_number_in(value);
    return ordinal ? static_cast<std::int32_t>(*ordinal) : -1;
}

class Reader : public ReducedLines {
public:
    using Give = std::function<void(const ReducedProcess&)>;

    Reader(const std::string& name, const Give& give) : ReducedLines(name), give_(give) {}

    void finish() { give_last(); }

private:
    void process(const Json& line) override
    {
        const auto member = [&line](const char* name) -> const Json& {
            return member_of(line, name);
        };
        give_last();
        ReducedProcess& process = process_.emplace();
        process.rank = small_number_in(member("rank"));
        process.world_size = small_number_in(member("world_size")).value_or(0);
        process.job = text_in(member("job"));
        process.program = text_in(member("program"));
        process.headlines = headlines_in(line);
        JobProcess& about = process.about;
        about.pid = static_cast<std::uint32_t>(number_in(member("pid")));
        about.host = text_in(member("host"));
        about.log = text_in(member("log"));
        about.verdict = word_in<Verdict>(member("verdict")).value_or(Verdict::inconclusive);
        about.end = text_in(member("end"));
        about.exit_status = small_number_in(member("exit_status"));
        about.crashed = member("crashed") == true;
        if (about.exit_status && about.verdict == Verdict::inconclusive)
            about.doubt = fmt::format("{}", fmt::join(texts_in(member("verdict_reasons")), "; "));
        process.replaced = member("replaced") == true;
        process.parent_pid = static_cast<std::uint32_t>(number_in(member("parent_pid")));
        process.started_ns = number_in(member("started_ns"));
        about.last_seen_ns = process.started_ns + number_in(member("duration_ns"));
        about.found = std::any_of(process.headlines.begin(), process.headlines.end(),
                                  [](const Headline& one) { return one.is_finding(); });
        about.peak_device_bytes = number_in(member("peak_device_bytes"));
        about.leaked_bytes = number_in(member("leaked_bytes"));
        about.out_of_memory = number_in(member("out_of_memory_count"));
        about.lost_events = number_in(member("lost_events"));
    }

    void device(const Json& line) override
    {
        const auto member = [&line](const char* name) -> const Json& {
            return member_of(line, name);
        };
        process_->devices.push_back(
            {.ordinal = ordinal_in(member("device")),
             .total_bytes = number_in(member("total_bytes")),
             .peak_allocated_bytes = number_in(member("peak_allocated_bytes")),
             .peak_reserved_bytes = number_in(member("peak_reserved_bytes"))});
    }

    void sites(const Rows& rows) override
    {
        for (const Json& row : rows.all())
            process_->sites.push_back(
                {.fingerprint = next_fingerprint(rows.in(row, "fingerprint")),
                 .api = text_of(rows.in(row, "api")),
                 .frame = frame_in(rows.in(row, "frame")),
                 .own = static_cast<std::size_t>(number_in(rows.in(row, "own"))),
                 .memory = memory_named(text_of(rows.in(row, "memory"))),
                 .device = ordinal_in(rows.in(row, "device")),
                 .at_peak_bytes = number_in(rows.in(row, "at_peak_bytes")),
                 .leaked_bytes = number_in(rows.in(row, "leaked_bytes")),
                 .growth_bytes_per_step = number_in(rows.in(row, "growth_bytes_per_step")),
                 .step = step_of(rows, row),
                 .growth_bytes_per_second = number_in(rows.in(row, "growth_bytes_per_second"))});
    }

    // The column has a text for each row: that of one that does not grow means nothing.
    std::string step_of(const Rows& rows, const Json& row)
    {
        if (number_in(rows.in(row, "growth_bytes_per_step")) == 0)
            return {};
        std::string step = text_of(rows.in(row, "step"));
        return step.empty() ? "step" : step;
    }

    // It is whole, and so are its frames, when the next process begins.
    void give_last()
    {
        if (process_) {
            process_->frames = std::move(frames());
            give_(*process_);
        }
        frames().clear();
    }

    const Give& give_;
    std::optional<ReducedProcess> process_;
};

} // namespace

CallPlace ReducedProcess::place_of(const ReducedSite& site) const
{
    constexpr std::size_t kMost = 16;
    CallPlace place;
    place.api = site.api;
    place.fingerprint = site.fingerprint;
    std::vector<Frame> stack;
    std::size_t at = site.frame;
    for (; at != ReducedFrame::kNone && stack.size() < kMost; at = frames[at].caller)
        stack.push_back(frames[at].frame);
    place.own = site.own < stack.size() ? site.own : 0;
    place.stack = std::move(stack);
    return place;
}

void read_reduced(std::istream& in, const std::string& name,
                  const std::function<void(const ReducedProcess&)>& give)
{
    Reader reader(name, give);
    reader.read(in);
    reader.finish();
}

} // namespace vramscope::report
