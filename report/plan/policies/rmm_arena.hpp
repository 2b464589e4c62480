// report/plan/policies/rmm_arena.hpp — RMM's arena_memory_resource.
//
// One slab is taken at the begin and kept: half of what is free, unless a knob says its size. It is
// cut into superblocks of at least 1 MiB. What is larger than 1 MiB has one, or the first gap in
// one, of the global arena; each stream has an arena of its own superblocks for the rest. In an
// arena the first free piece that is large enough is cut. When nothing is, all streams give their
// superblocks back, and it is tried once more.
#pragma once

#include <map>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "report/plan/replay/counted_device.hpp"
#include "report/plan/replay/policy.hpp"

namespace vramscope::report::plan {

// Free pieces of one arena, by their sizes and addresses.
class ArenaPieces {
public:
    static constexpr std::uint64_t kNone = ~std::uint64_t{0};

    explicit ArenaPieces(std::pmr::memory_resource* memory);

    void insert(std::uint64_t address, std::uint64_t bytes);
    void erase(std::uint64_t address, std::uint64_t bytes);
    std::uint64_t first_fit(std::uint64_t bytes) const; // its address; kNone: there is none

private:
    static constexpr std::size_t kClasses = 64;                       // one for each power of two
    std::vector<std::pmr::map<std::uint64_t, std::uint64_t>> pieces_; // bytes, by address
    std::uint64_t any_ = 0; // a bit for each class that has a piece
};

class RmmArenaPolicy final : public Policy {
public:
    // On a device without a limit the slab is as large as the requests make it, unless `slab_bytes`
    // says otherwise.
    RmmArenaPolicy(CountedDevice& device, std::optional<std::uint64_t> slab_bytes);

    bool start(const std::vector<StartSegment>& segments) override;
    bool allocate(const Request& request) override;
    void free(const Request& request) override;

    std::uint64_t address(BlockId block) const override { return blocks_[block].address; }
    std::uint64_t allocated() const override { return allocated_; }
    std::uint64_t retries() const override { return retries_; }
    std::uint64_t largest_free() const override;

private:
    static constexpr std::uint32_t kGlobal = 1u << 16; // beside the numbers of streams

    struct Block {
        std::uint64_t address = 0, bytes = 0;
    };
    struct Superblock {
        std::uint64_t bytes = 0;
        std::uint32_t arena = kGlobal;
        std::uint64_t free_bytes = 0; // in its pieces
        bool empty() const noexcept { return free_bytes == bytes; }
    };
    using Superblocks = std::pmr::map<std::uint64_t, Superblock>; // by address
    using Pieces = std::pmr::map<std::uint64_t, std::uint64_t>;   // bytes of free ones, by address

    ArenaPieces& pieces_of(std::uint32_t arena);
    Superblocks::iterator superblock_of(std::uint64_t address);
    std::uint64_t take(std::uint64_t bytes, std::uint32_t stream); // kNone: there is none
    void split(Superblocks::iterator superblock, std::uint64_t bytes);
    std::uint64_t cut(Superblocks::iterator from, std::uint64_t piece, std::uint64_t bytes);
    void add_piece(Superblocks::iterator to, std::uint64_t address, std::uint64_t bytes);
    Pieces::iterator erase_piece(Superblocks::iterator from, Pieces::iterator piece);
    void move(Superblocks::iterator superblock, std::uint32_t arena);
    bool join_next(Superblocks::iterator superblock);
    void give_back_all();
    void grow_to(std::uint64_t end);

    CountedDevice& device_;
    std::pmr::unsynchronized_pool_resource memory_;
    Superblocks superblocks_{&memory_};
    Pieces pieces_{&memory_};
    std::unordered_map<std::uint32_t, ArenaPieces> arenas_;
    bool grows_ = false;
    std::uint64_t begin_ = 0, end_ = 0; // addresses of what the device gave
    std::vector<Block> blocks_;         // by BlockId
    std::uint64_t allocated_ = 0, retries_ = 0;
};

std::optional<std::uint64_t> parse_arena_bytes(std::string_view knobs); // throws Error

} // namespace vramscope::report::plan
