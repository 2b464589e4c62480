// report/plan/policies/rmm_arena.cpp — RMM's arena_memory_resource.
#include "report/plan/policies/rmm_arena.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

#include "interpose/pool/rounding.hpp"
#include "report/plan/policies/by_block.hpp"
#include "report/plan/policies/knobs.hpp"

namespace vramscope::report::plan {
namespace {

constexpr std::uint64_t kArenaAlignment = 256;
constexpr std::uint64_t kLeastSuperblock = 1u << 20;

std::size_t class_of_bytes(std::uint64_t bytes) noexcept
{
    return static_cast<std::size_t>(std::bit_width(bytes)) - 1;
}

} // namespace

ArenaPieces::ArenaPieces(std::pmr::memory_resource* memory)
{
    pieces_.reserve(kClasses);
    for (std::size_t each = 0; each < kClasses; ++each)
        pieces_.emplace_back(memory);
}

void ArenaPieces::insert(std::uint64_t address, std::uint64_t bytes)
{
    const std::size_t number = class_of_bytes(bytes);
    pieces_[number].emplace(address, bytes);
    any_ |= std::uint64_t{1} << number;
}

void ArenaPieces::erase(std::uint64_t address, std::uint64_t bytes)
{
    const std::size_t number = class_of_bytes(bytes);
    pieces_[number].erase(address);
    if (pieces_[number].empty())
        any_ &= ~(std::uint64_t{1} << number);
}

// In the larger classes every piece is large enough, so the first of each will do. In the class of
// `bytes` itself only some are: they are looked through, in the order of their addresses.
std::uint64_t ArenaPieces::first_fit(std::uint64_t bytes) const
{
    const std::size_t number = class_of_bytes(bytes);
    std::uint64_t first = kNone;
    for (std::uint64_t rest = any_ >> number & ~std::uint64_t{1}; rest; rest &= rest - 1)
        first = std::min(
            first,
            pieces_[number + static_cast<std::size_t>(std::countr_zero(rest))].begin()->first);
    for (const auto& [address, size] : pieces_[number]) {
        if (address > first)
            break;
        if (size >= bytes)
            return address;
    }
    return first;
}

RmmArenaPolicy::RmmArenaPolicy(CountedDevice& device, std::optional<std::uint64_t> slab_bytes)
    : device_(device), begin_(device.reserve(0)), end_(begin_)
{
    grows_ = !slab_bytes && device.room() == CountedDevice::kNoLimit;
    std::uint64_t bytes = grows_ ? pool::kMostBytes : slab_bytes.value_or(device.room() / 2);
    bytes -= bytes % kArenaAlignment;
    if (bytes < kLeastSuperblock)
        return;
    if (!grows_) {
        if (!device.allocate(pool::round_up(bytes, pool::kSegmentUnit), begin_))
            return;
        end_ = begin_ + bytes;
    }
    add_piece(superblocks_.emplace(begin_, Superblock{.bytes = bytes}).first, begin_, bytes);
}

bool RmmArenaPolicy::start(const std::vector<StartSegment>& segments)
{
    return allocate_start_blocks(*this, segments);
}

bool RmmArenaPolicy::allocate(const Request& request)
{
    Block& block = entry_of(blocks_, request.block);
    block = {};
    if (request.bytes == 0)
        return true; // RMM hands out no block for it
    if (request.bytes > pool::kMostBytes)
        return false;
    const std::uint64_t bytes = pool::round_up(request.bytes, kArenaAlignment);
    std::uint64_t address = take(bytes, request.stream);
    if (address == ArenaPieces::kNone) {
        ++retries_;
        give_back_all();
        address = take(bytes, request.stream);
    }
    if (address == ArenaPieces::kNone)
        return false;
    block = {address, bytes};
    allocated_ += bytes;
    return true;
}

ArenaPieces& RmmArenaPolicy::pieces_of(std::uint32_t arena)
{
    return arenas_.try_emplace(arena, &memory_).first->second;
}

RmmArenaPolicy::Superblocks::iterator RmmArenaPolicy::superblock_of(std::uint64_t address)
{
    return std::prev(superblocks_.upper_bound(address));
}

std::uint64_t RmmArenaPolicy::take(std::uint64_t bytes, std::uint32_t stream)
{
    const bool is_large = bytes > kLeastSuperblock;
    if (!is_large) {
        const std::uint64_t piece = pieces_of(stream).first_fit(bytes);
        if (piece != ArenaPieces::kNone)
            return cut(superblock_of(piece), piece, bytes);
    }
    const std::uint64_t piece = pieces_of(kGlobal).first_fit(bytes);
    if (piece == ArenaPieces::kNone)
        return piece;
    const auto superblock = superblock_of(piece);
    const std::uint64_t wanted = std::max(bytes, kLeastSuperblock);
    if (superblock->second.empty() && superblock->second.bytes >= wanted + kLeastSuperblock)
        split(superblock, wanted);
    if (grows_)
        grow_to(superblock->first + superblock->second.bytes);
    if (!is_large)
        move(superblock, stream);
    return cut(superblock, piece, bytes);
}

// Cuts an empty superblock after `bytes`; the rest becomes a superblock of its own.
void RmmArenaPolicy::split(Superblocks::iterator superblock, std::uint64_t bytes)
{
    const std::uint64_t address = superblock->first;
    const std::uint64_t rest = superblock->second.bytes - bytes;
    erase_piece(superblock, pieces_.find(address));
    superblock->second.bytes = bytes;
    add_piece(superblock, address, bytes);
    add_piece(superblocks_.try_emplace(address + bytes, Superblock{.bytes = rest}).first,
              address + bytes, rest);
}

std::uint64_t RmmArenaPolicy::cut(Superblocks::iterator from, std::uint64_t piece,
                                  std::uint64_t bytes)
{
    const auto found = pieces_.find(piece);
    const std::uint64_t whole = found->second;
    erase_piece(from, found);
    if (whole > bytes)
        add_piece(from, piece + bytes, whole - bytes);
    return piece;
}

// Into the superblock that it is in, whichever arena has that now: another stream may free it.
void RmmArenaPolicy::free(const Request& request)
{
    const Block block = blocks_[request.block];
    if (block.bytes == 0)
        return;
    allocated_ -= block.bytes;
    const auto superblock = superblock_of(block.address);
    std::uint64_t begin = block.address, end = block.address + block.bytes;
    auto next = pieces_.lower_bound(begin);
    if (next != pieces_.end() && next->first == end &&
        end < superblock->first + superblock->second.bytes) {
        end += next->second;
        next = erase_piece(superblock, next);
    }
    if (next != pieces_.begin()) {
        const auto previous = std::prev(next);
        if (previous->first >= superblock->first && previous->first + previous->second == begin) {
            begin = previous->first;
            erase_piece(superblock, previous);
        }
    }
    add_piece(superblock, begin, end - begin);
    if (superblock->second.arena != kGlobal)
        return;
    join_next(superblock);
    if (superblock != superblocks_.begin())
        join_next(std::prev(superblock));
}

void RmmArenaPolicy::add_piece(Superblocks::iterator to, std::uint64_t address, std::uint64_t bytes)
{
    pieces_.emplace(address, bytes);
    pieces_of(to->second.arena).insert(address, bytes);
    to->second.free_bytes += bytes;
}

// Returns the piece that follows.
RmmArenaPolicy::Pieces::iterator RmmArenaPolicy::erase_piece(Superblocks::iterator from,
                                                             Pieces::iterator piece)
{
    pieces_of(from->second.arena).erase(piece->first, piece->second);
    from->second.free_bytes -= piece->second;
    return pieces_.erase(piece);
}

// All its pieces are then in the other arena.
void RmmArenaPolicy::move(Superblocks::iterator superblock, std::uint32_t arena)
{
    ArenaPieces& from = pieces_of(superblock->second.arena);
    ArenaPieces& to = pieces_of(arena);
    const std::uint64_t end = superblock->first + superblock->second.bytes;
    for (auto piece = pieces_.lower_bound(superblock->first);
         piece != pieces_.end() && piece->first < end; ++piece) {
        from.erase(piece->first, piece->second);
        to.insert(piece->first, piece->second);
    }
    superblock->second.arena = arena;
}

// Joins it with the next superblock if both are empty and in the global arena. False: they are not.
bool RmmArenaPolicy::join_next(Superblocks::iterator superblock)
{
    const auto next = std::next(superblock);
    const auto is_unused = [](const Superblock& one) {
        return one.arena == kGlobal && one.empty();
    };
    if (next == superblocks_.end() || !is_unused(superblock->second) || !is_unused(next->second))
        return false;
    const std::uint64_t bytes = superblock->second.bytes + next->second.bytes;
    erase_piece(superblock, pieces_.find(superblock->first));
    erase_piece(next, pieces_.find(next->first));
    superblocks_.erase(next);
    superblock->second.bytes = bytes;
    add_piece(superblock, superblock->first, bytes);
    return true;
}

void RmmArenaPolicy::give_back_all()
{
    for (auto each = superblocks_.begin(); each != superblocks_.end(); ++each) {
        if (each->second.arena != kGlobal)
            move(each, kGlobal);
    }
    for (auto each = superblocks_.begin(); each != superblocks_.end(); ++each)
        while (join_next(each)) {
        }
}

void RmmArenaPolicy::grow_to(std::uint64_t end)
{
    const std::uint64_t wanted = begin_ + pool::round_up(end - begin_, pool::kSegmentUnit);
    if (wanted <= end_)
        return;
    device_.map(end_, wanted - end_, end_ == begin_ ? 1 : 0);
    end_ = wanted;
}

std::uint64_t RmmArenaPolicy::largest_free() const
{
    std::uint64_t largest = 0;
    for (const auto& [address, bytes] : pieces_)
        largest = std::max(largest, std::min(address + bytes, end_) - std::min(address, end_));
    return largest;
}

std::optional<std::uint64_t> parse_arena_bytes(std::string_view knobs)
{
    std::optional<std::uint64_t> bytes;
    for (const Knob& knob : parse_knobs(knobs)) {
        if (knob.key != "arena_size_mb")
            knob.unknown();
        bytes = knob.mebibytes();
    }
    return bytes;
}

} // namespace vramscope::report::plan
