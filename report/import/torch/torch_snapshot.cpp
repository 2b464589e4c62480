// report/import/torch/torch_snapshot.cpp — dicts are told apart by their keys, wherever they lie.
#include "report/import/torch/torch_snapshot.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>

#include "report/import/torch/torch_fields.hpp"
#include "report/import/torch/torch_state.hpp"

namespace vramscope::report {
namespace {

using Kind = PickleValue::Kind;

enum Tag : std::uint8_t {
    kFrameTag,
    kStackTag,
    kEventTag,
    kBlockTag,
    kHistoryTag,
    kSegmentTag,
    kAnnotationTag
};

constexpr std::pair<std::string_view, TorchAction> kActions[] = {
    {"alloc", TorchAction::alloc},
    {"free_requested", TorchAction::free_requested},
    {"free_completed", TorchAction::free_completed},
    {"segment_alloc", TorchAction::segment_alloc},
    {"segment_free", TorchAction::segment_free},
    {"segment_map", TorchAction::segment_map},
    {"segment_unmap", TorchAction::segment_unmap},
    {"oom", TorchAction::oom},
    {"snapshot", TorchAction::snapshot},
};

class TorchReader final : public TorchFields {
public:
    explicit TorchReader(PickleInput& input) : TorchFields(input)
    {
        read_.stacks.emplace_back();
        stack_numbers_.emplace(std::vector<std::uint32_t>{}, 0);
        read_.texts.emplace_back();
        read_.streams.push_back(0);
        stream_numbers_[0] = 0;
        read_.pools.emplace_back(0, 0);
        pool_numbers_[0] = 0;
    }

    TorchSnapshot read()
    {
        const Value root = run();
        if (root.kind == Kind::list && run_of(root).tag == kSegmentTag)
            return std::move(read_); // as _snapshot() gave it before there were traces
        if (root.kind != Kind::dict || !find(root, kSegments))
            fail("it is no memory snapshot of PyTorch: there are no segments in it");
        if (const Value* const traces = find(root, kTraces))
            read_traces(*traces);
        if (const Value* const settings = find(root, kSettings))
            read_settings(*settings);
        return std::move(read_);
    }

private:
    Value complete(const Value& container) override
    {
        if (container.kind == Kind::list)
            return complete_list(container);
        if (find(container, kAction))
            return add_event(container);
        if (find(container, kFilename) && find(container, kName))
            return {Kind::object, kFrameTag, 0, frame_number(container)};
        if (find(container, kBlocks) && find(container, kTotalSize))
            return add_segment(container);
        if (find(container, kState) && find(container, kSize))
            return add_block(container);
        if (find(container, kRealSize))
            return history_of(container);
        if (find(container, kStage))
            return add_annotation(container);
        return container;
    }

    static Value last_of(Tag tag, std::uint64_t count) { return {Kind::object, tag, 0, count - 1}; }

    // Frames, innermost first, are a stack.
    Value complete_list(const Value& list)
    {
        std::vector<std::uint32_t> frames;
        const PickleRun& run = run_of(list);
        if (run.count > 0 && run.tag != kFrameTag)
            return list;
        for (std::uint64_t at = 0; at < run.count; ++at)
            frames.push_back(static_cast<std::uint32_t>(run.first + at));
        for (const Value& item : items(list)) {
            if (item.kind != Kind::object || item.tag != kFrameTag)
                return list;
            frames.push_back(static_cast<std::uint32_t>(item.bits));
        }
        const auto [known, added] = stack_numbers_.try_emplace(frames, read_.stacks.size());
        if (added) {
            charge(8 * frames.size() + 150); // here and in the map
            read_.stacks.push_back(std::move(frames));
        }
        return {Kind::object, kStackTag, 0, known->second};
    }

    std::uint64_t frame_number(const Value& dict)
    {
        const std::uint64_t line = number_or(dict, kLine, 0);
        const std::tuple key(text_number(dict, kName), text_number(dict, kFilename),
                             line <= INT32_MAX ? line : 0); // -1 of Python, without its sign
        const auto [known, added] = frame_numbers_.try_emplace(key, read_.frames.size());
        if (added) {
            const auto& [function, file, line_of_it] = key;
            read_.frames.push_back(
                {std::string(text(function)), std::string(text(file)), line_of_it});
            charge(200 + text(function).size() + text(file).size());
        }
        return known->second;
    }

