// report/reach/make_reach.cpp — the search, and its verdicts by call stack.
#include "report/reach/make_reach.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "report/findings/places/stack_reader.hpp"
#include "report/reach/books.hpp"
#include "report/reach/living_blocks.hpp"
#include "report/reach/verdicts.hpp"

namespace vramscope::report {
namespace {

constexpr std::uint64_t kLeastAddress = 1 << 16; // smaller numbers are handles, and are everywhere
constexpr std::size_t kMostGroups = 8;           // of a row

bool is_address(const Block& block)
{
    return block.address >= kLeastAddress;
}

bool is_range(const Block& block)
{
    return format::is_range(format::kind_of(block.memory).space);
}

std::vector<WantedBlock> wanted_of(const std::vector<Block>& blocks)
{
    std::vector<WantedBlock> wanted;
    for (const Block& block : blocks) {
        const std::uint64_t bytes = is_range(block) ? std::max<std::uint64_t>(block.bytes, 1) : 1;
        if (is_address(block))
            wanted.push_back({{block.address, block.address + std::min(bytes, ~block.address)},
                              class_of(block.memory) == format::MemoryClass::host});
    }
    return wanted;
}

std::vector<AddressSpan> device_spans(const std::vector<Block>& blocks)
{
    std::vector<AddressSpan> spans;
    for (const Block& block : blocks)
        if (is_range(block) && class_of(block.memory) == format::MemoryClass::device)
            spans.push_back({block.address, block.address + std::min(block.bytes, ~block.address)});
    return spans;
}

class ReachRows {
public:
    ReachRows(const LivingBlocks& living, StackReader& stacks, Reach& reach)
        : living_(living), stacks_(stacks), reach_(reach)
    {
    }

    void add(const Block& block, ReachGroup&& verdict)
    {
        ReachRow& row = row_of(block);
        for (ReachSum* const sum : {&reach_.all, &row.all, &sum_in(reach_, verdict.verdict),
                                    &sum_in(row, verdict.verdict)})
            sum->add(block.bytes);
        groups_[&row][{verdict.verdict, verdict.doubt, std::move(verdict.chain)}].add(block.bytes);
    }

    void finish()
    {
        for (auto& [key, row] : rows_) {
            for (const auto& [how, sum] : groups_[&row])
                row.groups.push_back(
                    {std::get<Reached>(how), std::get<ReachDoubt>(how), sum, std::get<2>(how)});
            std::stable_sort(row.groups.begin(), row.groups.end(),
                             [](const ReachGroup& a, const ReachGroup& b) {
                                 return std::tie(a.verdict, b.sum.bytes, a.chain) <
                                        std::tie(b.verdict, a.sum.bytes, b.chain);
                             });
            row.more_groups = row.groups.size() - std::min(row.groups.size(), kMostGroups);
            row.groups.resize(row.groups.size() - row.more_groups);
            reach_.rows.push_back(std::move(row));
        }
        std::stable_sort(reach_.rows.begin(), reach_.rows.end(),
                         [](const ReachRow& a, const ReachRow& b) {
                             return std::tie(b.lost.bytes, b.possibly.bytes, b.all.bytes) <
                                    std::tie(a.lost.bytes, a.possibly.bytes, a.all.bytes);
                         });
    }

private:
    template <typename Sums>
    static ReachSum& sum_in(Sums& sums, Reached verdict)
    {
        return verdict == Reached::held   ? sums.held
               : verdict == Reached::lost ? sums.lost
                                          : sums.possibly;
    }

    // As leaks are: a row for each place, kind of memory and device.
    ReachRow& row_of(const Block& block)
    {
        std::string& key = key_of_site_[block.site];
        if (!key.empty())
            return rows_.at(key);
        const Site& site = living_.replay().sites()[block.site];
        ReachRow row;
        static_cast<CallPlace&>(row) = stacks_.read(site.api, site.stack, site.last_ticks);
        row.memory = block.memory;
        row.device = block.device;
        key = fmt::format("{} {} {}", static_cast<int>(row.memory), row.device, row.key());
        const auto [at, added] = rows_.try_emplace(key, std::move(row));
        if (!added)
            at->second.merge(row);
        return at->second;
    }

    const LivingBlocks& living_;
    StackReader& stacks_;
    Reach& reach_;
    std::map<SiteId, std::string> key_of_site_;
    std::map<std::string, ReachRow> rows_;
    using How = std::tuple<Reached, ReachDoubt, std::vector<std::string>>; // with the chain
    std::map<const ReachRow*, std::map<How, ReachSum>> groups_;
};

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
    if (search.left_open())
        reach.notices.push_back("there were too many holders to look at all of them");
}

} // namespace

Reach make_reach(const LogFile& log, const ProcessMemory& memory, const ReachOptions& options)
{
    const LivingBlocks living(log, options.until_ticks);
    const std::vector<WantedBlock> wanted = wanted_of(living.blocks());
    const ModuleNames modules(memory);
    const std::vector<AddressSpan> device = device_spans(living.blocks());
    const MemoryMap map(memory, modules, options.log_mapping, device);
    HolderSearch search(memory, map, wanted, HolderSearch::Roots::program);
    if (!search.is_done())
        search.take(without_books(search.find_pointers(), memory, map, living.given()));
    search.run();
    const Verdicts verdicts(memory, map, modules, search);
    Reach reach;
    reach.pid = log.header().pid;
    reach.program = living.tables().info_value("program");
    reach.stopped = memory.stopped();
    reach.searched_bytes = search.searched_bytes();
    reach.searches = search.levels();
    add_notices(reach, map, search);
    Symbolizer symbolizer(options.symbols);
    StackReader stacks(living.tables(), symbolizer,
                       options.all_frames ? ShownFrames::all : ShownFrames::own);
    stacks.find_wrappers(living.replay().sites().all());
    ReachRows rows(living, stacks, reach);
    std::size_t number = 0;
    for (const Block& block : living.blocks()) {
        ReachGroup unknown{Reached::possibly, ReachDoubt::handle, {}, {}};
        rows.add(block, is_address(block) ? verdicts.of(number++) : std::move(unknown));
    }
    rows.finish();
    return reach;
}

} // namespace vramscope::report
