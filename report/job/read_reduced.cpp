// report/job/read_reduced.cpp — line by line; nothing is believed.
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "report/error.hpp"
#include "report/exporters/reduced.hpp"
#include "report/job/reduced_table.hpp"
#include "report/json/write.hpp"

namespace vramscope::report {
namespace {

constexpr std::string_view kHead = R"({"type":"reduced","version":)";

std::uint64_t number_in(const Json& value)
{
    if (value.is_number_unsigned())
        return value.get<std::uint64_t>();
    const std::int64_t number = value.is_number_integer() ? value.get<std::int64_t>() : 0;
    return number > 0 ? static_cast<std::uint64_t>(number) : 0;
}

std::optional<std::uint32_t> small_number_in(const Json& value)
{
    constexpr std::uint64_t kMost = 1u << 20; // ranks; more is a damaged number
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kMost)
        return std::nullopt;
    return value.get<std::uint32_t>();
}

std::string text_in(const Json& value)
{
    return value.is_string() ? value.get<std::string>() : std::string();
}

Verdict verdict_in(const Json& value)
{
    for (const auto& [verdict, word] : Words<Verdict>::kAll)
        if (value == word)
            return verdict;
    return Verdict::inconclusive;
}

format::Memory memory_named(const std::string& name)
{
    for (const format::MemoryKind& kind : format::kMemoryKinds)
        if (name == kind.name)
            return kind.memory;
    return format::Memory::none;
}

// A line of rows, by the names of its columns.
class Rows {
public:
    explicit Rows(const Json& line) : line_(line)
    {
        if (const Json& columns = member("columns"); columns.is_array())
            for (std::size_t at = 0; at < columns.size(); ++at)
                columns_.emplace(text_in(columns[at]), at);
    }

    const Json& all() const { return member("rows"); }
    const Json& in(const Json& row, std::string_view column) const
    {
        const auto found = columns_.find(column);
        return found != columns_.end() && row.is_array() && found->second < row.size()
                   ? row[found->second]
                   : kNone;
    }

private:
    const Json& member(const char* name) const
    {
        const auto found = line_.find(name);
        return found == line_.end() ? kNone : *found;
    }

    inline static const Json kNone;
    const Json& line_;
    std::map<std::string, std::size_t, std::less<>> columns_;
};

class Reader {
public:
    explicit Reader(const std::string& name) : name_(name) {}

    void take(const std::string& text)
    {
        ++line_;
        if (line_ == 1)
            return check_head(text);
        const Json line = Json::parse(text, nullptr, false);
        if (line.is_discarded() || !line.is_object())
            refuse("is no JSON object");
        const std::string type = text_in(line.value("type", Json()));
        if (type == "process")
            begin_process(line);
        else if (processes_.empty())
            refuse("comes before any process");
        else if (type == "device")
            add_device(line);
        else if (type == "texts")
            add_texts(Rows(line));
        else if (type == "frames")
            add_frames(Rows(line));
        else if (type == "sites")
            add_sites(Rows(line));
    }

    std::vector<ReducedProcess> finish()
    {
        if (processes_.empty())
            refuse("is the last, and there is no process");
        return std::move(processes_);
    }

private:
    [[noreturn]] void refuse(const std::string& why) const
    {
        throw Error(Exit::bad_input, fmt::format("{}: line {} {}", name_, line_, why));
    }

    void check_head(const std::string& text)
    {
        int version = 0;
        if (!text.starts_with(kHead))
            throw Error(Exit::bad_input, fmt::format("{} is no reduced table", name_));
        std::from_chars(text.data() + kHead.size(), text.data() + text.size(), version);
        if (version != kReducedVersion)
            throw Error(Exit::bad_input,
                        fmt::format("{} is a reduced table of version {}; this vramscope reads "
                                    "version {}: make it again with `vramscope reduce`",
                                    name_, version, kReducedVersion));
    }