    Value add_event(const Value& dict)
    {
        charge(sizeof(TorchEvent));
        TorchEvent& event = read_.events.emplace_back();
        const std::string_view action = text(text_number(dict, kAction));
        for (const auto& [name, known] : kActions)
            if (action == name)
                event.action = known;
        const TorchKey place =
            event.action == TorchAction::oom && find(dict, kDeviceFree) ? kDeviceFree : kAddr;
        event.address = number_or(dict, place, 0);
        event.bytes = number_or(dict, kSize, 0);
        event.time_us = number_or(dict, kTimeUs, 0);
        if (event.action == TorchAction::segment_map)
            charge_mapped(pieces_of(event.bytes));
        else if (event.action == TorchAction::segment_unmap)
            charge_mapped(-pieces_of(event.bytes));
        event.stack = stack_of(dict);
        event.stream = stream_of(dict);
        event.pool = pool_of(dict);
        if (const Value* const words = find(dict, kUserMetadata);
            words && words->kind == Kind::text && !text(words->bits).empty())
            event.metadata = metadata_number(words->bits);
        return last_of(kEventTag, read_.events.size());
    }

    static std::int64_t pieces_of(std::uint64_t bytes)
    {
        return static_cast<std::int64_t>(bytes / kMappedPiece);
    }

    // Few bytes of a file can map much. Each piece is written, and each that is mapped at once is
    // kept, forwards or backwards: some TiB may be, and 800 KiB more for each byte of the file.
    void charge_mapped(std::int64_t pieces)
    {
        mapped_ += pieces;
        const std::int64_t beyond =
            std::max({mapped_ - most_mapped_, least_mapped_ - mapped_, std::int64_t{0}});
        most_mapped_ = std::max(most_mapped_, mapped_);
        least_mapped_ = std::min(least_mapped_, mapped_);
        constexpr std::uint64_t kWrittenForPiece = 16; // at least, and each time
        charge(4 * static_cast<std::uint64_t>(beyond) +
               kWrittenForPiece * static_cast<std::uint64_t>(std::abs(pieces)));
    }

    // What a list has is written once: a pickle may name one list many times.
    void use(const PickleRun& run, std::uint64_t& used)
    {
        if (run.count > 0 && run.first < used)
            fail("it has one list of events or blocks in several places");
        used = std::max(used, run.first + run.count);
    }

    Value add_block(const Value& dict)
    {
        charge(sizeof(TorchBlock));
        TorchBlock block;
        block.address = number_or(dict, kAddress, 0);
        block.bytes = number_or(dict, kSize, 0);
        block.stack = stack_of(dict);
        if (find(dict, kRequestedSize))
            block.requested = number_or(dict, kRequestedSize, 0);
        const std::uint64_t state = text_number(dict, kState);
        block.state = state == kActive    ? TorchBlock::State::allocated
                      : state == kPending ? TorchBlock::State::pending
                                          : TorchBlock::State::inactive;
        if (const Value* const history = find(dict, kHistory))
            add_history(*history, block);
        read_.blocks.push_back(block);
        return last_of(kBlockTag, read_.blocks.size());
    }

    // 2.0 has what a block was asked for last in a list of its history.
    Value history_of(const Value& dict)
    {
        history_.push_back({number_or(dict, kRealSize, 0), stack_of(dict)});
        charge(sizeof history_[0]);
        return last_of(kHistoryTag, history_.size());
    }

    void add_history(const Value& list, TorchBlock& block) const
    {
        if (list.kind != Kind::list || run_of(list).tag != kHistoryTag || run_of(list).count == 0)
            return;
        const auto& [bytes, stack] = history_[run_of(list).first];
        block.requested = block.requested.value_or(bytes);
        block.stack = block.stack != 0 ? block.stack : stack;
    }

    Value add_segment(const Value& dict)
    {
        charge(sizeof(TorchSegment));
        TorchSegment segment;
        segment.device = static_cast<std::int64_t>(number_or(dict, kDevice, 0));
        segment.address = number_or(dict, kAddress, 0);
        segment.bytes = number_or(dict, kTotalSize, 0);
        segment.stack = stack_of(dict);
        segment.stream = stream_of(dict);
        segment.pool = pool_of(dict);
        const Value* const type = find(dict, kSegmentType);
        segment.small = type && type->kind == Kind::text && type->bits == kSmall;
        const Value* const expandable = find(dict, kIsExpandable);
        segment.expandable = expandable && expandable->kind == Kind::boolean && expandable->bits;
        if (segment.expandable)
            charge_mapped(pieces_of(segment.bytes));
        const Value* const blocks = find(dict, kBlocks);
        if (blocks->kind == Kind::list && run_of(*blocks).tag == kBlockTag) {
            use(run_of(*blocks), blocks_used_);
            segment.first_block = run_of(*blocks).first;
            segment.block_count = run_of(*blocks).count;
        }
        place_blocks(segment);
        read_.segments.push_back(segment);
        return last_of(kSegmentTag, read_.segments.size());
    }

