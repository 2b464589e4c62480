// report/reach/holder_search.cpp — one level after the other.
#include "report/reach/holder_search.hpp"

#include <algorithm>

#include "report/reach/memory/pieces.hpp"
#include "report/reach/python/layout.hpp"

namespace vramscope::report {
namespace {

bool is_cut_in_blocks(const Region& region)
{
    return region.kind == RegionKind::heap || region.kind == RegionKind::mapped;
}

std::vector<AddressSpan> spans_of(const std::vector<WantedBlock>& wanted)
{
    return {wanted.begin(), wanted.end()};
}

} // namespace

HolderSearch::HolderSearch(const SearchedMemory& searched, const std::vector<WantedBlock>& wanted)
    : memory_(searched.memory), map_(searched.map), heap_(searched.heap),
      modules_(searched.modules), python_(searched.python),
      has_ints_(python_ || map_.has_unknown_python()), wanted_(wanted),
      wanted_sieve_(spans_of(wanted)), holders_(spans_of(wanted))
{
    for (NodeId id = 0; id < wanted.size(); ++id) {
        frontier_.push_back(id);
        has_unread_host_ = has_unread_host_ || (wanted[id].host && !map_.find(wanted[id].begin));
    }
}

bool HolderSearch::is_done() const
{
    const bool is_long = levels_ >= kLeastLevels && bytes_of_all_ >= kMostBytesOfAll;
    return frontier_.empty() || is_long || is_full();
}

void HolderSearch::run()
{
    while (!is_done())
        take(find_pointers());
    find_open();
}

// What is above them nobody knows.
void HolderSearch::find_open()
{
    if (frontier_.empty())
        return;
    open_.assign(holders_.nodes().size(), 0);
    std::vector<NodeId> now = frontier_;
    for (const NodeId node : now)
        open_[node] = 1;
    while (!now.empty()) {
        const NodeId node = now.back();
        now.pop_back();
        for (const Link& link : holders_.nodes()[node].down)
            if (!open_[link.to]) {
                open_[link.to] = 1;
                now.push_back(link.to);
            }
    }
}

bool HolderSearch::left_open_above(NodeId wanted) const
{
    return is_cut_ || is_full() || (!open_.empty() && open_[wanted]);
}

std::vector<FoundPointer> HolderSearch::find_pointers()
{
    std::vector<NodeId> targets = frontier_;
    const std::vector<Node>& nodes = holders_.nodes();
    std::sort(targets.begin(), targets.end(),
              [&](NodeId a, NodeId b) { return nodes[a].begin < nodes[b].begin; });
    std::vector<AddressSpan> spans;
    for (const NodeId target : targets)
        spans.push_back(nodes[target]);
    const Sieve sieve(std::move(spans));
    std::vector<FoundPointer> found;
    searched_bytes_ = 0;
    for (const Region& region : map_.regions()) {
        if (region.kind == RegionKind::books)
            continue;
        const auto search = [&](Address from, const std::uint64_t* words, std::size_t count) {
            searched_bytes_ += count * sizeof words[0];
            sieve.scan(words, count, [&](std::size_t at, std::size_t block) {
                if (found.size() < kMostNodes)
                    found.push_back({targets[block], from + at * sizeof words[0], words[at]});
                else
                    is_cut_ = true;
            });
            if (has_ints_ && levels_ < kLevelsOfDigits && is_cut_in_blocks(region))
                search_digits(sieve, targets, from, {words, count}, found);
        };
        for_each_piece(memory_, region, search);
    }
    search_registers(sieve, targets);
    bytes_of_all_ += searched_bytes_;
    return found;
}

// Programs of Python keep addresses as ints, as ctypes gives them: of what begins there. That of an
// object is what id() says, which holds nothing.
void HolderSearch::search_digits(const Sieve& sieve, const std::vector<NodeId>& targets,
                                 Address from, std::span<const std::uint64_t> words,
                                 std::vector<FoundPointer>& found)
{
    const auto behind = [&](const FoundPointer& pointer) { return pointer.word < from; };
    for (std::size_t at = 0; at < words.size() && found.size() < kMostNodes; ++at)
        for (const int digits : {1, 2}) {
            const Address value = python::value_of_digits(words[at], digits);
            const std::size_t block = value == 0 ? Sieve::kNone : sieve.find(value);
            if (block == Sieve::kNone || holders_.nodes()[targets[block]].begin != value ||
                holders_.nodes()[targets[block]].object != 0)
                continue;
            found.push_back({targets[block], from + at * sizeof words[at], value, true});
            break;
        }
    std::sort(std::partition_point(found.begin(), found.end(), behind), found.end(),
              [](const FoundPointer& a, const FoundPointer& b) { return a.word < b.word; });
}

void HolderSearch::search_registers(const Sieve& sieve, const std::vector<NodeId>& targets)
{
    for (std::size_t at = 0; at < memory_.threads().size(); ++at) {
        const std::vector<std::uint64_t>& registers = memory_.threads()[at].registers;
        for (std::size_t i = 0; i < registers.size(); ++i)
            if (const std::size_t block = sieve.find(registers[i]); block != Sieve::kNone)
                add_root(RootKind::register_, at, {targets[block], i, registers[i]});
    }
}

void HolderSearch::take(const std::vector<FoundPointer>& found)
{
    for (std::size_t at = 0; at < found.size();) {
        const Region* const region = map_.find(found[at].word);
        std::vector<FoundPointer> inside;
        for (; at < found.size() && (!region || found[at].word < region->end); ++at)
            inside.push_back(found[at]);
        if (region && !is_full())
            take_region(*region, inside);
    }
    ++levels_;
    const std::vector<char> leads = holders_.lead_to_unproven(holders_.ways({false, false, false}));
    const std::vector<char> lead_by_type =
        looks_for_types()
            ? holders_.lead_to_unproven(holders_.ways({false, false, false, ByType::surely}))
            : std::vector<char>(leads.size(), 0);
    const auto first = std::stable_partition(waiting_.begin(), waiting_.end(), [&](NodeId node) {
        return !leads[node] && !(lead_by_type[node] && may_be_by_type(node));
    });
    frontier_.assign(first, waiting_.end());
    waiting_.erase(first, waiting_.end());
}

// Where all is held by type a way that is surer may be a few steps longer.
bool HolderSearch::looks_for_types()
{
    const bool is_sought_surely = most_levels_by_type_ < kLevelsByType;
    if (!python_ || levels_ >= most_levels_by_type_ ||
        holders_.nodes().size() >= (is_sought_surely ? kNodesToBeSure : kNodesByType))
        return false;
    if (!is_sought_surely && holders_.all_have(holders_.ways({false, false, false, ByType::all})))
        most_levels_by_type_ = std::min(most_levels_by_type_, levels_ + kLevelsToBeSure);
    return true;
}

// What is held already may be held by objects that are known, which tells more. Above objects no
// block is followed that is none, and no part of one.
bool HolderSearch::may_be_by_type(NodeId node) const
{
    const std::vector<Node>& nodes = holders_.nodes();
    const auto is_object = [&](const Link& link) { return nodes[link.to].object != 0; };
    return nodes[node].object != 0 || nodes[node].is_foreign || levels_ <= kLevelsBelowObjects ||
           std::any_of(nodes[node].down.begin(), nodes[node].down.end(), is_object);
}

void HolderSearch::take_region(const Region& region, const std::vector<FoundPointer>& found)
{
    const bool is_heap = is_cut_in_blocks(region);
    std::vector<Address> words;
    for (const FoundPointer& pointer : found)
        words.push_back(pointer.word);
    const std::vector<HeapBlock> blocks =
        is_heap ? heap_.around(region, words) : std::vector<HeapBlock>();
    for (std::size_t at = 0; at < found.size(); ++at) {
        const FoundPointer& pointer = found[at];
        if (pointer.in_digits) {
            take_digits(blocks[at], region, pointer);
        } else if (const std::size_t inside = wanted_sieve_.find(pointer.word);
                   inside != Sieve::kNone) {
            if (wanted_[inside].host && inside != pointer.target)
                holders_.link(static_cast<NodeId>(inside), link_of(pointer));
        } else if (map_.is_books_word(pointer.word)) {
            continue;
        } else if (const auto thread = map_.thread_of_locals(pointer.word)) {
            add_root(RootKind::thread_local_, *thread, pointer);
        } else if (take_frame(pointer)) {
            continue;
        } else if (is_heap) {
            take_block(blocks[at], region, pointer);
        } else if (region.kind == RegionKind::variables) {
            take_variable(region, pointer);
        } else {
            take_stack(region, pointer);
        }
    }
}

// The interpreter's own has lists of what was freed; its modules are known by name.
void HolderSearch::take_variable(const Region& region, const FoundPointer& pointer)
{
    const bool is_runtime = python_ && python_->is_runtime(pointer.word);
    add_root(is_runtime || map_.is_loaders(region) ? RootKind::unknown : RootKind::variable, 0,
             pointer);
}

// Functions of Python that run: what is behind them is left over.
bool HolderSearch::take_frame(const FoundPointer& pointer)
{
    if (!python_ || !python_->is_frames_memory(pointer.word))
        return false;
    const PythonFrame* const frame = python_->frame_at(pointer.word);
    if (!frame)
        return true;
    // In front of its locals it has its function, and so the module's variables.
    const RootKind kind = pointer.word < frame->locals        ? RootKind::unknown
                          : pointer.word < frame->temporaries ? RootKind::python_local
                                                              : RootKind::python_temporary;
    add_root(kind, 0, pointer);
    return true;
}

// Which words of an object count, and of a part of it that it leads to. False: it has no such part.
bool HolderSearch::note_used(NodeId node, Address object, NodeId target)
{
    if (const UsedWords used = python_->used_of(object); used.end != 0)
        holders_.set_used(node, used);
    const Node& part = holders_.nodes()[target];
    if (target < holders_.wanted() || part.object != 0 || part.root != RootKind::none)
        return false;
    const UsedWords used = python_->used_of_part(object, part);
    if (used.end != 0)
        holders_.set_used(target, used);
    return used.end != 0;
}

// Above a thread's stack are its thread-locals, those of vramscope among them.
void HolderSearch::take_stack(const Region& stack, const FoundPointer& pointer)
{
    constexpr Address kAboveStack = 16 << 10;
    const bool is_main = memory_.mappings()[stack.mapping].name == "[stack]";
    RootKind kind = RootKind::stack;
    if (map_.is_thread_local(stack, pointer.word))
        kind = RootKind::thread_local_;
    else if (!memory_.stopped() && !is_main && stack.end - pointer.word < kAboveStack)
        kind = RootKind::unknown;
    // An interpreter's calls leave words of objects behind.
    if (kind == RootKind::stack && python_ && pointer.target >= holders_.wanted())
        kind = RootKind::unknown;
    add_root(kind, stack.thread, pointer);
}

// Of an interpreter that is not known, nobody can tell that it is an int.
void HolderSearch::take_digits(const HeapBlock& block, const Region& region,
                               const FoundPointer& pointer)
{
    if (!python_)
        return block.state == HeapBlock::State::unused ? void()
                                                       : add_root(RootKind::unknown, 0, pointer);
    const Address object = block.state == HeapBlock::State::live ? python_->object_in(block) : 0;
    if (object != 0 && python_->has_digits(object, pointer.word, pointer.value))
        take_block(block, region, pointer);
}

void HolderSearch::take_block(const HeapBlock& block, const Region& region,
                              const FoundPointer& pointer)
{
    if (block.state == HeapBlock::State::unused)
        return;
    if (block.state == HeapBlock::State::unknown) {
        const bool little =
            region.kind == RegionKind::heap || region.below_stack || proves_little(region, pointer);
        return add_root(little ? RootKind::unknown : RootKind::mapped, 0, pointer);
    }
    const Address object = python_ ? python_->object_in(block) : 0;
    if (object != 0 && !pointer.in_digits && python_->is_no_holder(object, pointer.word))
        return;
    const Address begin = object != 0 ? object : block.begin;
    const auto known = holders_.known_block(begin);
    const bool is_module = object != 0 && python_->module_of(object);
    const RootKind root = is_module ? RootKind::python_module : RootKind::none;
    const NodeId node = known ? *known : add_block({begin, block.end}, root, object);
    Link link = link_of(pointer);
    if (object != 0)
        link.owns |= note_used(node, object, pointer.target);
    holders_.link(node, link);
    if (!known && !is_module)
        waiting_.push_back(node);
}

NodeId HolderSearch::add_block(const AddressSpan& block, RootKind kind, Address object)
{
    Node node{block, kind, object, 0, {}, {}};
    if (python_)
        node.is_foreign = object != 0 ? python_->is_foreign(object)
                                      : modules_.is_of_class(memory_.word(block.begin));
    return holders_.add(node);
}

// Memory of the program's own is a root, as valgrind has it. It says less where it may be an
// allocator's, which has words of blocks that were freed; where it may be the stack or a
// thread-local of a thread that runs; and where what it holds is a heap block, perhaps by chance:
// but for what a thread returned.
bool HolderSearch::proves_little(const Region& region, const FoundPointer& pointer) const
{
    return !map_.other_allocator().empty() || !map_.knows_own() || !memory_.stopped() ||
           (pointer.target >= holders_.wanted() && !region.of_ended);
}

void HolderSearch::add_root(RootKind kind, std::size_t thread, const FoundPointer& pointer)
{
    holders_.link(
        holders_.add(
            {{pointer.word, pointer.word}, kind, 0, static_cast<std::uint32_t>(thread), {}, {}}),
        link_of(pointer));
}

Link HolderSearch::link_of(const FoundPointer& pointer) const
{
    const Node& target = holders_.nodes()[pointer.target];
    const bool owns = target.object != 0 && python_->is_reference(pointer.value, target.object);
    return {pointer.target, pointer.word, pointer.value == target.begin, owns};
}

} // namespace vramscope::report