    void begin_process(const Json& line)
    {
        const auto member = [&line](const char* name) { return line.value(name, Json()); };
        ReducedProcess& process = processes_.emplace_back();
        process.rank = small_number_in(member("rank"));
        process.world_size = small_number_in(member("world_size")).value_or(0);
        process.job = text_in(member("job"));
        process.program = text_in(member("program"));
        JobProcess& about = process.about;
        about.pid = static_cast<std::uint32_t>(number_in(member("pid")));
        about.host = text_in(member("host"));
        about.log = text_in(member("log"));
        about.verdict = verdict_in(member("verdict"));
        about.end = text_in(member("end"));
        about.crashed = member("crashed") == true;
        about.last_seen_ns = number_in(member("started_ns")) + number_in(member("duration_ns"));
        about.peak_device_bytes = number_in(member("peak_device_bytes"));
        about.leaked_bytes = number_in(member("leaked_bytes"));
        about.out_of_memory = number_in(member("out_of_memory_count"));
        about.lost_events = number_in(member("lost_events"));
        texts_.clear();
    }

    void add_device(const Json& line)
    {
        const auto member = [&line](const char* name) { return line.value(name, Json()); };
        const std::optional<std::uint32_t> ordinal = small_number_in(member("device"));
        processes_.back().devices.push_back(
            {.ordinal = ordinal ? static_cast<std::int32_t>(*ordinal) : -1,
             .total_bytes = number_in(member("total_bytes")),
             .peak_allocated_bytes = number_in(member("peak_allocated_bytes")),
             .peak_reserved_bytes = number_in(member("peak_reserved_bytes"))});
    }

    void add_texts(const Rows& rows)
    {
        for (const Json& row : rows.all())
            texts_.push_back(text_in(rows.in(row, "text")));
    }

    std::string text_of(const Json& number) const
    {
        if (!number.is_number_unsigned() || number.get<std::size_t>() >= texts_.size())
            refuse("names a text that is not there");
        return texts_[number.get<std::size_t>()];
    }

    // The index that a number is, or kNone for null.
    std::size_t frame_in(const Json& number) const
    {
        if (number.is_null())
            return ReducedFrame::kNone;
        if (!number.is_number_unsigned() ||
            number.get<std::size_t>() >= processes_.back().frames.size())
            refuse("names a frame that is not there");
        return number.get<std::size_t>();
    }

    void add_frames(const Rows& rows)
    {
        for (const Json& row : rows.all()) {
            ReducedFrame node{.caller = frame_in(rows.in(row, "caller")), .frame = {}};
            node.frame.function = text_of(rows.in(row, "function"));
            const std::string file = text_of(rows.in(row, "file"));
            const std::uint64_t line = number_in(rows.in(row, "line"));
            node.frame.line = line < INT32_MAX ? static_cast<int>(line) : 0;
            (node.frame.line > 0 ? node.frame.file : node.frame.module) = file;
            processes_.back().frames.push_back(std::move(node));
        }
    }

    void add_sites(const Rows& rows)
    {
        for (const Json& row : rows.all())
            processes_.back().sites.push_back(
                {.fingerprint = text_in(rows.in(row, "fingerprint")),
                 .api = text_of(rows.in(row, "api")),
                 .frame = frame_in(rows.in(row, "frame")),
                 .own = static_cast<std::size_t>(number_in(rows.in(row, "own"))),
                 .memory = memory_named(text_of(rows.in(row, "memory"))),
                 .at_peak_bytes = number_in(rows.in(row, "at_peak_bytes")),
                 .leaked_bytes = number_in(rows.in(row, "leaked_bytes")),
                 .growth_bytes_per_step = number_in(rows.in(row, "growth_bytes_per_step"))});
    }

    const std::string& name_;
    std::size_t line_ = 0;
    std::vector<ReducedProcess> processes_;
    std::vector<std::string> texts_; // of the last process
};

} // namespace

CallPlace ReducedProcess::place_of(const ReducedSite& site) const
{
    constexpr std::size_t kMost = 16;
    CallPlace place;
    place.api = site.api;
    place.fingerprint = site.fingerprint;
    std::size_t at = site.frame;
    for (; at != ReducedFrame::kNone && place.stack.size() < kMost; at = frames[at].caller)
        place.stack.push_back(frames[at].frame);
    place.own = site.own < place.stack.size() ? site.own : 0;
    return place;
}

bool is_reduced(std::string_view head) noexcept
{
    return head.starts_with(kHead);
}

std::vector<ReducedProcess> read_reduced(std::istream& in, const std::string& name)
{
    Reader reader(name);
    for (std::string line; std::getline(in, line);)
        reader.take(line);
    return reader.finish();
}

} // namespace vramscope::report
