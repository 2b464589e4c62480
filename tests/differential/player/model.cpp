// tests/differential/player/model.cpp — blocks that live and die, and the sums.
#include "tests/differential/player/model.hpp"

#include <cerrno>
#include <sys/mman.h>

namespace differential {
namespace {

// Memory that the driver gets from the system, whose addresses depend on what else is mapped.
bool is_paged(Kind kind)
{
    return kind == Kind::managed || kind == Kind::pinned || kind == Kind::reservation ||
           kind == Kind::foreign;
}

void write_sums(std::FILE* out, const char* name, const std::array<Sum, kKinds>& sums)
{
    std::fprintf(out, ", \"%s\": {", name);
    bool first = true;
    for (unsigned kind = 0; kind < kKinds; ++kind) {
        if (sums[kind].blocks == 0)
            continue;
        std::fprintf(out, "%s\"%s\": {\"bytes\": %llu, \"blocks\": %llu}", first ? "" : ", ",
                     kKindNames[kind], static_cast<unsigned long long>(sums[kind].bytes),
                     static_cast<unsigned long long>(sums[kind].blocks));
        first = false;
    }
    std::fprintf(out, "}");
}

} // namespace

void Totals::write(std::FILE* out) const
{
    const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    std::fprintf(out,
                 "{\"allocations\": %llu, \"frees\": %llu, \"allocated_bytes\": %llu, "
                 "\"graph_allocations\": %llu, \"recorded_allocations\": %llu, "
                 "\"recorded_frees\": %llu",
                 number(allocations), number(frees), number(allocated_bytes),
                 number(graph_allocations), number(recorded_allocations), number(recorded_frees));
    write_sums(out, "at_exit", at_exit);
    write_sums(out, "at_reset", at_reset);
    std::fprintf(out, "}");
}

void Model::begin_sequence()
{
    blocks_.clear();
    mappings_.clear();
    blocks_.reserve(256); // references to blocks stay good while an operation runs
}

void Model::end_sequence()
{
    for (const Block& block : blocks_)
        if (block.live) {
            Sum& sum = totals_.at_exit[static_cast<std::size_t>(block.kind)];
            sum.bytes += block.bytes;
            ++sum.blocks;
        }
    for (const auto& [address, bytes] : placeholders_)
        munmap(address, bytes);
    placeholders_.clear();
}

Block& Model::allocated(Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t extent,
                        std::uint64_t context)
{
    ++totals_.recorded_allocations;
    totals_.graph_allocations += kind == Kind::graph;
    if (is_memory(kind)) {
        ++totals_.allocations;
        totals_.allocated_bytes += bytes;
    }
    const auto number = static_cast<unsigned>(blocks_.size());
    blocks_.push_back({kind, number, address, bytes, extent, context});
    return blocks_.back();
}

void Model::end(Block& block)
{
    block.live = false;
    block.ended = totals_.recorded_allocations;
    if (is_paged(block.kind))
        keep_from_others(block.address, block.extent);
}

// A freed address of the system's must not be given out again within the sequence: whether it does
// depends on the process's other mappings, of which a traced one has more. The tracer may also have
// mapped a page of its own there already: then the rest is held.
void Model::keep_from_others(std::uint64_t address, std::uint64_t bytes)
{
    constexpr std::uint64_t kPage = 4096;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    void* const wanted = reinterpret_cast<void*>(address);
    if (mmap(wanted, bytes, PROT_NONE, kFlags, -1, 0) != MAP_FAILED) {
        placeholders_.emplace_back(wanted, bytes);
    } else if (errno == EEXIST && bytes > kPage) {
        const std::uint64_t half = (bytes / 2 + kPage - 1) / kPage * kPage;
        keep_from_others(address, half);
        keep_from_others(address + half, bytes - half);
    }
}

void Model::freed(Block& block)
{
    ++totals_.recorded_frees;
    totals_.frees += is_memory(block.kind);
    end(block);
}

void Model::let_go(Block& physical)
{
    if (--physical.references > 0)
        return;
    ++totals_.frees;
    end(physical);
}

void Model::released(Block& physical)
{
    ++totals_.recorded_frees;
    --physical.handles;
    let_go(physical);
}

void Model::mapped(std::uint64_t address, std::uint64_t bytes, Block& physical)
{
    ++physical.references;
    mappings_.push_back({address, bytes, static_cast<std::size_t>(&physical - blocks_.data())});
}

void Model::unmapped(std::uint64_t address, std::uint64_t bytes)
{
    for (Mapping& mapping : mappings_)
        if (mapping.live && mapping.address - address < bytes) {
            mapping.live = false;
            let_go(blocks_[mapping.physical]);
        }
}

void Model::context_gone(std::uint64_t context)
{
    for (Block& block : blocks_)
        if (block.live && block.context == context && dies_with_context(block.kind)) {
            Sum& sum = totals_.at_reset[static_cast<std::size_t>(block.kind)];
            sum.bytes += block.bytes;
            ++sum.blocks;
            end(block);
        }
}

bool Model::was_graphs(std::uint64_t address) const
{
    for (const Block& block : blocks_)
        if (block.kind == Kind::graph && block.address == address)
            return true;
    return false;
}

Block* Model::live_at(std::uint64_t address, bool (*of_kind)(Kind))
{
    for (std::size_t i = blocks_.size(); i-- > 0;)
        if (blocks_[i].live && blocks_[i].address == address && of_kind(blocks_[i].kind))
            return &blocks_[i];
    return nullptr;
}

} // namespace differential
