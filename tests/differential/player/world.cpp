// tests/differential/player/world.cpp — choices, names, and what a call changes.
#include "tests/differential/player/world.hpp"

#include <algorithm>
#include <bit>

#include "tests/differential/player/questions.hpp"

namespace differential {
namespace {

alignas(4096) unsigned char scratch_pages[kScratchBytes];

// Nothing is ever mapped there, and no handle is there.
constexpr std::uint64_t kWild[] = {1, 0x1000, 0xfff0, 0xfffffffffffffff0};

template <class Kinds>
bool among(Kind kind, const Kinds& kinds)
{
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

} // namespace

unsigned char* scratch()
{
    return scratch_pages;
}

void World::begin(std::uint64_t seed)
{
    text_.clear();
    objects_.clear();
    objects_.reserve(256); // references stay good while an operation runs
    model_.begin_sequence();
    launches_.clear();
    abandoned = false;
    calls_ = 0;
    thread_ = 0;
    next(seed);
}

void World::end()
{
    model_.end_sequence();
}

std::size_t World::size()
{
    if (rng_.chance(4))
        return 0;
    if (rng_.chance(6))
        return rng_.one_of<std::size_t>({std::size_t{1} << 40, std::size_t{1} << 62,
                                         ~std::size_t{0}, std::size_t{40} << 30, 0xffffffff});
    return small_size();
}

std::size_t World::small_size()
{
    if (rng_.chance(50))
        return 1 + rng_.below(1 << 20);
    return rng_.one_of<std::size_t>({1, 4, 511, 512, 513, 4096, 65536, 1 << 20, (1 << 20) + 1,
                                     2 << 20, 5 << 20, (6 << 20) + 3});
}

std::uint64_t World::pointer(std::initializer_list<Kind> kinds)
{
    const std::size_t choice = rng_.below(100);
    std::vector<Block>& blocks = model_.blocks();
    if (choice >= 94 || blocks.empty())
        return choice >= 97 ? 0 : kWild[rng_.below(std::size(kWild))];
    const auto from = rng_.below(blocks.size());
    const Block* fallback = nullptr;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const Block& block = blocks[(from + i) % blocks.size()];
        const bool right = among(block.kind, kinds);
        if (!may_use(block))
            continue;
        if (choice < 72 ? block.live && right : choice < 80 ? right && !block.live : !right)
            return block.address;
        if (block.live && right)
            fallback = &block;
        if (choice >= 88 && block.live && right && block.extent > 1)
            return block.address + 1 + rng_.below(std::min<std::uint64_t>(block.extent - 1, 9999));
    }
    return fallback ? fallback->address : 0;
}

// Which block gets a freed address again is the pool's own choice: a stale pointer is one and the
// same mistake in both runs only as long as nothing was allocated since.
bool World::may_use(const Block& block) const
{
    return block.live || profile_.pool == Pool::off ||
           (model_.ended_last(block) && !block.ends_in_order);
}

Block* World::live_block(std::initializer_list<Kind> kinds)
{
    std::vector<Block>& blocks = model_.blocks();
    const auto from = blocks.empty() ? 0 : rng_.below(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        Block& block = blocks[(from + i) % blocks.size()];
        if (block.live && among(block.kind, kinds))
            return &block;
    }
    return nullptr;
}

Object* World::live_object(Thing thing)
{
    const auto from = objects_.empty() ? 0 : rng_.below(objects_.size());
    for (std::size_t i = 0; i < objects_.size(); ++i) {
        Object& object = objects_[(from + i) % objects_.size()];
        if (object.live && object.thing == thing)
            return &object;
    }
    return nullptr;
}

Object* World::known(Thing thing, std::uint64_t handle)
{
    for (Object& object : objects_)
        if (object.live && object.thing == thing && object.handle == handle)
            return &object;
    return nullptr;
}

std::uint64_t World::handle(Thing thing)
{
    const std::size_t choice = rng_.below(100);
    if (choice >= 95)
        return choice >= 97 ? 0 : reinterpret_cast<std::uint64_t>(scratch_pages) + 64;
    if (choice >= 88 && !objects_.empty()) {
        const auto from = rng_.below(objects_.size());
        for (std::size_t i = 0; i < objects_.size(); ++i) {
            const Object& object = objects_[(from + i) % objects_.size()];
            const bool late = thing == Thing::stream && profile_.pool != Pool::off;
            if (!object.live && object.thing == thing && !late)
                return object.handle;
        }
    }
    const Object* object = live_object(thing);
    return object ? object->handle : 0;
}

CUstream World::stream()
{
    if (rng_.chance(25))
        return nullptr;
    if (rng_.chance(10))
        return rng_.one_of<CUstream>({CU_STREAM_LEGACY, CU_STREAM_PER_THREAD});
    return handle_as<CUstream>(Thing::stream);
}

Object& World::add(Thing thing, std::uint64_t handle)
{
    // A destroyed context that some thread still has current: only the driver can tell it from a
    // new one of the same handle.
    abandoned = abandoned || (thing == Thing::context && profile_.pool != Pool::off &&
                              std::any_of(objects_.begin(), objects_.end(), [&](const Object& one) {
                                  return one.thing == thing && one.handle == handle;
                              }));
    const auto number = static_cast<unsigned>(objects_.size());
    return objects_.emplace_back(Object{thing, number, handle});
}

std::uint64_t World::current_context()
{
    CUcontext context = nullptr;
    quiet = true;
    // Where that question is made to fail, the one on top is taken off and put back.
    if (cuCtxGetCurrent(&context) != CUDA_SUCCESS && cuCtxPopCurrent_v2(&context) == CUDA_SUCCESS)
        cuCtxPushCurrent_v2(context);
    const auto handle = reinterpret_cast<std::uint64_t>(context);
    unsigned version = 0; // a destroyed one stays current
    if (context && !known(Thing::context, handle) &&
        cuCtxGetApiVersion(context, &version) == CUDA_SUCCESS) {
        Object& made = add(Thing::context, handle);
        CUdevice device = 0;
        made.device = cuCtxGetDevice(&device) == CUDA_SUCCESS ? device : 0;
        made.primary = true; // made by the runtime: what the program makes is known
    }
    quiet = false;
    return handle;
}

bool World::capturing(CUstream stream, bool per_thread)
{
    if (!stream && per_thread)
        stream = CU_STREAM_PER_THREAD;
    // These cannot be captured. Any other is asked: a stale handle may be a stream's again.
    if (!stream || stream == CU_STREAM_LEGACY)
        return false;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    quiet = true;
    cuStreamIsCapturing(stream, &status);
    quiet = false;
    return status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

void World::settle(std::uint64_t address)
{
    Block* const block =
        profile_.pool == Pool::off
            ? nullptr
            : model_.live_at(address, [](Kind kind) { return kind == Kind::device; });
    if (!block)
        return;
    block->ends_in_order = true;
    if (block->queued)
        wait_for_all();
}

void World::wait_for_all()
{
    quiet = true;
    for (const Object& object : objects_) {
        if (object.thing != Thing::context || !object.live ||
            cuCtxPushCurrent_v2(reinterpret_cast<CUcontext>(object.handle)) != CUDA_SUCCESS)
            continue;
        CUcontext popped = nullptr;
        cuCtxSynchronize();
        cuCtxPopCurrent_v2(&popped);
    }
    quiet = false;
}

bool World::shared_by_chance(std::uint64_t pointer)
{
    constexpr std::uint64_t kSmall = 1 << 20;
    if (profile_.pool == Pool::off)
        return false;
    const auto& blocks = model_.blocks();
    return std::any_of(blocks.begin(), blocks.end(), [&](const Block& block) {
        const bool part = profile_.pool == Pool::split && block.kind == Kind::device;
        const bool small = block.kind != Kind::pinned && block.bytes <= kSmall;
        return block.live && (part || small) && block.contains(pointer);
    });
}

void World::freed(std::uint64_t address, bool (*of_kind)(Kind))
{
    if (address == 0)
        return;
    if (Block* const block = model_.live_at(address, of_kind)) {
        model_.freed(*block);
        constexpr std::uint64_t kMuch = std::uint64_t{1} << 30;
        if (profile_.pool != Pool::off && block->bytes >= kMuch)
            wait_for_all();
        return;
    }
    if (model_.was_graphs(address)) // it lives again with each launch
        return;
    ++unexplained;
    text_ << "  UNEXPLAINED free of ";
    describe(address);
    text_ << "\n";
}

Block& World::allocated(Kind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t extent)
{
    return model_.allocated(kind, address, bytes, extent, current_context());
}

void World::observed(const char* name, int result)
{
    if (quiet || !shows(name))
        return;
    // The pool gives back what it has and tries again: then the last answer is the program's.
    if (profile_.pool != Pool::off && last_shown_.name == name &&
        last_shown_.result == CUDA_ERROR_OUT_OF_MEMORY)
        text_.cut(last_shown_.at);
    last_shown_ = {name, result, text_.text().size()};
    text_ << " [" << name << "=" << result << "]";
}

bool World::shows(const char* name)
{
    if (!inside_ || !(inside_->hooked || inside_->runtime))
        return true;
    if (profile_.pool != Pool::off && is_among(name, kPooled))
        return false;
    if (profile_.pool == Pool::split && is_among(name, kSplit))
        return false;
    if (!own_seen_ && std::strcmp(name, inside_->name) == 0)
        return own_seen_ = true;
    return !is_among(name, kQuestions) &&
           (profile_.pool == Pool::off || !is_among(name, kPoolCalls));
}

void World::begin_call(Entry& entry, std::size_t door)
{
    text_ << "  t" << thread_ << " " << entry.name << "@" << kDoorNames[door] << "(";
}

void World::end_call(Entry& entry, std::size_t door, bool succeeded)
{
    ++entry.calls[door];
    entry.successes += succeeded;
    sweep_contexts();
}

// A context may go with any call that ends one; its handle may be another's with the next.
void World::sweep_contexts()
{
    for (Object& object : objects_) {
        if (object.thing != Thing::context || !object.live)
            continue;
        unsigned version = 0;
        quiet = true;
        const auto answer =
            cuCtxGetApiVersion(reinterpret_cast<CUcontext>(object.handle), &version);
        quiet = false;
        if (answer == CUDA_SUCCESS)
            continue;
        object.live = false;
        model_.context_gone(object.handle);
        for (Object& stream : objects_)
            if ((stream.thing == Thing::stream || stream.thing == Thing::external) &&
                stream.context == object.handle)
                stream.live = false;
    }
}

bool World::describe_known(std::uint64_t value, bool dead_too)
{
    for (const bool live : {true, false}) {
        if (!live && !dead_too)
            continue;
        const auto& blocks = model_.blocks();
        for (std::size_t i = blocks.size(); i-- > 0;)
            if (blocks[i].live == live && blocks[i].contains(value) &&
                (dead_too || blocks[i].kind != Kind::graph)) { // whose graph may be gone
                text_ << kKindNames[static_cast<std::size_t>(blocks[i].kind)] << "#"
                      << std::uint64_t{blocks[i].number};
                if (value != blocks[i].address)
                    text_ << "+" << value - blocks[i].address;
                return true;
            }
        for (std::size_t i = objects_.size(); i-- > 0;)
            if (objects_[i].live == live && objects_[i].handle == value) {
                text_ << kThingNames[static_cast<std::size_t>(objects_[i].thing)] << "#"
                      << std::uint64_t{objects_[i].number};
                return true;
            }
    }
    const auto pages = reinterpret_cast<std::uint64_t>(scratch_pages);
    if (value - pages >= kScratchBytes)
        return false;
    text_ << "scratch+" << value - pages;
    return true;
}

void World::describe(std::uint64_t value)
{
    if (value == 0 || !describe_known(value))
        text_ << value;
}

void World::describe_pointer(std::uint64_t value)
{
    if (value < 0x10000)
        text_ << value;
    else if (!describe_known(value))
        text_ << "pointer";
}

// A number is told as it is; an address or a handle that we do not know, by its alignment.
void World::describe_out(Meaning meaning, std::uint64_t value)
{
    if (meaning == Meaning::file) {
        text_ << "file";
        return;
    }
    if (meaning == Meaning::pools_choice && profile_.pool != Pool::off) {
        text_ << "some";
        return;
    }
    if (meaning == Meaning::number || meaning == Meaning::pools_choice || value < 4096) {
        text_ << value;
        return;
    }
    // With a pool, what was freed or destroyed before is soon another's, or late: when its work
    // ended. And an address is aligned as any is.
    const bool pooled = profile_.pool != Pool::off;
    if (describe_known(value, !pooled))
        return;
    text_ << "new";
    if (meaning == Meaning::address)
        text_ << "/" << std::min(pooled ? 8 : 12, std::countr_zero(value));
}

} // namespace differential