    // They fill a segment in their order; not every version writes where each begins.
    void place_blocks(const TorchSegment& segment)
    {
        std::uint64_t address = segment.address;
        for (std::uint64_t at = 0; at < segment.block_count; ++at) {
            TorchBlock& block = read_.blocks[segment.first_block + at];
            block.address = block.address != 0 ? block.address : address;
            address = block.address + block.bytes;
        }
    }

    Value add_annotation(const Value& dict)
    {
        charge(sizeof(TorchAnnotation));
        read_.annotations.push_back({std::string(text(text_number(dict, kName))),
                                     static_cast<std::int64_t>(number_or(dict, kDevice, 0)),
                                     number_or(dict, kTimeUs, 0),
                                     text_number(dict, kStage) == kStart});
        return last_of(kAnnotationTag, read_.annotations.size());
    }

    void read_traces(const Value& traces)
    {
        if (traces.kind == Kind::object)
            return; // empty
        if (traces.kind != Kind::list)
            fail("device_traces is no list");
        for (const Value& trace : items(traces)) {
            TorchTrace& added = read_.traces.emplace_back();
            if (trace.kind == Kind::list && run_of(trace).tag == kEventTag) {
                use(run_of(trace), events_used_);
                added = {run_of(trace).first, run_of(trace).count};
            } else if (trace.kind != Kind::object && trace.kind != Kind::list)
                fail("a trace of device_traces is no list of events");
        }
        const PickleRun& none = run_of(traces); // empty traces, as they are all one object
        for (std::uint64_t at = 0; at < none.count; ++at)
            read_.traces.emplace_back();
    }

    void read_settings(const Value& settings)
    {
        if (settings.kind != Kind::dict)
            return;
        const auto all = items(settings);
        for (std::size_t at = 0; at + 1 < all.size(); at += 2)
            if (all[at].kind == Kind::text)
                read_.settings.emplace_back(text(all[at].bits), words_of(all[at + 1]));
    }

    std::uint32_t stack_of(const Value& dict) const
    {
        const Value* const frames = find(dict, kFrames);
        return frames && frames->kind == Kind::object && frames->tag == kStackTag
                   ? static_cast<std::uint32_t>(frames->bits)
                   : 0;
    }

    std::uint32_t stream_of(const Value& dict)
    {
        const std::uint64_t handle = number_or(dict, kStream, 0);
        const auto [known, added] = stream_numbers_.try_emplace(handle, read_.streams.size());
        if (added) {
            charge(100);
            read_.streams.push_back(handle);
        }
        return static_cast<std::uint32_t>(known->second);
    }

    std::uint16_t pool_of(const Value& dict)
    {
        const Value* id = find(dict, kSegmentPoolId);
        id = id ? id : find(dict, kPoolId);
        if (!id || id->kind != Kind::pair)
            return 0;
        const auto [known, added] = pool_numbers_.try_emplace(id->bits, read_.pools.size());
        if (added) {
            if (read_.pools.size() > UINT16_MAX)
                fail("it has more private pools than can be counted");
            read_.pools.emplace_back(static_cast<std::uint32_t>(id->bits >> 32),
                                     static_cast<std::uint32_t>(id->bits));
        }
        return static_cast<std::uint16_t>(known->second);
    }

    std::uint32_t metadata_number(std::uint64_t text_number)
    {
        const auto [known, added] = metadata_numbers_.try_emplace(text_number, read_.texts.size());
        if (added) {
            read_.texts.emplace_back(text(text_number));
            charge(100 + read_.texts.back().size());
        }
        return static_cast<std::uint32_t>(known->second);
    }

    TorchSnapshot read_;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> history_; // bytes, stack
    std::int64_t mapped_ = 0, most_mapped_ = 0, least_mapped_ = 0; // pieces
    std::uint64_t blocks_used_ = 0, events_used_ = 0;
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>, std::uint64_t> frame_numbers_;
    std::map<std::vector<std::uint32_t>, std::uint64_t> stack_numbers_;
    std::map<std::uint64_t, std::uint64_t> stream_numbers_;
    std::map<std::uint64_t, std::uint64_t> pool_numbers_;
    std::map<std::uint64_t, std::uint64_t> metadata_numbers_; // by number of the text
};

} // namespace

TorchSnapshot read_torch_snapshot(int descriptor, const std::string& name)
{
    PickleInput input(descriptor, name);
    return TorchReader(input).read();
}

} // namespace vramscope::report
