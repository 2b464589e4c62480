// report/exporters/table_blocks.cpp — see table_blocks.hpp.
#include "report/exporters/table_blocks.hpp"

#include <map>
#include <unordered_map>

#include "report/exporters/block_lives.hpp"

namespace vramscope::report {
namespace {

class BlockRows : public BlockLives {
public:
    BlockRows(const std::filesystem::path& log, const Report& report, const Options& reading,
              const ExportOptions& options, const std::function<void(const TableBlock&)>& show)
        : BlockLives(log, options, *reading.symbolizer, &reading.suppressions), show_(show)
    {
        const std::vector<SiteSums>& sites = report.processes.front().sites;
        for (std::size_t at = 0; at < sites.size(); ++at)
            rows_.try_emplace(key_of_place(sites[at]), at);
    }

    void write() { read_blocks(); }

private:
    void show(const Block& block, const std::string& phase, const char* end,
              std::optional<std::uint64_t> until_ns) override
    {
        show_({row_of(block.site), block.address, block.bytes, this->reading().ns(block.ticks),
               until_ns, end, tid_of(block), phase});
    }

    // By the place that a reader sees, as Process::sites are.
    std::optional<std::size_t> row_of(SiteId number)
    {
        const auto [known, added] = row_of_site_.try_emplace(number);
        if (added) {
            const Site& site = this->reading().replay().sites()[number];
            const CallPlace place = stacks().read_row(site.api, site.stack, site.first_ticks);
            const auto row = rows_.find(key_of_place(place, site.memory, site.device));
            if (row != rows_.end())
                known->second = row->second;
        }
        return known->second;
    }

    const std::function<void(const TableBlock&)>& show_;
    std::map<PlaceKey, std::size_t> rows_;
    std::unordered_map<SiteId, std::optional<std::size_t>> row_of_site_;
};

} // namespace

void for_each_block(const std::filesystem::path& log, const Report& report, const Options& reading,
                    const std::function<void(const TableBlock&)>& show)
{
    ExportOptions options;
    options.all_frames = reading.all_frames;
    BlockRows(log, report, reading, options, show).write();
}

} // namespace vramscope::report
