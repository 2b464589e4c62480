// report/exporters/torch/torch_snapshot_file.cpp — a log as a memory snapshot of PyTorch.
//
// PyTorch's blocks and segments are as they were. Any other device memory is a segment with one
// block, and the pool's segments are segments. One reading of the log for each device writes its
// events; what was there at the end follows.
#include <algorithm>
#include <charconv>
#include <optional>

#include "report/decimal.hpp"
#include "report/exporters/exported_memory.hpp"
#include "report/exporters/torch/device_reading.hpp"
#include "report/exporters/torch/pickle_writer.hpp"
#include "report/log/first_reading.hpp"
#include "report/words/own_output.hpp"

namespace vramscope::report {
namespace {

class TorchSnapshotFile {
public:
    TorchSnapshotFile(const std::filesystem::path& log, const Sink& sink,
                      const ExportOptions& options)
        : file_(LogFile::open(log)), options_(options), symbolizer_(options.symbols),
          known_(read_definitions(file_, {})),
          stacks_(known_.tables, symbolizer_,
                  options.all_frames ? ShownFrames::all : ShownFrames::visible),
          out_(sink)
    {
    }

    void write()
    {
        out_.begin_dict();
        out_.text("exporter");
        out_.text(kOwnMark);
        out_.text("device_traces");
        out_.begin_list();
        for (std::int64_t device = 0; device <= last_device_; ++device)
            write_device(device);
        out_.end();
        out_.text("segments");
        out_.begin_list();
        for (std::size_t device = 0; device < ends_.size(); ++device)
            for (const auto& [address, segment] : ends_[device].segments)
                write_segment(device, address, segment);
        out_.end();
        write_annotations();
        write_settings();
        out_.end();
        out_.finish();
        if (options_.unread_files)
            options_.unread_files(symbolizer_.unread_files());
    }

private:
    void write_device(std::int64_t device)
    {
        out_.begin_list();
        if (!options_.device || *options_.device == device) {
            DeviceReading reading(file_, known_.last_ticks, device,
                                  [this](const TorchTraceEvent& event) { write_event(event); });
            reading.read(options_.progress);
            last_device_ = std::max(last_device_, reading.last_device());
            ends_.resize(static_cast<std::size_t>(device));
            ends_.push_back(reading.take_state());
        }
        out_.end();
    }

    std::uint64_t us_of(std::uint64_t ticks) const
    {
        return (file_.header().start_real_ns + known_.clock.ns(ticks)) / 1000;
    }

    void entry(std::string_view key, std::uint64_t number)
    {
        out_.text(key);
        out_.number(number);
    }
    void entry(std::string_view key, std::string_view text)
    {
        out_.text(key);
        out_.text(text);
    }

    void write_event(const TorchTraceEvent& event)
    {
        out_.begin_dict();
        entry("action", event.action);
        entry(event.is_shortage ? "device_free" : "addr", event.address);
        entry("size", event.bytes);
        entry("stream", event.stream);
        if (known_.tables.info_value("imported.times") != "none")
            entry("time_us", us_of(event.ticks));
        if (!event.metadata.empty())
            entry("user_metadata", event.metadata);
        write_frames(event.stack, event.ticks);
        out_.end();
    }

    void write_frames(std::uint64_t stack, std::uint64_t ticks)
    {
        out_.text("frames");
        if (const auto known = frames_.find(stack); known != frames_.end())
            return out_.recall(known->second);
        out_.begin_list();
        const std::uint64_t number = out_.remember();
        if (stack != 0)
            for (const Frame& frame : stacks_.read(UINT64_MAX, stack, ticks).stack)
                write_frame(frame);
        out_.end();
        frames_.emplace(stack, number);
    }

    void write_frame(const Frame& frame)
    {
        const std::string_view module =
            frame.module.starts_with('/') ? std::string_view(frame.module) : "??";
        out_.begin_dict();
        entry("name",
              frame.function.empty() ? std::string_view("??") : std::string_view(frame.function));
        entry("filename", frame.file.empty() ? module : std::string_view(frame.file));
        entry("line", static_cast<std::uint64_t>(std::max(frame.line, 0)));
        out_.end();
    }

    void write_segment(std::size_t device, std::uint64_t address, const ReservedMemory& segment)
    {
        const std::map<std::uint64_t, CutBlock>& all = ends_[device].blocks;
        const auto begin = all.lower_bound(address);
        const auto end = all.lower_bound(address + segment.bytes);
        out_.begin_dict();
        entry("device", device);
        entry("address", address);
        entry("total_size", segment.bytes);
        SegmentSums sums;
        out_.text("blocks");
        out_.begin_list();
        std::uint64_t at = address;
        for (auto block = begin; block != end; ++block) {
            if (block->first < at)
                continue; // it overlaps another: the log does not fit together
            write_gap(at, block->first);
            at = write_block(
                *block, std::next(block) == end ? address + segment.bytes : std::next(block)->first,
                segment, sums);
        }
        write_gap(at, address + segment.bytes);
        out_.end();
        entry("allocated_size", sums.allocated);
        entry("active_size", sums.active);
        entry("requested_size", sums.requested);
        entry("stream", segment.stream);
        entry("segment_type", std::string_view(segment.small ? "small" : "large"));
        out_.text("segment_pool_id");
        out_.pair(segment.pool >> 32, segment.pool & UINT32_MAX);
        out_.text("is_expandable");
        out_.flag(segment.mapped);
        write_frames(segment.stack, segment.ticks);
        out_.end();
    }

    struct SegmentSums {
        std::uint64_t allocated = 0;
        std::uint64_t active = 0;
        std::uint64_t requested = 0;
    };

