// report/reach/make_reach.cpp — the search, and its verdicts by call stack.
#include "report/reach/make_reach.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "report/findings/places/stack_reader.hpp"
#include "report/model/site_sums.hpp"
#include "report/reach/books.hpp"
#include "report/reach/living_blocks.hpp"
#include "report/reach/verdicts.hpp"

namespace vramscope::report {
namespace {

// Names that are the same are looked for once.
std::vector<WantedBlock> wanted_of(const std::vector<BlockName>& names)
{
    std::vector<WantedBlock> wanted;
    for (const BlockName& name : names)
        if (wanted.empty() || wanted.back().begin != name.begin || wanted.back().end != name.end)
            wanted.push_back({name, name.words == BlockName::Words::host});
    return wanted;
}

std::vector<AddressSpan> device_spans(const std::vector<BlockName>& names)
{
    std::vector<AddressSpan> spans;
    for (const BlockName& name : names)
        if (name.words == BlockName::Words::device)
            spans.push_back(name);
    return spans;
}

void add_notices(Reach& reach, const MemoryMap& map, const HolderSearch& search)
{
    if (!reach.stopped)
        reach.notices.push_back("the program ran on: what its registers hold was not seen, so "
                                "nothing is called lost (--stop)");
    if (!map.other_allocator().empty())
        reach.notices.push_back(fmt::format("{} keeps memory of a shape that is not known: what "
                                            "only it leads to is possibly held",
                                            map.other_allocator()));
    if (!map.knows_own())
        reach.notices.push_back("vramscope's own tables cannot be told from the program's memory "
                                "here: what only mapped memory leads to is possibly held");
    if (search.has_unread_host())
        reach.notices.push_back(
            "pinned or managed memory could not be read: what only that leads to "
            "is possibly held");
    if (search.left_open())
        reach.notices.push_back("there were too many holders, or too long a chain of them, to look "
                                "at all");
}

} // namespace

FoundReach::FoundReach(const LogFile& log, const ProcessMemory& memory,
                       const std::string& log_mapping, std::uint64_t until_ticks,
                       CheckpointStore* checkpoints)
    : living_(std::make_unique<LivingBlocks>(log, until_ticks, checkpoints))
{
    const std::vector<WantedBlock> wanted = wanted_of(living_->names());
    const ModuleNames modules(memory);
    const std::vector<AddressSpan> device = device_spans(living_->names());
    const PythonMemory interpreter(memory, modules);
    const PythonMemory* const python = interpreter.is_known() ? &interpreter : nullptr;
    const MemoryMap map(memory, modules, log_mapping, device, python != nullptr);
    const HeapBlocks heap(memory, python);
    const SearchedMemory searched{memory, map, modules, heap, python};
    HolderSearch search(searched, wanted);
    if (!search.is_done())
        search.take(without_books(search.find_pointers(), searched, *living_));
    search.run();
    Verdicts verdicts(memory, map, modules, python, search);
    found_.pid = log.header().pid;
    found_.program = living_->tables().info_value("program");
    found_.stopped = memory.stopped();
    found_.searched_bytes = search.searched_bytes();
    found_.searches = search.levels();
    add_notices(found_, map, search);
    for (const std::string& notice : found_.notices)
        doubts_ += (doubts_.empty() ? "" : "; ") + notice;
    add_all(wanted, verdicts);
}

// The surest of what is said of a block's names.
void FoundReach::add_all(const std::vector<WantedBlock>& wanted, Verdicts& verdicts)
{
    std::vector<std::optional<BlockVerdict>> said(living_->blocks().size());
    std::size_t number = 0;
    for (const BlockName& name : living_->names()) {
        while (wanted[number].begin != name.begin || wanted[number].end != name.end)
            ++number;
        std::optional<BlockVerdict>& of_block = said[name.block];
        BlockVerdict verdict = verdicts.of(number);
        if (!of_block || of_block->verdict < verdict.verdict)
            of_block = std::move(verdict);
    }
    const BlockVerdict unknown{Reached::possibly, ReachDoubt::handle, {}};
    const BlockVerdict of_a_view{Reached::possibly, ReachDoubt::view, {}};
    for (std::size_t at = 0; at < said.size(); ++at) {
        const Block& block = living_->blocks()[at];
        const bool is_array =
            block.memory == format::Memory::array || block.memory == format::Memory::mipmap;
        if (said[at] && said[at]->verdict == Reached::lost && is_array && living_->has_views())
            said[at] = of_a_view;
        add(block, said[at] ? *said[at] : unknown);
    }
    for (auto& [where, holders] : by_site_)
        for (auto& [how, held] : holders)
            held.shown = fmt::format("{}", fmt::join(chain_of(held.steps), kChainArrow));
}

FoundReach::FoundReach(FoundReach&&) noexcept = default;
FoundReach::~FoundReach() = default;

void FoundReach::add(const Block& block, const BlockVerdict& verdict)
{
    found_.all.add(block.bytes);
    sum_in(found_, verdict.verdict).add(block.bytes);
    by_site_[{block.site, block.device}][{verdict.verdict, verdict.doubt, texts_of(verdict.chain)}]
        .add({block.bytes, 1}, verdict.chain);
}

// As leaks are: a row for each place, kind of memory and device.
Reach FoundReach::rows(const SymbolizerOptions& symbols, bool all_frames) const
{
    Symbolizer symbolizer(symbols);
    StackReader stacks(living_->tables(), symbolizer,
                       all_frames ? ShownFrames::all : ShownFrames::own);
    const Sites& sites = living_->sites();
    stacks.find_wrappers(sites.all());
    Reach reach = found_;
    struct Row {
        ReachRow row;
        std::map<Holders, Held> holders;
    };
    std::map<PlaceKey, Row> rows;
    for (const auto& [where, holders] : by_site_) {
        const Site& site = sites[where.first];
        CallPlace place = stacks.read(site.api, site.stack, site.last_ticks);
        const auto [at, added] = rows.try_emplace(key_of_place(place, site.memory, where.second));
        Row& row = at->second;
        if (added)
            static_cast<CallPlace&>(row.row) = std::move(place);
        else
            row.row.merge(place);
        row.row.memory = site.memory;
        row.row.device = where.second;
        for (const auto& [how, held] : holders) {
            row.holders[how].add(held.sum, held.steps);
            row.row.all.add(held.sum);
            sum_in(row.row, how.verdict).add(held.sum);
        }
    }
    for (auto& [key, row] : rows) {
        for (const auto& [how, held] : row.holders)
            row.row.groups.push_back({how.verdict, how.doubt, held.sum, chain_of(held.steps)});
        row.row.more_groups = list_largest(row.row.groups);
        reach.rows.push_back(std::move(row.row));
    }
    std::stable_sort(reach.rows.begin(), reach.rows.end(),
                     [](const ReachRow& a, const ReachRow& b) {
                         return std::tie(b.lost.bytes, b.possibly.bytes, b.all.bytes) <
                                std::tie(a.lost.bytes, a.possibly.bytes, a.all.bytes);
                     });
    return reach;
}

format::Searched FoundReach::searched() const
{
    return {found_.searched_bytes, found_.stopped, doubts_};
}

std::vector<format::Reached> FoundReach::reached() const
{
    std::vector<format::Reached> records;
    for (const auto& [where, holders] : by_site_) {
        const Site& site = living_->sites()[where.first];
        for (const auto& [how, held] : holders)
            records.push_back({{site.api},
                               {site.stack},
                               site.memory,
                               {where.second},
                               in_log(how.verdict, how.doubt),
                               held.sum.bytes,
                               held.sum.blocks,
                               held.shown});
    }
    return records;
}

Searches FoundReach::as_of_a_log(std::uint64_t ticks) const
{
    Searches searches;
    searches.begin(ticks, searched());
    for (const format::Reached& found : reached())
        searches.add(found);
    return searches;
}

} // namespace vramscope::report