    void write_gap(std::uint64_t begin, std::uint64_t end)
    {
        if (begin >= end)
            return;
        out_.begin_dict();
        entry("address", begin);
        entry("size", end - begin);
        entry("requested_size", std::uint64_t{0});
        entry("state", std::string_view("inactive"));
        write_frames(0, 0);
        out_.end();
    }

    // PyTorch rounds up to 512 bytes. What would be left of a large segment, up to 1 MiB, it leaves
    // to the block, unless the segment can grow.
    static std::uint64_t size_of(const CutBlock& block, std::uint64_t room,
                                 const ReservedMemory& segment)
    {
        constexpr std::uint64_t kRound = 512;
        constexpr std::uint64_t kLeastRest = 1 << 20;
        if (segment.of_one_block || block.place >= room)
            return room;
        const std::uint64_t rounded =
            std::max<std::uint64_t>((block.place + kRound - 1) / kRound * kRound, kRound);
        const bool all = rounded >= room || (segment.of_torch && !segment.small &&
                                             !segment.mapped && room - rounded <= kLeastRest);
        return all ? room : rounded;
    }

    // Returns where it ends.
    std::uint64_t write_block(const std::pair<const std::uint64_t, CutBlock>& entry_of,
                              std::uint64_t most, const ReservedMemory& segment, SegmentSums& sums)
    {
        const auto& [address, block] = entry_of;
        const std::uint64_t size = size_of(block, most - address, segment);
        sums.active += size;
        if (!block.pending) {
            sums.allocated += size;
            sums.requested += block.bytes;
        }
        out_.begin_dict();
        entry("address", address);
        entry("size", size);
        entry("state",
              std::string_view(block.pending ? "active_pending_free" : "active_allocated"));
        // Where a block has no frames, _memory_viz.py takes the size of its place.
        if (!block.size_unknown)
            write_request(address, block);
        out_.end();
        return address + size;
    }

    // PyTorch 2.0 reads what a block was asked for, and by whom, in its history.
    void write_request(std::uint64_t address, const CutBlock& block)
    {
        entry("requested_size", block.bytes);
        write_frames(block.stack, block.ticks);
        out_.text("history");
        out_.begin_list();
        out_.begin_dict();
        entry("addr", address);
        entry("real_size", block.bytes);
        write_frames(block.stack, block.ticks);
        out_.end();
        out_.end();
    }

    // NVTX ranges and their like.
    void write_annotations()
    {
        out_.text("external_annotations");
        out_.begin_list();
        std::map<std::uint32_t, std::vector<std::string>> open;
        LogReader reader(file_);
        reader.hold_back(known_.last_ticks);
        while (const Record* const record = reader.next()) {
            std::vector<std::string>& names = open[record->thread];
            if (const auto push = record->as<format::RangePush>()) {
                names.emplace_back(push->name);
                write_annotation("START", *record, names.back());
            } else if (record->tag == format::Tag::range_pop && !names.empty()) {
                write_annotation("END", *record, names.back());
                names.pop_back();
            }
        }
        out_.end();
    }

    void write_annotation(std::string_view stage, const Record& record, std::string_view name)
    {
        out_.begin_dict();
        entry("stage", stage);
        entry("name", name);
        out_.text("device");
        out_.number(annotated_device(record));
        entry("time_us", us_of(record.ticks));
        out_.end();
    }

    // An imported log has a thread for each device.
    std::uint64_t annotated_device(const Record& record) const
    {
        const bool imported = !known_.tables.info_value("imported").empty();
        return imported && record.thread > 0 ? record.thread - 1 : 0;
    }

    void write_settings()
    {
        constexpr std::string_view kTorch = "torch.";
        out_.text("allocator_settings");
        out_.begin_dict();
        const std::string_view given = known_.tables.info_value("env.PYTORCH_CUDA_ALLOC_CONF");
        entry("PYTORCH_CUDA_ALLOC_CONF", given);
        for (const auto& [key, value] : known_.tables.info())
            if (key.starts_with(kTorch)) {
                const std::string_view name = std::string_view(key).substr(kTorch.size());
                out_.text(name);
                if (name == "roundup_power2_divisions")
                    write_numbers_by_name(value);
                else
                    write_setting(value);
            }
        out_.end();
    }

    void write_setting(std::string_view value)
    {
        std::int64_t number = 0;
        std::string_view rest = value;
        if (value == "True" || value == "False")
            out_.flag(value == "True");
        else if (is_whole(value, number) && number >= INT32_MIN)
            out_.signed_number(number);
        else if (const auto real = take_decimal(rest); real && rest.empty())
            out_.real(*real);
        else
            out_.text(value);
    }

    // "1:0,2:0"
    void write_numbers_by_name(std::string_view value)
    {
        out_.begin_dict();
        while (!value.empty()) {
            const std::string_view one = value.substr(0, value.find(','));
            const std::size_t colon = std::min(one.find(':'), one.size());
            out_.text(one.substr(0, colon));
            write_setting(one.substr(std::min(colon + 1, one.size())));
            value.remove_prefix(std::min(one.size() + 1, value.size()));
        }
        out_.end();
    }

    static bool is_whole(std::string_view text, std::int64_t& number)
    {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        return error == std::errc() && end == text.data() + text.size();
    }

    const LogFile file_;
    const ExportOptions& options_;
    Symbolizer symbolizer_;
    Definitions known_;
    StackReader stacks_;
    PickleWriter out_;
    std::map<std::uint64_t, std::uint64_t> frames_; // by stack: their number in the pickle
    std::int64_t last_device_ = 0;
    std::vector<DeviceState> ends_;
};

} // namespace

void export_torch_snapshot(const std::filesystem::path& log, const Sink& sink,
                           const ExportOptions& options)
{
    TorchSnapshotFile(log, sink, options).write();
}

} // namespace vramscope::report
